//===- Surrogate.h - What measured variants say of others -------*- C++ -*-===//

#ifndef KERNELBRAIN_PROPOSE_SURROGATE_H
#define KERNELBRAIN_PROPOSE_SURROGATE_H

#include "kernelbrain/Search/Interfaces.h"

namespace kernelbrain::propose {

/// The cost model, corrected by what was measured: a Gaussian process over the
/// logarithm of time. What the model expects is the mean before anything is
/// known, taken the less seriously the worse it orders the measured variants;
/// recipes of one strategy are alike by the knobs that they have in common.
class Surrogate {
public:
  explicit Surrogate(const search::ProposeContext &context);

  /// The number of variants that it learnt from.
  size_t size() const { return known.size(); }
  /// An optimistic guess of ln(time) of a recipe that the cost model expects to
  /// take `expectedNs`, up to a constant that is the same for all recipes.
  double score(const Recipe &recipe, double expectedNs) const;

private:
  struct Known {
    const Recipe *recipe;
    double expected; ///< ln(ns), by the cost model
    double measured; ///< ln(time / baseline time)
  };
  double covariance(const Recipe &a, const Recipe &b) const;
  std::vector<double> solveLower(std::vector<double> right) const;

  std::vector<Known> known;
  double trust = 1;                       ///< in the cost model, in [0, 1]
  std::vector<std::vector<double>> lower; ///< Cholesky factor
  std::vector<double> weights;            ///< of the covariances with `known`
};

} // namespace kernelbrain::propose

#endif // KERNELBRAIN_PROPOSE_SURROGATE_H
