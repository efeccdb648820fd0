//===- Moves.h - Steps through search spaces --------------------*- C++ -*-===//

#ifndef KERNELBRAIN_PROPOSE_MOVES_H
#define KERNELBRAIN_PROPOSE_MOVES_H

#include "kernelbrain/Search/Interfaces.h"

namespace kernelbrain::propose {

/// Spaces of at most this many assignments are enumerated as a whole, so that
/// "nothing left" is exact for them.
constexpr uint64_t enumerationLimit = 4096;

/// A recipe and what the cost model expects of it.
struct Move {
  Recipe recipe;
  double timeNs = 1;
  double weight = 1;
};

/// The space of a strategy; null if there is none.
const SearchSpace *findSpace(const search::ProposeContext &context,
                             const std::string &strategy);

/// The expected time of a legal recipe of `space`: 1 without a cost model;
/// std::nullopt for a recipe that violates a constraint or a resource limit.
std::optional<double> expectedNs(const search::ProposeContext &context,
                                 const SearchSpace &space,
                                 const Recipe &recipe);

/// All assignments, in a fixed order; only for spaces within the limit.
std::vector<Recipe> enumerate(const SearchSpace &space);

/// Every knob uniformly at random; constraints are not looked at.
Recipe randomRecipe(const SearchSpace &space, Random &random);

/// Structural knobs that differ; a different strategy counts as more than any
/// number of knobs.
int structuralDistance(const SearchSpace &space, const Recipe &a,
                       const Recipe &b);

/// One of `moves` with a chance in proportion to its weight; null if empty.
const Move *pick(const std::vector<Move> &moves, Random &random);

} // namespace kernelbrain::propose

#endif // KERNELBRAIN_PROPOSE_MOVES_H
