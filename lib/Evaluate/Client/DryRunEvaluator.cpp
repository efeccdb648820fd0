//===- DryRunEvaluator.cpp - A model in place of the device ---------------===//

#include "kernelbrain/Evaluate/Client/DryRunEvaluator.h"

#include "kernelbrain/Support/Hash.h"
#include "kernelbrain/Support/Random.h"

#include <algorithm>

namespace kernelbrain::evaluate {

/// Half the width of the interval that a modelled ratio is given.
static constexpr double intervalHalfWidth = 0.005;

Result<double> DryRunEvaluator::timeOf(const Artifact &artifact) {
  Result<Recipe> recipe = recipeFromJson(artifact.manifest.recipe);
  if (!recipe)
    return recipe.error().withContext("manifest of '" + artifact.path + "'");
  if (recipe->strategy == "stock")
    return std::max(1.0, options.baselineNs);
  Estimate estimate = options.cost(*recipe);
  if (estimate.timeNs <= 0) // The model cannot tell that it is any better.
    return std::max(1.0, options.baselineNs);
  Random random({options.seed, contentHash64(recipe->hash())});
  return std::max(1.0, estimate.timeNs * (0.95 + 0.1 * random.uniform()));
}

Result<Measurement> DryRunEvaluator::check(const Artifact &artifact) {
  Result<Recipe> recipe = recipeFromJson(artifact.manifest.recipe);
  if (!recipe)
    return recipe.error().withContext("manifest of '" + artifact.path + "'");
  Measurement measurement;
  measurement.rung = 2;
  measurement.disposition = Disposition::Passed;
  measurement.details = {{"modelled", true}};
  if (recipe->strategy != "stock")
    if (Estimate estimate = options.cost(*recipe);
        !estimate.rejection.empty()) {
      measurement.disposition = Disposition::OutOfResources;
      measurement.reason = estimate.rejection;
    }
  return measurement;
}

Result<Measurement> DryRunEvaluator::compare(const Artifact &artifact,
                                             const Artifact &against,
                                             int rung) {
  Result<double> time = timeOf(artifact), rival = timeOf(against);
  if (!time)
    return time.error();
  if (!rival)
    return rival.error();
  Measurement measurement;
  measurement.rung = rung;
  measurement.timeNs = int64_t(*time);
  double ratio = *rival / *time;
  measurement.speedup = Ratio{ratio * (1 - intervalHalfWidth), ratio,
                              ratio * (1 + intervalHalfWidth)};
  bool better = measurement.speedup->low > 1;
  measurement.disposition = better ? Disposition::Passed : Disposition::Slower;
  if (!better)
    measurement.reason = "not faster by the model";
  measurement.details = {{"modelled", true}};
  return measurement;
}

Result<Measurement> DryRunEvaluator::time(const Artifact &artifact,
                                          const Artifact &incumbent,
                                          search::Effort effort) {
  return compare(artifact, incumbent, effort == search::Effort::Full ? 4 : 3);
}

Result<Measurement> DryRunEvaluator::accept(const Artifact &artifact,
                                            const Artifact &baseline) {
  return compare(artifact, baseline, 6);
}

} // namespace kernelbrain::evaluate
