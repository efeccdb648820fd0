//===- SearchFaultTest.cpp - Searches in which something breaks -----------===//

#include "Search/World.h"

using namespace kernelbrain;
using namespace kernelbrain::testing;

TEST(SearchFault, EvaluatorErrorKeepsTheBest) {
  World world;
  world.workbench.errorAt = 30;
  ModuleOutcome outcome = world.run();
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->message, "worker died");
  EXPECT_EQ(outcome.stop, StopReason::Failed);
  EXPECT_EQ(outcome.kernels[0].stop, StopReason::Failed);
  ASSERT_TRUE(outcome.kernels[0].best);
  EXPECT_FALSE(outcome.kernels[0].winner);
  EXPECT_EQ(world.events.events.back().type, "run_finished");
  EXPECT_EQ(world.events.events.back().data["complete"], false);
}

TEST(SearchFault, ObserverErrorStopsTheRun) {
  World world;
  world.events.failAt = 10;
  ModuleOutcome outcome = world.run();
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->message, "disk full");
  EXPECT_EQ(world.events.events.size(), 10u);
}

TEST(SearchFault, HarnessFaultsAreRetriedAndCostNoVariant) {
  World world;
  world.workbench.faults = 2; // fewer than the retries of one question
  world.budget[Currency::Variants] = 10;
  ModuleOutcome outcome = world.run();
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(world.events.count("warning"), 2u);
  EXPECT_EQ(outcome.kernels[0].dispositions.count("harness_fault"), 0u);

  World worse;
  worse.workbench.faults = 3; // one question fails for good
  worse.budget[Currency::Variants] = 10;
  outcome = worse.run();
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(outcome.kernels[0].dispositions["harness_fault"], 1);
  EXPECT_EQ(outcome.spent[Currency::Variants], 10);
  // Not held against the variant: it comes back and is judged.
  std::vector<Trial> trials = worse.events.trials();
  std::string hash = trials[0].recipe.hash();
  EXPECT_EQ(trials[0].measurement.disposition, Disposition::HarnessFault);
  EXPECT_TRUE(
      std::any_of(trials.begin() + 1, trials.end(), [&](const Trial &trial) {
        return trial.recipe.hash() == hash;
      }));
}

TEST(SearchFault, HarnessFaultsInARowEndTheRun) {
  World world;
  world.workbench.faults = 1000;
  ModuleOutcome outcome = world.run();
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->message,
            "the harness failed 5 times in a row: runner lost");
}

TEST(SearchFault, BuildFaultsAreRetried) {
  World world;
  world.builder.faults = 2;
  ModuleOutcome outcome = world.run();
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(world.events.count("warning"), 2u);
}

TEST(SearchFault, InterruptStopsWithTheBest) {
  World world;
  world.services.interrupted = [&] { return world.events.count("trial") >= 8; };
  ModuleOutcome outcome = world.run();
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(outcome.stop, StopReason::Interrupted);
  EXPECT_TRUE(outcome.kernels[0].winner);
  // What was in flight is told, and not charged.
  EXPECT_EQ(outcome.kernels[0].dispositions["not_run"], 3);
  EXPECT_LE(outcome.spent[Currency::Variants], 8);
}

TEST(SearchFault, AnInterruptedAcceptanceHasNoWinnerAndIsNotRecorded) {
  World world;
  world.workbench.rejections = 1;
  world.workbench.rejection = Disposition::NotRun;
  ModuleOutcome outcome = world.run();
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(outcome.stop, StopReason::Interrupted);
  EXPECT_TRUE(outcome.kernels[0].best);
  EXPECT_EQ(world.events.count("accepted") + world.events.count("rolled_back"),
            0u);
  EXPECT_EQ(world.events.events.back().data["complete"], false);
}

TEST(SearchFault, APreparationThatFailsOnAnInterruptIsNoError) {
  World world;
  world.workbench.fails = true;
  bool interrupted = false;
  world.services.interrupted = [&] { return std::exchange(interrupted, true); };
  ModuleOutcome outcome = world.run();
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(outcome.stop, StopReason::Interrupted);

  World faulty;
  faulty.workbench.fails = true;
  EXPECT_TRUE(faulty.run().error);
}
