//===- SearchStopTest.cpp - When a search ends ----------------------------===//

#include "Search/World.h"

using namespace kernelbrain;
using namespace kernelbrain::testing;

TEST(SearchStop, BudgetOfVariantsIsExact) {
  for (int64_t limit : {1, 2, 3, 7, 20}) {
    World world;
    world.budget[Currency::Variants] = limit;
    ModuleOutcome outcome = world.run();
    EXPECT_EQ(outcome.spent[Currency::Variants], limit);
    EXPECT_EQ(outcome.kernels[0].stop, StopReason::Budget);
  }
}

TEST(SearchStop, TimeBudgetLeavesTheReserve) {
  World world;
  world.budget[Currency::Variants] = std::nullopt;
  world.budget[Currency::Wall] = 3000000000;
  world.budget.acceptanceShare = 0.4;
  ModuleOutcome outcome = world.run();
  EXPECT_EQ(outcome.kernels[0].stop, StopReason::Budget);
  EXPECT_TRUE(outcome.kernels[0].winner);
  int64_t searched = 0, longest = 0;
  for (const Trial &trial : world.events.trials()) {
    searched += trial.costs.wallNs;
    longest = std::max(longest, trial.costs.wallNs);
  }
  EXPECT_GT(searched, 1000000000);
  EXPECT_LE(searched, 1800000000 + longest);
  EXPECT_LE(outcome.spent[Currency::Wall], 3000000000);
  EXPECT_EQ(outcome.setupNs, 2000000000); // beside the budget
}

TEST(SearchStop, StopsAtTheBound) {
  World world;
  world.tasks[0].cost = modelOf({}, 15800);
  ModuleOutcome outcome = world.run();
  EXPECT_EQ(outcome.kernels[0].stop, StopReason::Bound);
  EXPECT_LT(outcome.kernels[0].trials, 40u);
  EXPECT_TRUE(outcome.kernels[0].winner);
}

TEST(SearchStop, ABeatenBoundDoesNotStop) {
  World world;
  world.tasks[0].cost = modelOf({}, 40000);
  ModuleOutcome outcome = world.run();
  EXPECT_NE(outcome.kernels[0].stop, StopReason::Bound);
  EXPECT_LT(outcome.kernels[0].boundNs, 40000);
}

TEST(SearchStop, StopsOnAPlateau) {
  World world;
  world.options.stop.plateau = 5;
  ModuleOutcome outcome = world.run();
  EXPECT_EQ(outcome.kernels[0].stop, StopReason::Plateau);
  EXPECT_TRUE(outcome.kernels[0].winner);
}

TEST(SearchStop, ExhaustsSmallSpaces) {
  World world;
  world.budget = Budget();
  world.options.stop.plateau = 0;
  ModuleOutcome outcome = world.run();
  EXPECT_EQ(outcome.kernels[0].stop, StopReason::Exhausted);
  // All legal recipes of both spaces: 11 x 4 and 36.
  EXPECT_EQ(outcome.kernels[0].trials, 80u);
}

TEST(SearchStop, OneRecipeOnly) {
  World world;
  SearchSpace space = rowsSpace();
  for (Knob &knob : space.knobs)
    knob.values = {knob.otherwise};
  world.tasks[0].spaces = {space};
  ModuleOutcome outcome = world.run();
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(outcome.kernels[0].trials, 1u);
  EXPECT_EQ(outcome.kernels[0].stop, StopReason::Exhausted);
  EXPECT_TRUE(outcome.kernels[0].winner);
}

TEST(SearchStop, NoStrategy) {
  World world;
  world.tasks[0].spaces.clear();
  ModuleOutcome outcome = world.run();
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(outcome.kernels[0].stop, StopReason::NoStrategy);
  EXPECT_EQ(world.workbench.prepared, 0);
}

TEST(SearchStop, SkippedKernel) {
  World world;
  world.workbench.skip = "k";
  ModuleOutcome outcome = world.run();
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(outcome.kernels[0].stop, StopReason::Skipped);
  EXPECT_EQ(outcome.kernels[0].message, "the stock lowering fails");
}

TEST(SearchStop, NothingFasterNothingAccepted) {
  Landscape slow;
  slow.time = [](const Recipe &recipe) {
    return recipe.strategy == "stock" ? 100.0 : 200.0;
  };
  World world(slow);
  ModuleOutcome outcome = world.run();
  EXPECT_FALSE(outcome.kernels[0].winner);
  EXPECT_FALSE(outcome.kernels[0].best);
  EXPECT_EQ(world.events.count("accepted"), 0u);
}
