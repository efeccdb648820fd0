//===- ProposerTest.cpp - Built-in and random proposers -------------------===//

#include "Testing/Fakes.h"
#include "kernelbrain/Propose/BuiltinProposer.h"
#include "kernelbrain/Propose/RandomProposer.h"
#include "kernelbrain/Propose/Surrogate.h"

#include <gtest/gtest.h>

using namespace kernelbrain;
using namespace kernelbrain::propose;
using namespace kernelbrain::testing;

namespace {
class ProposerTest : public ::testing::Test {
protected:
  ProposerTest() {
    context.kernel = &work.kernel;
    context.spaces = &work.spaces;
    context.cost = work.cost;
    context.seen = [this](const Recipe &recipe) {
      return seen.count(recipe.hash()) != 0;
    };
    context.parent.recipe = rowsSpace().defaultRecipe();
    context.parent.ticket = 1;
  }
  Proposal ask(Proposer &proposer, StepKind step, uint64_t seed = 0) {
    context.step = step;
    Random random({seed});
    Result<Proposal> proposal = proposer.propose(context, random);
    EXPECT_TRUE(proposal);
    return *proposal;
  }
  bool legal(const Recipe &recipe) {
    for (const SearchSpace &space : work.spaces)
      if (space.strategy == recipe.strategy)
        return space.violation(recipe).empty();
    return false;
  }
  static int difference(const Recipe &a, const Recipe &b) {
    int count = 0;
    for (const auto &[name, value] : a.knobs)
      count += b.knobs.at(name) != value;
    return count;
  }

  KernelTask work = task();
  ProposeContext context;
  std::set<std::string> seen;
  BuiltinProposer builtin;
  RandomProposer random;
};
} // namespace

TEST_F(ProposerTest, SeedsAreTheBestExpectationOfEachStrategy) {
  Proposal first = ask(builtin, StepKind::Seed);
  ASSERT_FALSE(first.exhausted);
  EXPECT_EQ(first.recipe.strategy, "rows"); // 15910 against 30000
  EXPECT_EQ(knob(first.recipe, "vector"), 16);
  EXPECT_EQ(knob(first.recipe, "unroll"), 4);
  EXPECT_EQ(knob(first.recipe, "comment"), 0); // the default among equals
  seen.insert(first.recipe.hash());
  Proposal second = ask(builtin, StepKind::Seed);
  EXPECT_EQ(second.recipe.strategy, "tiles");
  EXPECT_EQ(knob(second.recipe, "m"), 8);
  seen.insert(second.recipe.hash());
  EXPECT_TRUE(ask(builtin, StepKind::Seed).exhausted);
}

TEST_F(ProposerTest, SmallStepsTurnOneOrTwoKnobs) {
  std::set<std::string> different;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Proposal proposal = ask(builtin, StepKind::Small, seed);
    ASSERT_FALSE(proposal.exhausted);
    ASSERT_TRUE(legal(proposal.recipe));
    int turned = difference(proposal.recipe, context.parent.recipe);
    EXPECT_GE(turned, 1);
    EXPECT_LE(turned, 2);
    different.insert(proposal.recipe.hash());
  }
  EXPECT_GT(different.size(), 8u);
}

TEST_F(ProposerTest, SmallStepsEnd) {
  int count = 0;
  for (;; ++count) {
    Proposal proposal = ask(builtin, StepKind::Small, 7);
    if (proposal.exhausted)
      break;
    ASSERT_TRUE(seen.insert(proposal.recipe.hash()).second);
  }
  EXPECT_GE(count, 8); // at least all turns of one knob
  context.parent.recipe.strategy = "stock";
  EXPECT_TRUE(ask(builtin, StepKind::Small).exhausted);
}

TEST_F(ProposerTest, InertKnobsAreLeftAlone) {
  auto turns = [&] {
    int turned = 0;
    for (uint64_t seed = 0; seed < 200; ++seed)
      turned +=
          knob(ask(builtin, StepKind::Small, seed).recipe, "comment") != 0;
    return turned;
  };
  int before = turns();
  context.inertKnobs.insert("rows.comment");
  int after = turns();
  EXPECT_GT(before, 20);
  EXPECT_LT(after, before / 3);
}

TEST_F(ProposerTest, KnobsThatGainedAreTurnedAgain) {
  auto turns = [&] {
    int turned = 0;
    for (uint64_t seed = 0; seed < 300; ++seed)
      turned +=
          knob(ask(builtin, StepKind::Small, seed).recipe, "comment") != 0;
    return turned;
  };
  int before = turns();
  VariantView first, second;
  first.recipe = second.recipe = context.parent.recipe;
  first.recipe.knobs["comment"] = int64_t(2);
  second.reward = 0.5;
  context.chain = {first, second};
  int gained = turns();
  context.chain[0].reward = 0.9; // and now it had lost
  int lost = turns();
  EXPECT_GT(gained, before);
  EXPECT_LT(lost, before);
}

