//===- Estimate.h - The analytic model's word on a recipe -------*- C++ -*-===//

#ifndef KERNELBRAIN_CORE_ESTIMATE_H
#define KERNELBRAIN_CORE_ESTIMATE_H

#include "kernelbrain/Core/Recipe.h"

#include <functional>
#include <string>

namespace kernelbrain {

struct Estimate {
  double timeNs = 0;     ///< expected time of one call
  double boundNs = 0;    ///< no correct implementation is faster (roofline)
  std::string rejection; ///< not empty: breaks a resource limit, and which
};

/// Prices a recipe without building it; one with a payload is of unknown price.
/// Pure: equal recipes, equal answers.
using CostModel = std::function<Estimate(const Recipe &)>;

} // namespace kernelbrain

#endif // KERNELBRAIN_CORE_ESTIMATE_H
