//===- RandomProposer.cpp - The control of the search ---------------------===//

#include "kernelbrain/Propose/RandomProposer.h"

namespace kernelbrain::propose {

using search::Proposal;
using search::ProposeContext;

/// Draws before a space counts as used up, or is enumerated if it is small.
static constexpr int maxDraws = 256;

static bool fits(const ProposeContext &context, const SearchSpace &space,
                 const Recipe &recipe) {
  return expectedNs(context, space, recipe) && !context.seen(recipe);
}

Result<Proposal> RandomProposer::propose(const ProposeContext &context,
                                         Random &random) {
  Proposal proposal;
  proposal.proposer = "random";
  proposal.rationale = "drawn at random";
  double sum = 0;
  bool small = true;
  for (const SearchSpace &space : *context.spaces) {
    sum += static_cast<double>(space.size());
    small &= space.size() <= enumerationLimit;
  }
  for (int draw = 0; draw < maxDraws && !context.spaces->empty(); ++draw) {
    // A strategy in proportion to its size, then a recipe of it: uniform over
    // all, and by rejection over those that fit.
    double point = random.uniform() * sum;
    const SearchSpace *space = &context.spaces->back();
    for (const SearchSpace &each : *context.spaces) {
      point -= static_cast<double>(each.size());
      if (point < 0) {
        space = &each;
        break;
      }
    }
    proposal.recipe = randomRecipe(*space, random);
    if (fits(context, *space, proposal.recipe))
      return proposal;
  }
  std::vector<Recipe> left;
  for (const SearchSpace &space : *context.spaces)
    if (small)
      for (Recipe &recipe : enumerate(space))
        if (fits(context, space, recipe))
          left.push_back(std::move(recipe));
  proposal.exhausted = left.empty();
  proposal.recipe =
      left.empty() ? Recipe() : std::move(left[random.below(left.size())]);
  return proposal;
}

} // namespace kernelbrain::propose
