//===- References.cpp - What outputs should be ----------------------------===//

#include "kernelbrain/Evaluate/Device/Verdict.h"

#include "Parallel.h"
#include "VisitIntegers.h"

#include "kernelbrain/Evaluate/Device/Numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

namespace kernelbrain::evaluate {

bool OutputReference::isDense() const {
  return int64_t(tiles.size()) == TileGrid(extents).tiles();
}

static void raiseScale(double &scale, double largestFinite, double value) {
  double magnitude = std::fabs(value);
  if (magnitude <= largestFinite)
    scale = std::max(scale, magnitude);
}

static double largestFinite(ElementType type) {
  FloatFormat format = formatOf(type);
  return std::ldexp(2 - std::ldexp(1.0, -format.mantissaBits),
                    format.maxExponent);
}

/// Whether so few elements of a row or tile are near its scale that luck
/// decides how large its error is.
static bool isThin(const double *values, int64_t count, double scale) {
  constexpr int64_t enough = 8;
  int64_t near = std::count_if(values, values + count, [&](double value) {
    return std::fabs(value) >= 0x1p-10 * scale;
  });
  return near < std::min(count, enough);
}

/// Tiles that are worth a thread's while.
static constexpr int64_t pieceTiles = 256;

/// Rows that may be lost are noted in bits that lie side by side.
static int threadsFor(const OutputReference &reference, int threads) {
  return reference.lostAbove > 0 ? 1 : threads;
}

static void takeIntegers(OutputReference &reference, ElementType type,
                         const void *data) {
  TileGrid grid(reference.extents);
  for (int64_t tile : reference.tiles)
    for (int64_t row = 0; row < TileGrid::edge; ++row) {
      TileGrid::Run run = grid.run(tile, row);
      for (int64_t k = 0; k < run.count; ++k)
        reference.integers.push_back(loadInteger(type, data, run.begin + k));
    }
}

/// What a cut-off (a maximum with 0) leaves of a tile may be a few elements
/// that are what their terms left over: the error is that of the terms then.
/// Their scale is no less than a small part of the whole output's.
static void raiseThinScales(OutputReference &reference) {
  constexpr double part = 0x1p-12;
  double whole = 0;
  for (double scale : reference.scales)
    whole = std::max(whole, scale);
  for (size_t k = 0; k < reference.scales.size(); ++k) {
    size_t begin = reference.starts[k], end = k + 1 < reference.starts.size()
                                                  ? reference.starts[k + 1]
                                                  : reference.values.size();
    double &scale = reference.scales[k];
    if (isThin(reference.values.data() + begin, int64_t(end - begin), scale))
      scale = std::max(scale, part * whole);
  }
}

void takeReference(OutputReference &reference, ElementType type,
                   const void *data, int threads) {
  if (!isFloat(reference.argument.type))
    return takeIntegers(reference, type, data);
  TileGrid grid(reference.extents);
  size_t count = 0;
  for (int64_t tile : reference.tiles) {
    reference.starts.push_back(count);
    for (int64_t row = 0; row < TileGrid::edge; ++row)
      count += size_t(grid.run(tile, row).count);
  }
  reference.values.resize(count);
  bool byRow = reference.lostAbove > 0;
  size_t units = reference.tiles.size() * (byRow ? TileGrid::edge : 1);
  reference.scales.resize(units);
  reference.lost.resize(byRow ? units : 0);
  double limit = largestFinite(reference.argument.type);
  auto takeTile = [&](size_t k) {
    size_t at = reference.starts[k];
    for (int64_t row = 0; row < TileGrid::edge; ++row) {
      TileGrid::Run run = grid.run(reference.tiles[k], row);
      double *values = reference.values.data() + at;
      loadFloats(type, data, run.begin, run.count, values);
      size_t unit = byRow ? k * TileGrid::edge + size_t(row) : k;
      for (int64_t i = 0; i < run.count; ++i)
        raiseScale(reference.scales[unit], limit, values[i]);
      if (byRow)
        reference.lost[unit] =
            isThin(values, run.count, reference.scales[unit]);
      at += size_t(run.count);
    }
  };
  forEachPiece(threadsFor(reference, threads), int64_t(reference.tiles.size()),
               pieceTiles, [&](int64_t k, int64_t end) {
                 for (; k < end; ++k)
                   takeTile(size_t(k));
               });
  if (!byRow)
    raiseThinScales(reference);
}

namespace {
/// 0: finite, 1: NaN, 2: +Inf, 3: -Inf.
int classOf(double value) {
  if (std::isfinite(value))
    return 0;
  return std::isnan(value) ? 1 : value > 0 ? 2 : 3;
}

int exceptionAt(const OutputReference &reference, int64_t element) {
  auto found =
      std::lower_bound(reference.exceptions.begin(), reference.exceptions.end(),
                       std::pair<int64_t, int>(element, 0));
  bool hit = found != reference.exceptions.end() && found->first == element;
  return hit ? found->second : -1;
}

/// Calls visit(unit, element, value, rounded reference) for all elements of the
/// kept tiles [first, last), and endUnit(unit, elements) after each unit: a
/// tile or, with `lostAbove`, a row of one. Units are positions in `scales`.
template <typename Visit, typename EndUnit>
void visitTiles(const OutputReference &reference, ElementType type,
                const void *data, size_t first, size_t last, Visit visit,
                EndUnit endUnit) {
  TileGrid grid(reference.extents);
  double values[TileGrid::edge], rounded[TileGrid::edge];
  bool byRow = reference.lostAbove > 0;
  for (size_t index = first; index < last; ++index) {
    int64_t count = 0;
    size_t at = reference.starts[index];
    for (int64_t row = 0; row < TileGrid::edge; ++row) {
      TileGrid::Run run = grid.run(reference.tiles[index], row);
      size_t unit = byRow ? index * TileGrid::edge + size_t(row) : index;
      loadFloats(type, data, run.begin, run.count, values);
      roundFloats(reference.argument.type, reference.values.data() + at,
                  run.count, rounded);
      for (int64_t k = 0; k < run.count; ++k)
        visit(unit, run.begin + k, values[k], rounded[k]);
      at += size_t(run.count);
      count += run.count;
      if (byRow) {
        endUnit(unit, count);
        count = 0;
      }
    }
    if (!byRow)
      endUnit(index, count);
  }
}

/// Errors are in units of the scale, but of no less than the smallest normal
/// number: below it, an error of one unit in the last place is no smaller. Of
/// nothing but zeros, any error is as large as can be.
double errorUnit(const OutputReference &reference, size_t unit) {
  if (reference.scales[unit] == 0)
    return 1 / std::numeric_limits<double>::max();
  int exponent = formatOf(reference.argument.type).minExponent;
  return std::max(reference.scales[unit], std::ldexp(1.0, exponent));
}

/// Whether a value of another class than the rounded reference is right: the
/// baseline's class is. At the limits of the range the baseline's NaN is often
/// the difference of two infinities, of which another order of additions
/// leaves one.
bool isExcused(const OutputReference &reference, int64_t element,
               int valueClass) {
  int exception = exceptionAt(reference, element);
  return valueClass == exception ||
         (reference.lostAbove > 0 && exception == 1 && valueClass != 0);
}

/// The error of some tiles, with what its share is made of.
struct PartialError {
  OutputError error;
  int64_t unequal = 0, total = 0;

