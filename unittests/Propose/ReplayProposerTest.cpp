//===- ReplayProposerTest.cpp - Recorded proposals ------------------------===//

#include "kernelbrain/Propose/ReplayProposer.h"
#include "Search/World.h"

#include <fstream>

using namespace kernelbrain;
using namespace kernelbrain::propose;
using namespace kernelbrain::testing;

static std::string recordedRun() {
  World world;
  world.run();
  return world.events.text();
}

static ModuleOutcome replay(const std::string &text, World &world) {
  Result<ReplayProposer> proposer = ReplayProposer::fromText(text, "log");
  EXPECT_TRUE(proposer) << proposer.error().message;
  world.services.proposer = &*proposer;
  return world.run();
}

TEST(ReplayProposer, RepeatsARun) {
  std::string text = recordedRun();
  World first, world;
  first.run();
  ModuleOutcome outcome = replay(text, world);
  EXPECT_FALSE(outcome.error);
  std::vector<Trial> trials = world.events.trials(),
                     expected = first.events.trials();
  ASSERT_EQ(trials.size(), expected.size());
  for (size_t i = 0; i < trials.size(); ++i)
    EXPECT_EQ(trials[i].recipe, expected[i].recipe);
  EXPECT_EQ(trials.front().proposer, "replay");
}

TEST(ReplayProposer, FailsWhereTheRecordingEnds) {
  std::string text = recordedRun(), cut;
  std::stringstream lines(text);
  int trials = 0;
  for (std::string line; trials < 6 && std::getline(lines, line);) {
    trials += line.find("\"type\":\"trial\"") != std::string::npos;
    cut += line + "\n";
  }
  World world;
  ModuleOutcome outcome = replay(cut, world);
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->message,
            "cannot propose ticket 7 of 'k': the recording 'log' ends before "
            "ticket 7 of kernel 'k'");
}

TEST(ReplayProposer, AFinishedRecordingIsExhausted) {
  World world;
  world.budget = Budget(); // more than the recorded run had
  world.options.stop.plateau = 0;
  ModuleOutcome outcome = replay(recordedRun(), world);
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(outcome.kernels[0].stop, StopReason::Exhausted);
}

TEST(ReplayProposer, FailsWhereItDoesNotMatch) {
  std::string text = recordedRun();
  World changed;
  changed.tasks[0].spaces[0].strategyHash = "r2";
  ModuleOutcome outcome = replay(text, changed);
  ASSERT_TRUE(outcome.error);
  EXPECT_NE(outcome.error->message.find("version 'r1' of strategy 'rows'"),
            std::string::npos);
  World missing;
  missing.tasks[0].spaces.pop_back();
  outcome = replay(text, missing);
  ASSERT_TRUE(outcome.error);
  EXPECT_NE(outcome.error->message.find("'tiles', which does not apply"),
            std::string::npos);
  World renamed;
  renamed.tasks[0].kernel.name = "other";
  outcome = replay(text, renamed);
  ASSERT_TRUE(outcome.error);
  EXPECT_NE(outcome.error->message.find("has no kernel 'other'"),
            std::string::npos);
}

TEST(ReplayProposer, TakesRewrittenKernelsOfAnyVersion) {
  Trial trial;
  trial.kernel = "k";
  trial.ticket = 1;
  trial.step = search::StepKind::Seed;
  trial.measurement.disposition = Disposition::Passed;
  trial.measurement.details = Json::object();
  trial.features = Json::object();
  trial.recipe.payload = "good";
  trial.recipe.strategy = "tiles";
  trial.recipe.knobs = tilesSpace().defaultRecipe().knobs;
  Event event{"trial", toJson(trial)};
  Event end{"kernel_finished", {{"kernel", "k"}, {"stop", "exhausted"}}};
  World world;
  ModuleOutcome outcome = replay(
      dumpJson(toJson(event)) + "\n" + dumpJson(toJson(end)) + "\n", world);
  EXPECT_FALSE(outcome.error) << outcome.error->message;
  ASSERT_EQ(world.events.trials().size(), 1u);
  EXPECT_EQ(world.events.trials()[0].recipe.payload, "good");
}

TEST(ReplayProposer, BadFilesAreErrors) {
  EXPECT_FALSE(ReplayProposer::fromFile("/nowhere/log"));
  Result<ReplayProposer> bad = ReplayProposer::fromText("{}\n", "log");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().message.substr(0, 6), "log:1:");
  bad = ReplayProposer::fromText("\nnot json\n", "log");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().message.rfind("log:2: invalid JSON", 0), 0u);
  EXPECT_FALSE(ReplayProposer::fromText("", "log"));
}

TEST(ReplayProposer, ReadsFiles) {
  std::string path = ::testing::TempDir() + "kb-replay-test.jsonl";
  std::ofstream(path) << recordedRun();
  EXPECT_TRUE(ReplayProposer::fromFile(path));
  std::remove(path.c_str());
}
