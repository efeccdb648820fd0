//===- LadderTest.cpp - Promotion from rung to rung -----------------------===//

#include "Testing/Fakes.h"

#include <gtest/gtest.h>

using namespace kernelbrain;
using namespace kernelbrain::testing;

namespace {
class LadderTest : public ::testing::Test {
protected:
  LadderTest()
      : builder({}), builds(builder, 2), workbench({}),
        prepared(*workbench.prepare(task().kernel)),
        ladder(*prepared.evaluator, builds, options) {
    rivals.incumbent = prepared.baseline;
  }
  static Artifact artifact(int64_t vector, int64_t unroll) {
    Recipe recipe = rowsSpace().defaultRecipe();
    recipe.knobs["vector"] = vector;
    recipe.knobs["unroll"] = unroll;
    Artifact artifact;
    artifact.manifest.recipe = toJson(recipe);
    return artifact;
  }

  LadderOptions options;
  FakeBuilder builder;
  BuildQueue builds;
  FakeWorkbench workbench;
  Preparation prepared;
  Ladder ladder;
  Rivals rivals;
  Trial trial;
};
} // namespace

TEST_F(LadderTest, ABetterVariantReachesRung4) {
  ASSERT_TRUE(ladder.climb(artifact(16, 4), rivals, true, trial));
  EXPECT_EQ(trial.measurement.rung, 4);
  EXPECT_TRUE(trial.incumbent);
  EXPECT_EQ(trial.measurement.disposition, Disposition::Passed);
  EXPECT_EQ(trial.costs.fullNs, 100000000);
  EXPECT_FALSE(builder.paused);
}

TEST_F(LadderTest, ANewIncumbentIsProfiled) {
  auto &evaluator = static_cast<FakeEvaluator &>(*prepared.evaluator);
  evaluator.profiled = Profile();
  evaluator.profiled->values[counter::memoryPercent] = 70;
  ASSERT_TRUE(ladder.climb(artifact(16, 4), rivals, true, trial));
  ASSERT_TRUE(trial.measurement.profile);
  EXPECT_EQ(trial.measurement.profile->value(counter::memoryPercent), 70.0);
  EXPECT_EQ(trial.measurement.rung, 5);
  EXPECT_EQ(trial.costs.profileNs, 7000000);
  EXPECT_TRUE(trial.faults.empty());
  EXPECT_FALSE(builder.paused);
  // It is written down, and costs device time like the other rungs.
  Result<Trial> read = trialFromJson(toJson(trial));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->measurement.profile->value(counter::memoryPercent), 70.0);
  EXPECT_EQ(read->costs.deviceNs(), trial.costs.deviceNs());

  Trial loser;
  rivals.incumbent = artifact(16, 4);
  rivals.incumbentSpeedup = 6.285;
  ASSERT_TRUE(ladder.climb(artifact(4, 1), rivals, true, loser));
  EXPECT_FALSE(loser.measurement.profile);
  EXPECT_EQ(loser.costs.profileNs, 0);
}

TEST_F(LadderTest, AWorseVariantOfAKnownKindStopsAtRung3) {
  rivals.incumbent = artifact(16, 4);
  rivals.incumbentSpeedup = 6.285;
  rivals.cellElite = 6.285;
  ASSERT_TRUE(ladder.climb(artifact(4, 1), rivals, true, trial));
  EXPECT_EQ(trial.measurement.rung, 3);
  EXPECT_FALSE(trial.incumbent);
  // Slower than the incumbent, faster than the baseline.
  EXPECT_EQ(trial.measurement.disposition, Disposition::Passed);
  EXPECT_NEAR(trial.measurement.speedup->middle, 100000.0 / 45000, 0.01);
  EXPECT_EQ(trial.costs.fullNs, 0);
}

TEST_F(LadderTest, AnEmptyCellEarnsOnePromotion) {
  rivals.incumbent = artifact(16, 4);
  rivals.incumbentSpeedup = 6.285;
  ASSERT_TRUE(ladder.climb(artifact(4, 1), rivals, true, trial));
  EXPECT_EQ(trial.measurement.rung, 4);
  EXPECT_FALSE(trial.incumbent); // not a free pass
}

TEST_F(LadderTest, TheEliteOfTheCellIsWhatCounts) {
  LadderOptions options;
  Rivals rivals;
  rivals.incumbentSpeedup = 4;
  rivals.cellElite = 2;
  EXPECT_TRUE(Ladder::worthFullTiming({0.4, 0.5, 0.51}, rivals, options));
  EXPECT_FALSE(Ladder::worthFullTiming({0.3, 0.4, 0.49}, rivals, options));
  EXPECT_TRUE(Ladder::worthFullTiming({0.9, 1.0, 1.02}, rivals, options));
}

TEST_F(LadderTest, FaultsAreAskedAgain) {
  workbench.faults = 2;
  ASSERT_TRUE(ladder.climb(artifact(8, 1), rivals, true, trial));
  EXPECT_EQ(trial.faults.size(), 2u);
  EXPECT_EQ(trial.measurement.rung, 4);
  EXPECT_EQ(trial.costs.checkNs, 3 * 10000000);
  workbench.faults = 3;
  trial = Trial();
  ASSERT_TRUE(ladder.climb(artifact(8, 1), rivals, true, trial));
  EXPECT_EQ(trial.measurement.disposition, Disposition::HarnessFault);
}

TEST_F(LadderTest, AcceptanceMustBeatTheBaselineBeyondNoise) {
  Result<Measurement> verdict =
      ladder.accept(artifact(16, 4), prepared.baseline);
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->disposition, Disposition::Passed);
  EXPECT_EQ(verdict->rung, 6);
  verdict = ladder.accept(prepared.baseline, prepared.baseline);
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->disposition, Disposition::Slower);
}