TEST_F(ProposerTest, RepairsLeanToDefaults) {
  context.parent.recipe = tilesSpace().defaultRecipe();
  context.parent.recipe.knobs["m"] = int64_t(32);
  auto healed = [&](StepKind step) {
    int count = 0;
    for (uint64_t seed = 0; seed < 300; ++seed)
      count += knob(ask(builtin, step, seed).recipe, "m") == 4;
    return count;
  };
  EXPECT_GT(healed(StepKind::Repair), healed(StepKind::Small));
}

TEST_F(ProposerTest, WrongResultsAreRepairedByTheSafestValues) {
  work.spaces = {tilesSpace()};
  work.spaces[0].knobs[0].safest = work.spaces[0].knobs[0].values[0];
  Recipe safe = context.parent.recipe = work.spaces[0].defaultRecipe();
  safe.knobs[work.spaces[0].knobs[0].name] = work.spaces[0].knobs[0].values[0];
  context.parent.recipe.knobs[work.spaces[0].knobs[0].name] =
      work.spaces[0].knobs[0].values.back();
  context.parent.measurement.disposition = Disposition::Incorrect;
  EXPECT_EQ(ask(builtin, StepKind::Repair).recipe, safe);
  seen.insert(safe.hash()); // once
  EXPECT_FALSE(ask(builtin, StepKind::Repair).recipe == safe);
  seen.clear();
  context.parent.measurement.disposition = Disposition::Crashed;
  int same = 0;
  for (uint64_t seed = 0; seed < 20; ++seed)
    same += ask(builtin, StepKind::Repair, seed).recipe == safe;
  EXPECT_LT(same, 20);
}

TEST_F(ProposerTest, LargeStepsLeaveThePool) {
  VariantView member;
  member.recipe = rowsSpace().defaultRecipe();
  context.pool = {member};
  int far = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Proposal proposal = ask(builtin, StepKind::Large, seed);
    ASSERT_TRUE(legal(proposal.recipe));
    far += proposal.recipe.strategy != "rows" ||
           knob(proposal.recipe, "vector") != 4;
  }
  EXPECT_GT(far, 80);
}

TEST_F(ProposerTest, LargeStepsReachEveryRecipe) {
  size_t count = 0;
  for (uint64_t seed = 0;; ++seed, ++count) {
    Proposal proposal = ask(builtin, StepKind::Large, seed);
    if (proposal.exhausted)
      break;
    ASSERT_TRUE(seen.insert(proposal.recipe.hash()).second);
  }
  EXPECT_EQ(count, 80u);
}

TEST_F(ProposerTest, RejectionsOfTheModelAreKept) {
  CostModel inner = work.cost;
  context.cost = [inner](const Recipe &recipe) {
    Estimate estimate = inner(recipe);
    if (knob(recipe, "vector") == 16 || knob(recipe, "m") == 8)
      estimate.rejection = "too wide";
    return estimate;
  };
  for (uint64_t seed = 0; seed < 50; ++seed)
    for (StepKind step : {StepKind::Seed, StepKind::Small, StepKind::Large})
      for (Proposer *proposer : {static_cast<Proposer *>(&builtin),
                                 static_cast<Proposer *>(&random)}) {
        Recipe recipe = ask(*proposer, step, seed).recipe;
        EXPECT_NE(knob(recipe, "vector"), 16);
        EXPECT_NE(knob(recipe, "m"), 8);
      }
}

TEST_F(ProposerTest, AModelThatIsWrongIsNotFollowed) {
  // Expected and measured in opposite order, on five variants of the pool.
  auto wide = [&] {
    int count = 0;
    for (uint64_t seed = 0; seed < 300; ++seed)
      count += knob(ask(builtin, StepKind::Small, seed).recipe, "vector") > 4;
    return count;
  };
  auto fill = [&](bool contrary) {
    context.pool.clear();
    for (int64_t m : {1, 2, 4, 8, 32}) {
      VariantView member;
      member.ticket = static_cast<uint64_t>(m);
      member.recipe = tilesSpace().defaultRecipe();
      member.recipe.knobs["m"] = m;
      member.measurement.disposition = Disposition::Passed;
      double time = work.cost(member.recipe).timeNs;
      double speedup = contrary ? time : 1e9 / time;
      member.measurement.speedup = Ratio{speedup, speedup, speedup};
      context.pool.push_back(member);
    }
    context.measured = context.pool;
    return wide();
  };
  // The model likes wide vectors.
  EXPECT_GT(fill(false), fill(true) + 20);
}

