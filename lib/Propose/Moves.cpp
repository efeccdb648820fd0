//===- Moves.cpp - Steps through search spaces ----------------------------===//

#include "kernelbrain/Propose/Moves.h"

#include <cassert>
#include <cmath>

namespace kernelbrain::propose {

using search::ProposeContext;

const SearchSpace *findSpace(const ProposeContext &context,
                             const std::string &strategy) {
  for (const SearchSpace &space : *context.spaces)
    if (space.strategy == strategy)
      return &space;
  return nullptr;
}

std::optional<double> expectedNs(const ProposeContext &context,
                                 const SearchSpace &space,
                                 const Recipe &recipe) {
  if (recipe.payload != space.payload || !space.violation(recipe).empty())
    return std::nullopt;
  if (!context.cost)
    return 1;
  Estimate estimate = context.cost(recipe);
  if (!estimate.rejection.empty())
    return std::nullopt;
  return estimate.timeNs > 0 && std::isfinite(estimate.timeNs) ? estimate.timeNs
                                                               : 1;
}

std::vector<Recipe> enumerate(const SearchSpace &space) {
  assert(space.size() <= enumerationLimit && "too many to enumerate");
  std::vector<Recipe> recipes = {space.defaultRecipe()};
  for (const Knob &knob : space.knobs) {
    std::vector<Recipe> next;
    for (const Recipe &recipe : recipes)
      for (const KnobValue &value : knob.values) {
        next.push_back(recipe);
        next.back().knobs[knob.name] = value;
      }
    recipes = std::move(next);
  }
  return recipes;
}

Recipe randomRecipe(const SearchSpace &space, Random &random) {
  Recipe recipe = space.defaultRecipe();
  for (const Knob &knob : space.knobs)
    if (!knob.values.empty())
      recipe.knobs[knob.name] = knob.values[random.below(knob.values.size())];
  return recipe;
}

int structuralDistance(const SearchSpace &space, const Recipe &a,
                       const Recipe &b) {
  if (a.strategy != b.strategy)
    return static_cast<int>(space.knobs.size()) + 1;
  int distance = 0;
  for (const Knob &knob : space.knobs) {
    auto left = a.knobs.find(knob.name), right = b.knobs.find(knob.name);
    bool same = left != a.knobs.end() && right != b.knobs.end() &&
                left->second == right->second;
    distance += knob.structural && !same;
  }
  return distance;
}

const Move *pick(const std::vector<Move> &moves, Random &random) {
  double sum = 0;
  for (const Move &move : moves)
    sum += move.weight;
  double point = random.uniform() * sum;
  for (const Move &move : moves) {
    point -= move.weight;
    if (point < 0)
      return &move;
  }
  // Rounding may leave a rest.
  return moves.empty() ? nullptr : &moves.back();
}

} // namespace kernelbrain::propose
