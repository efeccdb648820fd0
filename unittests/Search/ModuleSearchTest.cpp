//===- ModuleSearchTest.cpp - Several kernels on one budget ---------------===//

#include "Search/World.h"

using namespace kernelbrain;
using namespace kernelbrain::testing;

TEST(ModuleSearch, BudgetFollowsTheShare) {
  World world;
  world.tasks = {task("small", 0.1), task("large", 0.8)};
  world.budget[Currency::Variants] = 30; // fewer than one has
  ModuleOutcome outcome = world.run();
  EXPECT_EQ(outcome.spent[Currency::Variants], 30);
  auto variants = [&](size_t kernel) {
    KernelOutcome &of = outcome.kernels[kernel];
    return int64_t(of.trials) - of.dispositions["duplicate"];
  };
  EXPECT_GT(variants(1), 2 * variants(0));
  EXPECT_GE(variants(0), 2);
  EXPECT_TRUE(outcome.kernels[0].winner);
  EXPECT_TRUE(outcome.kernels[1].winner);
}

TEST(ModuleSearch, BudgetMovesToWhereHeadroomIs) {
  // Equal shares; "done" soon runs at its bound and stops asking.
  World world;
  world.tasks = {task("done", 0.5), task("open", 0.5)};
  world.tasks[0].cost = modelOf({}, 15800);
  world.budget[Currency::Variants] = 70;
  ModuleOutcome outcome = world.run();
  EXPECT_EQ(outcome.kernels[0].stop, StopReason::Bound);
  EXPECT_GT(outcome.kernels[1].trials, outcome.kernels[0].trials);
}

TEST(ModuleSearch, SmallSharesGetTheDefaultOnly) {
  World world;
  world.tasks = {task("main", 0.9), task("tiny", 0.005)};
  ModuleOutcome outcome = world.run();
  EXPECT_EQ(outcome.kernels[1].stop, StopReason::DefaultOnly);
  EXPECT_EQ(outcome.kernels[1].trials, 1u);
  ASSERT_TRUE(outcome.kernels[1].winner);
  EXPECT_EQ(outcome.kernels[1].winner->measurement.rung, 6);
  Trial trial = world.events.trials("tiny").front();
  EXPECT_EQ(trial.measurement.rung, 2);
  EXPECT_EQ(trial.costs.quickNs + trial.costs.fullNs, 0);
}

TEST(ModuleSearch, KernelsThatGetNoTicketAreNotPrepared) {
  World world;
  world.tasks = {task("a", 0.5), task("b", 0.3), task("c", 0.2)};
  world.budget[Currency::Variants] = 2;
  ModuleOutcome outcome = world.run();
  EXPECT_TRUE(outcome.kernels[1].baseline);
  EXPECT_FALSE(outcome.kernels[2].baseline);
  EXPECT_EQ(outcome.kernels[2].stop, StopReason::Budget);
  EXPECT_EQ(outcome.kernels[2].message, "no variants left");
  EXPECT_EQ(outcome.stop, StopReason::Budget);
  EXPECT_EQ(std::count_if(
                world.events.events.begin(), world.events.events.end(),
                [](const Event &event) { return event.type == "baseline"; }),
            2);
}

TEST(ModuleSearch, UnknownSharesCountAlike) {
  World world;
  world.tasks = {task("a", 0), task("b", 0)};
  ModuleOutcome outcome = world.run();
  EXPECT_GT(outcome.kernels[0].trials, 10u);
  EXPECT_GT(outcome.kernels[1].trials, 10u);
}

TEST(ModuleSearch, SameEventsForAnyBuildOrder) {
  auto lines = [](uint64_t shuffle) {
    World world({}, shuffle);
    world.tasks = {task("a", 0.5), task("b", 0.3), task("c", 0.2)};
    world.budget[Currency::Variants] = 60;
    world.run();
    return world.events.lines();
  };
  std::vector<std::string> reference = lines(0);
  for (uint64_t shuffle = 1; shuffle <= 5; ++shuffle)
    EXPECT_EQ(lines(shuffle), reference);
}

TEST(ModuleSearch, AnErrorKeepsWhatWasAccepted) {
  World world;
  world.tasks = {task("main", 0.9), task("tiny", 0.005)};
  world.workbench.errorAt = 40;
  ModuleOutcome outcome = world.run();
  EXPECT_TRUE(outcome.error);
  EXPECT_TRUE(outcome.kernels[1].winner);
  EXPECT_TRUE(outcome.kernels[0].best);
}

TEST(ModuleSearch, NoKernels) {
  World world;
  world.tasks.clear();
  ModuleOutcome outcome = world.run();
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(world.events.events.size(), 2u);
}

TEST(ModuleSearch, EstimatesARun) {
  std::vector<KernelTask> tasks = {task("a", 0.2), task("b", 0.6),
                                   task("c", 0.001)};
  Json rows = estimateRun(tasks, SearchOptions());
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0]["kernel"], "b");
  EXPECT_NEAR(rows[0]["weight"].get<double>(), 0.75, 1e-9);
  EXPECT_EQ(rows[0]["recipes"], 84);
  EXPECT_EQ(rows[2]["searched"], false);
}
