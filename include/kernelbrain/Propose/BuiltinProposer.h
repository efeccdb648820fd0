//===- BuiltinProposer.h - Search without a model ---------------*- C++ -*-===//

#ifndef KERNELBRAIN_PROPOSE_BUILTINPROPOSER_H
#define KERNELBRAIN_PROPOSE_BUILTINPROPOSER_H

#include "kernelbrain/Propose/Moves.h"

namespace kernelbrain::propose {

/// The policy that is always there. Seeds: the recipe of each strategy that the
/// cost model likes best. Later moves are weighed by the model as corrected by
/// what was measured (Surrogate). Small steps: hill climbing, one or two knobs
/// of the parent, by what the model expects and by which knobs have gained in
/// the chain. Large steps: another strategy, a crossover of two of the pool, or
/// a recipe that is structurally far from the pool. Repairs: after wrong
/// results the parent with the numerically safest values, else small steps that
/// lean to defaults.
class BuiltinProposer : public search::Proposer {
public:
  Result<search::Proposal> propose(const search::ProposeContext &context,
                                   Random &random) override;

private:
  /// Legal recipes of one space, best expectation first: all of them where the
  /// space is small, else the default and what descent from it finds.
  const std::vector<Move> &ranked(const search::ProposeContext &context,
                                  const SearchSpace &space);
  search::Proposal seed(const search::ProposeContext &context);
  search::Proposal smallStep(const search::ProposeContext &context,
                             Random &random);
  search::Proposal largeStep(const search::ProposeContext &context,
                             Random &random);
  std::vector<Move> farMoves(const search::ProposeContext &context,
                             Random &random);

  /// Pure functions of kernel and space, kept because they take long.
  std::map<std::string, std::vector<Move>> cache;
};

} // namespace kernelbrain::propose

#endif // KERNELBRAIN_PROPOSE_BUILTINPROPOSER_H
