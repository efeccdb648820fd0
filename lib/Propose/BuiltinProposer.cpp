//===- BuiltinProposer.cpp - Search without a model -----------------------===//

#include "kernelbrain/Propose/BuiltinProposer.h"

#include "kernelbrain/Propose/Surrogate.h"
#include "kernelbrain/Search/PrintTree.h"
#include "kernelbrain/Support/Hash.h"

#include <algorithm>
#include <cmath>

namespace kernelbrain::propose {

using search::Proposal;
using search::ProposeContext;
using search::StepKind;
using search::VariantView;

namespace {
// Random samples of one step, so that a step costs milliseconds at most.
constexpr int pairSamples = 64, crossoverSamples = 16, farSamples = 64;
constexpr int descentRounds = 16;

Proposal exhausted() {
  Proposal proposal;
  proposal.proposer = "builtin";
  proposal.exhausted = true;
  return proposal;
}

Proposal proposed(const Recipe &recipe, std::string rationale) {
  Proposal proposal;
  proposal.proposer = "builtin";
  proposal.recipe = recipe;
  proposal.rationale = std::move(rationale);
  return proposal;
}

/// The better a move is likely to be, the more often it is made. Without any
/// variant measured, one that is expected to take twice as long gets a quarter
/// of the chance; with some, a few percent decide.
void weighByBelief(const ProposeContext &context, std::vector<Move> &moves) {
  Surrogate surrogate(context);
  double exponent =
      2 + 6 * static_cast<double>(std::min<size_t>(3, surrogate.size()));
  std::vector<double> scores;
  for (const Move &move : moves)
    scores.push_back(surrogate.score(move.recipe, move.timeNs));
  double best =
      moves.empty() ? 0 : *std::min_element(scores.begin(), scores.end());
  for (size_t i = 0; i < moves.size(); ++i) {
    moves[i].weight *= std::max(1e-6, std::exp(exponent * (best - scores[i])));
  }
}

/// How much more often a knob is turned than others: knobs whose change gained
/// on the way to the parent are turned more, those that lost less.
std::map<std::string, double> knobWeights(const ProposeContext &context,
                                          const SearchSpace &space) {
  std::map<std::string, double> weights;
  for (const Knob &knob : space.knobs)
    weights[knob.name] = 1;
  for (size_t i = 1; i < context.chain.size(); ++i) {
    const VariantView &before = context.chain[i - 1], &after = context.chain[i];
    if (before.recipe.strategy != space.strategy ||
        after.recipe.strategy != space.strategy ||
        before.reward == after.reward)
      continue;
    for (const auto &[name, value] : after.recipe.knobs) {
      auto it = before.recipe.knobs.find(name);
      if (it != before.recipe.knobs.end() && it->second != value)
        weights[name] *= after.reward > before.reward ? 2 : 0.5;
    }
  }
  return weights;
}

/// A value other than the default of an inert knob makes the same code again.
double freshness(const ProposeContext &context, const SearchSpace &space,
                 const Recipe &recipe) {
  double weight = 1;
  for (const Knob &knob : space.knobs) {
    auto value = recipe.knobs.find(knob.name);
    if (value != recipe.knobs.end() && value->second != knob.otherwise &&
        context.inertKnobs.count(space.strategy + "." + knob.name))
      weight *= 0.001;
  }
  return weight;
}

/// Builds the small steps from one recipe.
class Neighbours {
public:
  Neighbours(const ProposeContext &context, const SearchSpace &space)
      : context(context), space(space), base(context.parent.recipe),
        weights(knobWeights(context, space)) {}

  std::vector<Move> all(Random &random) {
    for (const Knob &knob : space.knobs)
      for (const KnobValue &value : knob.values)
        turn({{&knob, &value}});
    size_t count = space.knobs.size();
    for (int i = 0; i < pairSamples && count > 1; ++i) {
      size_t first = random.below(count), second = random.below(count - 1);
      second += second >= first;
      const Knob &a = space.knobs[first], &b = space.knobs[second];
      if (a.values.empty() || b.values.empty())
        continue;
      turn({{&a, &a.values[random.below(a.values.size())]},
            {&b, &b.values[random.below(b.values.size())]}});
    }
    weighByBelief(context, moves);
    return std::move(moves);
  }

private:
  using Turn = std::pair<const Knob *, const KnobValue *>;

