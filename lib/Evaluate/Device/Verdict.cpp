//===- Verdict.cpp - Is an output right? ----------------------------------===//

#include "kernelbrain/Evaluate/Device/Verdict.h"

#include "VisitIntegers.h"

#include "kernelbrain/Evaluate/Device/Numbers.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace kernelbrain::evaluate {

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
                bool rewritten, int threads) {
  if (!isFloat(reference.argument.type))
    return judgeIntegers(reference, data);
  ElementType type = reference.argument.type;
  OutputError error = measureError(reference, data, threads);
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
  // The largest error of a few rows is luck: another order of additions meets
  // its own.
  double lost = std::max(4 * reference.baseline.lost, largest);
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
