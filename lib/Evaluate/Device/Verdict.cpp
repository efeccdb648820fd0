//===- Verdict.cpp - Is an output right? ----------------------------------===//

#include "kernelbrain/Evaluate/Device/Verdict.h"

#include "kernelbrain/Evaluate/Device/Numbers.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace kernelbrain::evaluate {

//===----------------------------------------------------------------------===//
// References
//===----------------------------------------------------------------------===//

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

/// Whether so few of a row's elements are near its scale that luck decides how
/// large its error is.
static bool isThin(const double *values, int64_t count, double scale) {
  constexpr int64_t enough = 8;
  int64_t near = std::count_if(values, values + count, [&](double value) {
    return std::fabs(value) >= 0x1p-10 * scale;
  });
  return near < std::min(count, enough);
}

void takeReference(OutputReference &reference, ElementType type,
                   const void *data) {
  TileGrid grid(reference.extents);
  bool floats = isFloat(reference.argument.type);
  double limit = floats ? largestFinite(reference.argument.type) : 0;
  for (int64_t tile : reference.tiles) {
    double scale = 0;
    auto endUnit = [&] {
      reference.scales.push_back(scale);
      scale = 0;
    };
    for (int64_t row = 0; row < TileGrid::edge; ++row) {
      TileGrid::Run run = grid.run(tile, row);
      if (!floats) {
        for (int64_t k = 0; k < run.count; ++k)
          reference.integers.push_back(loadInteger(type, data, run.begin + k));
        continue;
      }
      size_t at = reference.values.size();
      reference.values.resize(at + size_t(run.count));
      loadFloats(type, data, run.begin, run.count, &reference.values[at]);
      for (int64_t k = 0; k < run.count; ++k)
        raiseScale(scale, limit, reference.values[at + k]);
      if (reference.lostAbove > 0) {
        reference.lost.push_back(
            isThin(reference.values.data() + at, run.count, scale));
        endUnit();
      }
    }
    if (reference.lostAbove == 0)
      endUnit();
  }
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

/// Calls visit(unit, element, value, rounded reference) for all kept elements,
/// and endUnit(unit, elements) after each unit: a tile or, with `lostAbove`, a
/// row of one. Units are positions in `scales`.
template <typename Visit, typename EndUnit>
void visitTiles(const OutputReference &reference, ElementType type,
                const void *data, Visit visit, EndUnit endUnit) {
  TileGrid grid(reference.extents);
  double values[TileGrid::edge], rounded[TileGrid::edge];
  size_t at = 0, unit = 0;
  bool byRow = reference.lostAbove > 0;
  for (int64_t tile : reference.tiles) {
    int64_t count = 0;
    for (int64_t row = 0; row < TileGrid::edge; ++row) {
      TileGrid::Run run = grid.run(tile, row);
      loadFloats(type, data, run.begin, run.count, values);
      roundFloats(reference.argument.type, reference.values.data() + at,
                  run.count, rounded);
      for (int64_t k = 0; k < run.count; ++k)
        visit(unit, run.begin + k, values[k], rounded[k]);
      at += size_t(run.count);
      count += run.count;
      if (byRow) {
        endUnit(unit++, count);
        count = 0;
      }
    }
    if (!byRow)
      endUnit(unit++, count);
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

OutputError measureAs(const OutputReference &reference, ElementType type,
                      const void *data, bool classes) {
  OutputError error;
  double largest = 0, squares = 0;
  int64_t worst = -1, unequal = 0, unequalHere = 0, total = 0;
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
      unequal += unequalHere;
      total += count;
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
  visitTiles(reference, type, data, visit, endUnit);
  error.share = total ? double(unequal) / double(total) : 0;
  return error;
}
} // namespace

void takeLower(OutputReference &reference, ElementType type, const void *data) {
  if (!isFloat(reference.argument.type))
    return;
  double limit = largestFinite(reference.argument.type);
  visitTiles(
      reference, type, data,
      [&](size_t unit, int64_t, double value, double) {
        raiseScale(reference.scales[unit], limit, value);
      },
      [](size_t, int64_t) {});
  reference.lower = measureAs(reference, type, data, /*classes=*/false);
  reference.hasLower = true;
}

/// Calls visit(element, value, reference) for all kept integers until it
/// returns false.
template <typename Visit>
static void visitIntegers(const OutputReference &reference, ElementType type,
                          const void *data, Visit visit) {
  TileGrid grid(reference.extents);
  size_t at = 0;
  for (int64_t tile : reference.tiles)
    for (int64_t row = 0; row < TileGrid::edge; ++row) {
      TileGrid::Run run = grid.run(tile, row);
      for (int64_t k = 0; k < run.count; ++k, ++at) {
        int64_t element = run.begin + k;
        if (!visit(element, loadInteger(type, data, element),
                   reference.integers[at]))
          return;
      }
    }
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

void takeBaseline(OutputReference &reference, const void *data) {
  if (!isFloat(reference.argument.type))
    return takeAlternatives(reference, reference.argument.type, data);
  ElementType type = reference.argument.type;
  double largest = 0;
  visitTiles(
      reference, type, data,
      [&](size_t, int64_t element, double value, double expected) {
        if (classOf(value) != classOf(expected)) {
          reference.exceptions.push_back({element, classOf(value)});
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
  std::sort(reference.exceptions.begin(), reference.exceptions.end());
  reference.baseline = measureAs(reference, type, data, /*classes=*/false);
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

//===----------------------------------------------------------------------===//
// Judging
//===----------------------------------------------------------------------===//

Bound boundOf(const OutputReference &reference) {
  Bound bound;
  const OutputError &baseline = reference.baseline, &lower = reference.lower;
  ElementType type = reference.argument.type;
  double ulp = std::ldexp(1.0, -formatOf(type).mantissaBits);
  // Without a simulation its errors are 0.
  bound.relative =
      std::max(1.5 * baseline.largest, conditioning * lower.largest);
  bound.rms = std::max(1.5 * baseline.rms, conditioning * lower.rms);
  bool narrow = byteSize(type) == 2;
  if (narrow)
    bound.share =
        std::min(1.0, std::max(1.5 * baseline.share, baseline.share + 0.02));
  // A result may hang on the least change of such inputs: that is no power.
  if (!reference.hasLower || reference.lostAbove > 0)
    return bound;
  bound.hasPower = lower.largest / 4 > std::max(bound.relative, 4 * ulp) ||
                   lower.rms / 4 > std::max(bound.rms, 4 * ulp) ||
                   (narrow && lower.share / 4 > bound.share);
  return bound;
}

double allowedError(const OutputReference &reference) {
  double ulp = std::ldexp(1.0, -formatOf(reference.argument.type).mantissaBits);
  return std::max(boundOf(reference).relative, 4 * ulp);
}

OutputError measureError(const OutputReference &reference, const void *data) {
  return measureAs(reference, reference.argument.type, data, /*classes=*/true);
}

static std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

static Judgement judgeIntegers(const OutputReference &reference,
                               const void *data) {
  Judgement judgement;
  visitIntegers(
      reference, reference.argument.type, data,
      [&](int64_t element, int64_t found, int64_t expected) {
        if (found == expected ||
            std::binary_search(reference.alternatives.begin(),
                               reference.alternatives.end(),
                               std::pair<int64_t, int64_t>(element, found)))
          return true;
        judgement = {std::numeric_limits<double>::infinity(),
                     "element " + elementName(reference.extents, element) +
                         " is " + std::to_string(found) + ", expected " +
                         std::to_string(expected)};
        return false;
      });
  return judgement;
}

/// The reference's value of an element of a kept tile.
static double expectedAt(const OutputReference &reference, int64_t element) {
  double expected = 0;
  size_t at = 0;
  TileGrid grid(reference.extents);
  for (int64_t tile : reference.tiles)
    for (int64_t row = 0; row < TileGrid::edge; ++row) {
      TileGrid::Run run = grid.run(tile, row);
      if (element >= run.begin && element < run.begin + run.count)
        expected = reference.values[at + size_t(element - run.begin)];
      at += size_t(run.count);
    }
  return expected;
}

/// The bound of a kernel that is another algorithm than the baseline.
static double widened(double bound, double lower) {
  constexpr double allowance = 16;
  return std::max(bound, std::min(allowance * bound, lower / 4));
}

Judgement judge(const OutputReference &reference, const void *data,
                bool rewritten) {
  if (!isFloat(reference.argument.type))
    return judgeIntegers(reference, data);
  ElementType type = reference.argument.type;
  OutputError error = measureError(reference, data);
  auto describe = [&](int64_t element, const std::string &how) {
    return "element " + elementName(reference.extents, element) + " is " +
           number(loadFloat(type, data, element)) + ", expected " +
           number(expectedAt(reference, element)) + how;
  };
  if (error.wrongClass >= 0)
    return {std::numeric_limits<double>::infinity(),
            describe(error.wrongClass, "")};
  Bound bound = boundOf(reference);
  // The unit in the last place is finer than a tile's scale suggests by up to
  // two, so take the one at the scale.
  double floor = 4 * std::ldexp(1.0, -formatOf(type).mantissaBits);
  double largest = allowedError(reference);
  double rms = std::max(bound.rms, floor);
  if (rewritten) {
    largest = widened(largest, reference.lower.largest);
    rms = widened(rms, reference.lower.rms);
  }
  struct Norm {
    double used; ///< of its bound
    int64_t worst;
    const char *name;
  };
  double lost = std::max(2 * reference.baseline.lost, largest);
  Norm norms[] = {{error.largest / largest, error.worst, "the bound"},
                  {error.rms / rms, error.worstRms,
                   "the bound of its tile's root mean square"},
                  {error.lost / lost, error.worstLost,
                   "the bound where the baseline is lost"}};
  const Norm &worst = *std::max_element(
      std::begin(norms), std::end(norms),
      [](const Norm &a, const Norm &b) { return a.used < b.used; });
  Judgement judgement;
  judgement.error = worst.used;
  if (judgement.error > 1) {
    judgement.reason = describe(worst.worst, " (" + number(worst.used) +
                                                 " times " + worst.name + ")");
    return judgement;
  }
  if (error.share > bound.share) {
    judgement.error = std::max(judgement.error, error.share / bound.share);
    judgement.reason = "a share of " + number(error.share) +
                       " of the elements is not correctly rounded, " +
                       number(bound.share) + " is the bound";
  }
  return judgement;
}

} // namespace kernelbrain::evaluate