  /// Values are listed in order, so near ones are likely to be alike.
  double nearness(const Knob &knob, const KnobValue &from,
                  const KnobValue &to) const {
    auto begin = knob.values.begin(), end = knob.values.end();
    auto a = std::find(begin, end, from), b = std::find(begin, end, to);
    if (a == end || b == end)
      return 1;
    return 1.0 / static_cast<double>(std::max<int64_t>(1, std::abs(a - b)));
  }

  void turn(const std::vector<Turn> &turns) {
    Move move;
    move.recipe = base;
    // Two knobs at once are the exception.
    move.weight = turns.size() > 1 ? 0.25 : 1;
    for (auto [knob, value] : turns) {
      KnobValue &slot = move.recipe.knobs[knob->name];
      if (slot == *value)
        return;
      move.weight *= weights[knob->name] * nearness(*knob, slot, *value);
      // A failed variant is likely to heal where it is like its default.
      if (context.step == StepKind::Repair && *value == knob->otherwise)
        move.weight *= 3;
      slot = *value;
    }
    if (!known.insert(move.recipe.hash()).second || context.seen(move.recipe))
      return;
    std::optional<double> expected = expectedNs(context, space, move.recipe);
    if (!expected)
      return;
    move.timeNs = *expected;
    move.weight *= freshness(context, space, move.recipe);
    moves.push_back(std::move(move));
  }

