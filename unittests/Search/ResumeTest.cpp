//===- ResumeTest.cpp - A resumed run is the same run ---------------------===//

#include "Search/World.h"

using namespace kernelbrain;
using namespace kernelbrain::testing;

static Recording recordingOf(const std::vector<Event> &events, size_t count) {
  Recording recording;
  for (size_t i = 0; i < count; ++i) {
    Status status = recording.add(events[i]);
    EXPECT_TRUE(status);
  }
  return recording;
}

TEST(Resume, EveryPrefixGivesTheSameEvents) {
  World whole;
  whole.tasks = {task("a", 0.7), task("b", 0.295), task("c", 0.005)};
  whole.budget[Currency::Variants] = 15;
  whole.run();
  for (size_t count = 0; count <= whole.events.events.size(); ++count) {
    Recording recording = recordingOf(whole.events.events, count);
    World world({}, /*shuffle=*/count + 1);
    world.tasks = whole.tasks;
    world.budget = whole.budget;
    world.services.recording = &recording;
    ModuleOutcome outcome = world.run();
    ASSERT_EQ(world.events.lines(), whole.events.lines()) << count;
    EXPECT_LE(outcome.spent[Currency::Variants], 15);
  }
}

TEST(Resume, ACompleteRecordingNeedsNoDevice) {
  World whole;
  whole.run();
  Recording recording =
      recordingOf(whole.events.events, whole.events.events.size());
  World world;
  world.services.recording = &recording;
  ModuleOutcome outcome = world.run();
  EXPECT_EQ(world.workbench.prepared, 0);
  EXPECT_EQ(world.builder.submitted, 0);
  EXPECT_TRUE(outcome.kernels[0].winner);
}

TEST(Resume, RecordedCostsCountAgainstTheBudget) {
  World first;
  first.budget[Currency::Variants] = 10;
  first.run();
  Recording recording =
      recordingOf(first.events.events, first.events.events.size());
  World world;
  world.budget[Currency::Variants] = 14;
  world.services.recording = &recording;
  ModuleOutcome outcome = world.run();
  EXPECT_EQ(outcome.spent[Currency::Variants], 14);
  EXPECT_LT(world.builder.submitted, 14);
}

TEST(Resume, AnInterruptedRunGoesOn) {
  World whole;
  whole.run();
  World first;
  first.services.interrupted = [&] { return first.events.count("trial") >= 9; };
  first.run();
  // What was not run is run now; the rest is taken as it was.
  Recording recording =
      recordingOf(first.events.events, first.events.events.size());
  EXPECT_EQ(recording.trials(), 9u);
  World world;
  world.services.recording = &recording;
  world.run();
  EXPECT_EQ(world.events.lines(), whole.events.lines());
}

TEST(Resume, ATrialOfAnotherRecipeIsNotUsed) {
  World first;
  first.run();
  Recording recording =
      recordingOf(first.events.events, first.events.events.size());
  World other, resumed;
  other.options.seed = resumed.options.seed = 9;
  other.run();
  resumed.services.recording = &recording;
  resumed.run();
  EXPECT_EQ(other.tree(), resumed.tree());
}

TEST(Resume, BadEventsAreErrors) {
  Recording recording;
  EXPECT_TRUE(recording.add({"run_started", Json::object()}));
  Status status = recording.add({"trial", Json::object()});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "trial: member 'kernel' is missing");
  EXPECT_FALSE(recording.add({"baseline", Json::array()}));
  EXPECT_FALSE(recording.add({"accepted", {{"kernel", 3}}}));
}
