//===- TrialTest.cpp - JSON forms of the search ---------------------------===//

#include "kernelbrain/Search/Trial.h"

#include <gtest/gtest.h>

using namespace kernelbrain;
using namespace kernelbrain::search;

static Trial example() {
  Trial trial;
  trial.kernel = "k";
  trial.ticket = 7;
  trial.parent = 3;
  trial.step = StepKind::Repair;
  trial.proposer = "builtin";
  trial.rationale = "because";
  trial.recipe.strategy = "rows";
  trial.recipe.knobs["unroll"] = int64_t(4);
  trial.measurement.disposition = Disposition::Duplicate;
  trial.measurement.speedup = Ratio{1, 2, 3};
  trial.incumbent = true;
  trial.cell = "cell";
  trial.features = {{"vector", 8}};
  trial.irHash = "ir";
  trial.codeHash = "code";
  trial.artifact = "/a.so";
  trial.duplicateOf = 2;
  trial.inertKnobs = {"comment"};
  trial.faults = {"runner lost"};
  trial.costs = {1, 2, 3, 4, 5, 6, 7, 8};
  return trial;
}

TEST(Trial, RoundTrips) {
  Json json = toJson(example());
  Result<Trial> back = trialFromJson(json);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(dumpJson(toJson(*back)), dumpJson(json));
}

TEST(Trial, EveryMissingMemberIsAnError) {
  Json json = toJson(example());
  for (auto it = json.begin(); it != json.end(); ++it) {
    Json broken = json;
    broken.erase(it.key());
    Result<Trial> trial = trialFromJson(broken);
    ASSERT_FALSE(trial) << it.key();
    EXPECT_EQ(trial.error().message,
              "trial: member '" + it.key() + "' is missing");
  }
}

TEST(Trial, StepsHaveNames) {
  for (StepKind step :
       {StepKind::Seed, StepKind::Small, StepKind::Large, StepKind::Repair})
    EXPECT_EQ(stepKindFromString(toString(step)), step);
  EXPECT_FALSE(stepKindFromString("medium"));
}
