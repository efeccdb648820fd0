//===- DryRunEvaluator.h - A model in place of the device -------*- C++ -*-===//

#ifndef KERNELBRAIN_EVALUATE_CLIENT_DRYRUNEVALUATOR_H
#define KERNELBRAIN_EVALUATE_CLIENT_DRYRUNEVALUATOR_H

#include "kernelbrain/Core/Estimate.h"
#include "kernelbrain/Search/Interfaces.h"

namespace kernelbrain::evaluate {

struct DryRunOptions {
  CostModel cost;
  uint64_t seed = 0;
  /// Time of the stock lowering, for which there is no model.
  double baselineNs = 0;
};

/// Answers from the analytic model: every variant that the model does not
/// reject is correct, and takes the estimated time, moved by up to 5% by a hash
/// of seed and recipe, so that a search has ties to break. Equal requests get
/// equal answers in any order; nothing runs.
class DryRunEvaluator : public search::Evaluator {
public:
  explicit DryRunEvaluator(DryRunOptions options)
      : options(std::move(options)) {}

  Result<Measurement> check(const Artifact &artifact) override;
  Result<Measurement> time(const Artifact &artifact, const Artifact &incumbent,
                           search::Effort effort) override;
  Result<Measurement> accept(const Artifact &artifact,
                             const Artifact &baseline) override;

private:
  /// Modelled time of an artifact by the recipe in its manifest.
  Result<double> timeOf(const Artifact &artifact);
  Result<Measurement> compare(const Artifact &artifact, const Artifact &against,
                              int rung);

  DryRunOptions options;
};

} // namespace kernelbrain::evaluate

#endif // KERNELBRAIN_EVALUATE_CLIENT_DRYRUNEVALUATOR_H