  void add(const PartialError &other) {
    takeLarger(error.largest, error.worst, other.error.largest,
               other.error.worst);
    takeLarger(error.rms, error.worstRms, other.error.rms,
               other.error.worstRms);
    takeLarger(error.lost, error.worstLost, other.error.lost,
               other.error.worstLost);
    if (error.wrongClass < 0 || (other.error.wrongClass >= 0 &&
                                 other.error.wrongClass < error.wrongClass))
      error.wrongClass = other.error.wrongClass;
    unequal += other.unequal;
    total += other.total;
  }

private:
  /// The result must not hang on the order in which parts are added.
  static void takeLarger(double &value, int64_t &element, double otherValue,
                         int64_t otherElement) {
    if (otherValue > value || (otherValue == value && otherElement < element)) {
      value = otherValue;
      element = otherElement;
    }
  }
};

PartialError measureTiles(const OutputReference &reference, ElementType type,
                          const void *data, bool classes, size_t first,
                          size_t last) {
  PartialError part;
  OutputError &error = part.error;
  double largest = 0, squares = 0;
  int64_t worst = -1, unequalHere = 0;
  auto visit = [&](size_t, int64_t element, double value, double expected) {
    if (value == expected)
      return;
    double difference = std::fabs(value - expected);
    if (!std::isfinite(difference)) {
      int valueClass = classOf(value);
      if (!classes || (valueClass == classOf(expected) && valueClass == 1) ||
          isExcused(reference, element, valueClass))
        return;
      if (error.wrongClass < 0)
        error.wrongClass = element;
      return;
    }
    ++unequalHere;
    squares += difference * difference;
    if (difference > largest) {
      largest = difference;
      worst = element;
    }
  };
  auto endUnit = [&](size_t unit, int64_t count) {
    double scale = errorUnit(reference, unit);
    bool lost = !reference.lost.empty() && reference.lost[unit];
    if (!lost) {
      if (double rms = std::sqrt(squares / count) / scale; rms > error.rms) {
        error.rms = rms;
        error.worstRms = worst;
      }
      part.unequal += unequalHere;
      part.total += count;
    }
    double &highest = lost ? error.lost : error.largest;
    if (largest / scale > highest) {
      highest = largest / scale;
      (lost ? error.worstLost : error.worst) = worst;
    }
    unequalHere = 0;
    largest = squares = 0;
    worst = -1;
  };
  visitTiles(reference, type, data, first, last, visit, endUnit);
  return part;
}

OutputError measureAs(const OutputReference &reference, ElementType type,
                      const void *data, bool classes, int threads) {
  PartialError all;
  std::mutex mutex;
  forEachPiece(threads, int64_t(reference.tiles.size()), pieceTiles,
               [&](int64_t first, int64_t last) {
                 PartialError part =
                     measureTiles(reference, type, data, classes, size_t(first),
                                  size_t(last));
                 std::lock_guard<std::mutex> guard(mutex);
                 all.add(part);
               });
  all.error.share = all.total ? double(all.unequal) / double(all.total) : 0;
  return all.error;
}
} // namespace

void takeLower(OutputReference &reference, ElementType type, const void *data,
               int threads) {
  if (!isFloat(reference.argument.type))
    return;
  double limit = largestFinite(reference.argument.type);
  auto raise = [&](size_t unit, int64_t, double value, double) {
    raiseScale(reference.scales[unit], limit, value);
  };
  forEachPiece(threads, int64_t(reference.tiles.size()), pieceTiles,
               [&](int64_t first, int64_t last) {
                 visitTiles(reference, type, data, size_t(first), size_t(last),
                            raise, [](size_t, int64_t) {});
               });
  reference.lower =
      measureAs(reference, type, data, /*classes=*/false, threads);
  reference.hasLower = true;
}

void takeAlternatives(OutputReference &reference, ElementType type,
                      const void *data) {
  if (isFloat(reference.argument.type))
    return;
  visitIntegers(reference, type, data,
                [&](int64_t element, int64_t value, int64_t expected) {
                  if (value != expected)
                    reference.alternatives.push_back({element, value});
                  return true;
                });
  std::sort(reference.alternatives.begin(), reference.alternatives.end());
}

void takeBaseline(OutputReference &reference, const void *data, int threads) {
  if (!isFloat(reference.argument.type))
    return takeAlternatives(reference, reference.argument.type, data);
  ElementType type = reference.argument.type;
  std::mutex mutex;
  auto takeTiles = [&](int64_t first, int64_t last) {
    std::vector<std::pair<int64_t, int>> exceptions;
    double largest = 0;
    visitTiles(
        reference, type, data, size_t(first), size_t(last),
        [&](size_t, int64_t element, double value, double expected) {
          if (classOf(value) != classOf(expected)) {
            exceptions.push_back({element, classOf(value)});
            largest = std::numeric_limits<double>::infinity();
          } else if (value != expected) {
            // Two NaNs have no distance, and max drops the second of its
            // arguments if it is NaN.
            largest = std::max(largest, std::fabs(value - expected));
          }
        },
        [&](size_t unit, int64_t) {
          if (reference.lostAbove > 0 &&
              largest > reference.lostAbove * errorUnit(reference, unit))
            reference.lost[unit] = true;
          largest = 0;
        });
    std::lock_guard<std::mutex> guard(mutex);
    reference.exceptions.insert(reference.exceptions.end(), exceptions.begin(),
                                exceptions.end());
  };
  forEachPiece(threadsFor(reference, threads), int64_t(reference.tiles.size()),
               pieceTiles, takeTiles);
  std::sort(reference.exceptions.begin(), reference.exceptions.end());
  reference.baseline =
      measureAs(reference, type, data, /*classes=*/false, threads);
}

void takeUsualError(OutputReference &reference, const OutputReference &usual) {
  OutputError &baseline = reference.baseline;
  if (usual.lower.largest > 0)
    baseline.largest = std::max(baseline.largest, usual.baseline.largest *
                                                      reference.lower.largest /
                                                      usual.lower.largest);
  // All elements of a tile are as far off as the worst.
  baseline.rms = std::max(baseline.rms, baseline.largest);
}

bool OutputReference::hasFewElements() const {
  constexpr int64_t few = 8;
  return TileGrid(extents).elements < few;
}

void shareUsualError(const std::vector<OutputReference *> &sets) {
  auto quotient = [](const OutputReference &set) {
    return set.lower.largest > 0 ? set.baseline.largest / set.lower.largest : 0;
  };
  const OutputReference *usual = nullptr;
  for (const OutputReference *set : sets)
    if (set->lostAbove == 0 && (!usual || quotient(*set) > quotient(*usual)))
      usual = set;
  for (OutputReference *set : sets)
    if (set->lostAbove == 0)
      takeUsualError(*set, *usual);
}

OutputError measureError(const OutputReference &reference, const void *data,
                         int threads) {
  return measureAs(reference, reference.argument.type, data, /*classes=*/true,
                   threads);
}

} // namespace kernelbrain::evaluate
