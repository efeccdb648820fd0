//===- ContractionSpace.h - Knobs and model of contractions -----*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_STRATEGY_CONTRACTIONSPACE_H
#define KERNELBRAIN_LIB_STRATEGY_CONTRACTIONSPACE_H

#include "ContractionEmitter.h"
#include "RowStrategies.h"

namespace kernelbrain::strategy {

SearchSpace contractionSpace(const ContractionProblem &problem,
                             const Target &target);

ContractionOptions contractionOptions(const ContractionProblem &problem,
                                      const Recipe &recipe);

/// Instructions of the epilogue for one vector of results.
double epilogueCost(const ContractionProblem &problem);

Estimate estimateContraction(const ContractionProblem &problem,
                             const ContractionOptions &options,
                             const Target &target);

} // namespace kernelbrain::strategy

#endif // KERNELBRAIN_LIB_STRATEGY_CONTRACTIONSPACE_H
