//===- RandomProposer.h - The control of the search -------------*- C++ -*-===//

#ifndef KERNELBRAIN_PROPOSE_RANDOMPROPOSER_H
#define KERNELBRAIN_PROPOSE_RANDOMPROPOSER_H

#include "kernelbrain/Propose/Moves.h"

namespace kernelbrain::propose {

/// Uniform over all legal recipes of all strategies that were not proposed yet,
/// whatever the step; looks at no measurement and at no expectation.
class RandomProposer : public search::Proposer {
public:
  Result<search::Proposal> propose(const search::ProposeContext &context,
                                   Random &random) override;
};

} // namespace kernelbrain::propose

#endif // KERNELBRAIN_PROPOSE_RANDOMPROPOSER_H