TEST_F(ProposerTest, MeasurementsCorrectTheModel) {
  auto add = [&](const Recipe &recipe, Disposition disposition,
                 double speedup) {
    VariantView view;
    view.recipe = recipe;
    view.measurement.disposition = disposition;
    if (speedup > 0)
      view.measurement.speedup = Ratio{speedup, speedup, speedup};
    context.measured.push_back(view);
  };
  auto with = [](const char *name, int64_t value, int64_t comment) {
    Recipe recipe = rowsSpace().defaultRecipe();
    recipe.knobs[name] = value;
    recipe.knobs["comment"] = comment;
    return recipe;
  };
  // Equal expectations: what is known of a recipe's likes decides.
  add(with("vector", 8, 0), Disposition::Passed, 1.0);
  add(with("vector", 16, 0), Disposition::Passed, 3.0);
  Surrogate surrogate(context);
  EXPECT_EQ(surrogate.size(), 2u);
  EXPECT_LT(surrogate.score(with("vector", 16, 1), 1e4),
            surrogate.score(with("vector", 8, 1), 1e4));
  // Between recipes of which the same is known the model decides.
  EXPECT_LT(surrogate.score(with("vector", 16, 1), 1e4),
            surrogate.score(with("vector", 16, 2), 2e4));
  // The like of what failed is avoided.
  double before = surrogate.score(with("unroll", 8, 1), 1e4) -
                  surrogate.score(with("unroll", 2, 1), 1e4);
  add(with("unroll", 8, 0), Disposition::Incorrect, 0);
  Surrogate warned(context);
  double after = warned.score(with("unroll", 8, 1), 1e4) -
                 warned.score(with("unroll", 2, 1), 1e4);
  EXPECT_GT(after, before + 0.01);
  // A fault of the harness says nothing.
  add(with("unroll", 8, 2), Disposition::HarnessFault, 0);
  EXPECT_EQ(Surrogate(context).size(), 3u);
}

TEST_F(ProposerTest, FindsGoodRecipesSoonerThanChance) {
  Landscape landscape;
  auto bestOf = [&](Proposer &proposer, uint64_t seed) {
    seen.clear();
    context.measured.clear();
    double best = 1e9;
    for (uint64_t ticket = 0; ticket < 8; ++ticket) {
      Recipe recipe =
          ask(proposer, StepKind::Large, 100 * seed + ticket).recipe;
      seen.insert(recipe.hash());
      VariantView view;
      view.recipe = recipe;
      // What the model holds to be the best "n" is the worst.
      double time = landscape.time(recipe) * (knob(recipe, "n") == 4 ? 3 : 1);
      best = std::min(best, time);
      view.measurement.disposition = Disposition::Passed;
      view.measurement.speedup = Ratio{1e5 / time, 1e5 / time, 1e5 / time};
      context.measured.push_back(view);
    }
    return best;
  };
  double ours = 0, chance = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    ours += std::log(bestOf(builtin, seed)) / 20;
    chance += std::log(bestOf(random, seed)) / 20;
  }
  EXPECT_LT(ours, chance - 0.1);
}

TEST_F(ProposerTest, LargeSpacesAreSampled) {
  SearchSpace space = rowsSpace();
  for (int i = 0; i < 8; ++i) {
    Knob extra = space.knobs[2];
    extra.name = "extra" + std::to_string(i);
    space.knobs.push_back(extra);
  }
  ASSERT_GT(space.size(), enumerationLimit);
  work.spaces = {space};
  context.parent.recipe = space.defaultRecipe();
  Proposal seed = ask(builtin, StepKind::Seed);
  EXPECT_EQ(knob(seed.recipe, "vector"), 16); // found by descent
  EXPECT_EQ(knob(seed.recipe, "unroll"), 4);
  for (StepKind step : {StepKind::Small, StepKind::Large}) {
    Proposal proposal = ask(builtin, step);
    ASSERT_FALSE(proposal.exhausted);
    EXPECT_TRUE(legal(proposal.recipe));
  }
  EXPECT_TRUE(legal(ask(random, StepKind::Large).recipe));
}

TEST_F(ProposerTest, AnswersAreFunctionsOfContextAndStream) {
  BuiltinProposer other;
  for (uint64_t seed = 0; seed < 20; ++seed)
    for (StepKind step : {StepKind::Seed, StepKind::Small, StepKind::Large})
      EXPECT_EQ(ask(builtin, step, seed).recipe, ask(other, step, seed).recipe);
}

TEST_F(ProposerTest, RandomIsUniformOverLegalRecipes) {
  std::map<std::string, int> counts;
  for (uint64_t seed = 0; seed < 8000; ++seed)
    ++counts[ask(random, StepKind::Large, seed).recipe.hash()];
  EXPECT_EQ(counts.size(), 80u);
  for (const auto &[hash, count] : counts)
    EXPECT_NEAR(count, 100, 50);
}

TEST_F(ProposerTest, RandomReachesEveryRecipeAndEnds) {
  size_t count = 0;
  for (uint64_t seed = 0;; ++seed, ++count) {
    Proposal proposal = ask(random, StepKind::Small, seed);
    if (proposal.exhausted)
      break;
    ASSERT_TRUE(seen.insert(proposal.recipe.hash()).second);
  }
  EXPECT_EQ(count, 80u);
}

TEST_F(ProposerTest, WithoutSpacesNothing) {
  work.spaces.clear();
  EXPECT_TRUE(ask(builtin, StepKind::Seed).exhausted);
  EXPECT_TRUE(ask(builtin, StepKind::Large).exhausted);
  EXPECT_TRUE(ask(random, StepKind::Large).exhausted);
}