  const ProposeContext &context;
  const SearchSpace &space;
  const Recipe &base;
  std::map<std::string, double> weights;
  std::set<std::string> known;
  std::vector<Move> moves;
};

/// Coordinate descent on the model's expectation from the default recipe.
std::vector<Move> descend(const ProposeContext &context,
                          const SearchSpace &space) {
  std::vector<Move> found;
  Move at;
  at.recipe = space.defaultRecipe();
  std::optional<double> expected = expectedNs(context, space, at.recipe);
  if (!expected)
    return found;
  at.timeNs = *expected;
  found.push_back(at);
  for (int round = 0; round < descentRounds; ++round) {
    Move best = at;
    for (const Knob &knob : space.knobs)
      for (const KnobValue &value : knob.values) {
        Move next = at;
        next.recipe.knobs[knob.name] = value;
        expected = expectedNs(context, space, next.recipe);
        if (expected && *expected < best.timeNs) {
          next.timeNs = *expected;
          best = std::move(next);
        }
      }
    if (!(best.timeNs < at.timeNs))
      break;
    at = best;
    found.insert(found.begin(), at);
  }
  return found;
}
} // namespace

const std::vector<Move> &BuiltinProposer::ranked(const ProposeContext &context,
                                                 const SearchSpace &space) {
  std::string key = contentHash(context.kernel->hash + dumpJson(toJson(space)));
  auto known = cache.find(key);
  if (known != cache.end())
    return known->second;
  std::vector<Move> moves;
  if (space.size() > enumerationLimit) {
    moves = descend(context, space);
  } else {
    for (Recipe &recipe : enumerate(space))
      if (std::optional<double> expected = expectedNs(context, space, recipe))
        moves.push_back({std::move(recipe), *expected, 1});
    Recipe preferred = space.defaultRecipe();
    // The default is the strategy's own choice: it wins among equals.
    std::sort(moves.begin(), moves.end(), [&](const Move &a, const Move &b) {
      if (a.timeNs != b.timeNs)
        return a.timeNs < b.timeNs;
      bool first = a.recipe == preferred, second = b.recipe == preferred;
      return first != second ? first : a.recipe.knobs < b.recipe.knobs;
    });
  }
  return cache[key] = std::move(moves);
}

Proposal BuiltinProposer::seed(const ProposeContext &context) {
  const Move *best = nullptr;
  for (const SearchSpace &space : *context.spaces) {
    const std::vector<Move> &moves = ranked(context, space);
    // One a strategy: if its first choice was proposed, it has had its turn.
    if (moves.empty() || context.seen(moves.front().recipe))
      continue;
    if (!best || moves.front().timeNs < best->timeNs)
      best = &moves.front();
  }
  if (!best)
    return exhausted();
  return proposed(best->recipe, "best expectation of strategy '" +
                                    best->recipe.strategy + "'");
}

Proposal BuiltinProposer::smallStep(const ProposeContext &context,
                                    Random &random) {
  const SearchSpace *space = findSpace(context, context.parent.recipe.strategy);
  if (!space)
    return exhausted();
  if (context.step == StepKind::Repair &&
      context.parent.measurement.disposition == Disposition::Incorrect) {
    Recipe safe = space->safest(context.parent.recipe);
    if (!context.seen(safe) && expectedNs(context, *space, safe))
      return proposed(safe, "the values with the smallest numerical error");
  }
  std::vector<Move> moves = Neighbours(context, *space).all(random);
  const Move *move = pick(moves, random);
  if (!move)
    return exhausted();
  return proposed(move->recipe,
                  search::describeChange(context.parent.recipe, move->recipe));
}

/// Recipes that no small step from the pool reaches.
std::vector<Move> BuiltinProposer::farMoves(const ProposeContext &context,
                                            Random &random) {
  std::vector<Move> moves;
  std::set<std::string> known;
  auto add = [&](const SearchSpace &space, const Recipe &recipe,
                 double weight) {
    if (!known.insert(recipe.hash()).second || context.seen(recipe))
      return;
    std::optional<double> expected = expectedNs(context, space, recipe);
    if (!expected)
      return;
    int distance = static_cast<int>(space.knobs.size()) + 1;
    for (const VariantView &variant : context.pool)
      distance =
          std::min(distance, structuralDistance(space, recipe, variant.recipe));
    moves.push_back(
        {recipe, *expected,
         weight * (1 + distance) * freshness(context, space, recipe)});
  };
  const std::vector<VariantView> &pool = context.pool;
  for (int i = 0; i < crossoverSamples && pool.size() > 1; ++i) {
    const Recipe &a = pool[random.below(pool.size())].recipe;
    const Recipe &b = pool[random.below(pool.size())].recipe;
    const SearchSpace *space = findSpace(context, a.strategy);
    if (!space || a.strategy != b.strategy)
      continue;
    Recipe child = a;
    for (const auto &[name, value] : b.knobs)
      if (random.chance(0.5))
        child.knobs[name] = value;
    add(*space, child, 2); // both parents are the best of their kind
  }
  size_t count = context.spaces->size();
  for (int i = 0; i < farSamples && count > 0; ++i) {
    const SearchSpace &space = (*context.spaces)[random.below(count)];
    add(space, randomRecipe(space, random), 1);
  }
  return moves;
}

Proposal BuiltinProposer::largeStep(const ProposeContext &context,
                                    Random &random) {
  std::vector<Move> moves = farMoves(context, random);
  // Of each space the best few that were not tried: random samples miss them.
  for (const SearchSpace &space : *context.spaces) {
    int taken = 0;
    for (const Move &move : ranked(context, space)) {
      if (context.seen(move.recipe))
        continue;
      moves.push_back(move);
      moves.back().weight = freshness(context, space, move.recipe);
      if (++taken == 8)
        break;
    }
  }
  weighByBelief(context, moves);
  const Move *move = pick(moves, random);
  if (!move)
    return exhausted();
  const std::string &strategy = move->recipe.strategy;
  return proposed(move->recipe, strategy != context.parent.recipe.strategy
                                    ? "another strategy: '" + strategy + "'"
                                    : "far from the best of each kind");
}

Result<Proposal> BuiltinProposer::propose(const ProposeContext &context,
                                          Random &random) {
  switch (context.step) {
  case StepKind::Seed:
    return seed(context);
  case StepKind::Small:
  case StepKind::Repair:
    return smallStep(context, random);
  case StepKind::Large:
    return largeStep(context, random);
  }
  return exhausted();
}

} // namespace kernelbrain::propose
