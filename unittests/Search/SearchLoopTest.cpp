//===- SearchLoopTest.cpp - The search of one kernel ----------------------===//

#include "Search/World.h"

using namespace kernelbrain;
using namespace kernelbrain::testing;

TEST(SearchLoop, FindsAndAcceptsTheBest) {
  World world;
  ModuleOutcome outcome = world.run();
  ASSERT_FALSE(outcome.error) << outcome.error->message;
  ASSERT_EQ(outcome.kernels.size(), 1u);
  ASSERT_TRUE(outcome.kernels[0].winner) << world.tree();
  // rows, vector 16, unroll 4 takes 15910 ns: the best of the landscape.
  EXPECT_EQ(knob(outcome.kernels[0].winner->recipe, "vector"), 16)
      << world.tree();
  EXPECT_EQ(knob(outcome.kernels[0].winner->recipe, "unroll"), 4);
  EXPECT_NEAR(outcome.kernels[0].winner->measurement.speedup->middle, 6.285,
              0.01);
  EXPECT_EQ(world.events.events.front().type, "run_started");
  EXPECT_EQ(world.events.events.back().type, "run_finished");
  EXPECT_EQ(world.events.count("accepted"), 1u);
}

TEST(SearchLoop, SeedsEveryStrategyFirst) {
  World world;
  world.run();
  std::vector<Trial> trials = world.events.trials();
  ASSERT_GE(trials.size(), 3u);
  EXPECT_EQ(trials[0].step, StepKind::Seed);
  EXPECT_EQ(trials[1].step, StepKind::Seed);
  EXPECT_NE(trials[0].recipe.strategy, trials[1].recipe.strategy);
  EXPECT_NE(trials[2].step, StepKind::Seed);
}

TEST(SearchLoop, SameSeedSameEventsForAnyBuildOrder) {
  World reference;
  reference.run();
  for (uint64_t shuffle = 1; shuffle <= 10; ++shuffle) {
    World world({}, shuffle);
    world.run();
    EXPECT_EQ(world.events.lines(), reference.events.lines());
    EXPECT_EQ(world.tree(), reference.tree());
  }
}

TEST(SearchLoop, AnotherSeedAnotherTree) {
  World first, second;
  second.options.seed = 1;
  first.run();
  second.run();
  EXPECT_NE(first.tree(), second.tree());
}

/// Remembers what each proposal could know.
class Spy : public Proposer {
public:
  Result<Proposal> propose(const ProposeContext &context,
                           Random &random) override {
    asked.push_back({context.ticket, applied->count("trial")});
    return inner.propose(context, random);
  }
  const Collector *applied = nullptr;
  std::vector<std::pair<uint64_t, size_t>> asked;

private:
  propose::BuiltinProposer inner;
};

TEST(SearchLoop, ProposesBehindTheWindowOnly) {
  World world;
  Spy spy;
  spy.applied = &world.events;
  world.services.proposer = &spy;
  world.options.window = 3;
  world.run();
  ASSERT_GT(spy.asked.size(), 10u);
  for (auto [ticket, applied] : spy.asked)
    if (ticket > 3 && ticket <= 30)
      EXPECT_EQ(applied, ticket - 3);
}

TEST(SearchLoop, DuplicatesAreMergedAndFree) {
  World world;
  ModuleOutcome outcome = world.run();
  int duplicates = 0, variants = 0;
  std::set<std::string> recipes;
  for (const Trial &trial : world.events.trials()) {
    EXPECT_TRUE(recipes.insert(trial.recipe.hash()).second);
    if (trial.measurement.disposition == Disposition::NotRun)
      continue;
    if (trial.measurement.disposition != Disposition::Duplicate) {
      ++variants;
      continue;
    }
    ++duplicates;
    EXPECT_EQ(trial.inertKnobs, std::vector<std::string>{"comment"});
    EXPECT_LT(trial.duplicateOf, trial.ticket);
    EXPECT_EQ(trial.costs.deviceNs(), 0);
  }
  EXPECT_GT(duplicates, 0);
  EXPECT_EQ(outcome.spent[Currency::Variants], variants);
  EXPECT_LE(variants, 40);
}

TEST(SearchLoop, RollsBackAndTriesTheNext) {
  World world;
  world.workbench.rejections = 1;
  ModuleOutcome outcome = world.run();
  EXPECT_EQ(world.events.count("rolled_back"), 1u);
  EXPECT_EQ(world.events.count("accepted"), 1u);
  ASSERT_TRUE(outcome.kernels[0].winner);
  EXPECT_NE(outcome.kernels[0].winner->ticket, outcome.kernels[0].best->ticket);

  World hopeless;
  hopeless.workbench.rejections = 100;
  outcome = hopeless.run();
  EXPECT_EQ(hopeless.events.count("rolled_back"), 3u);
  EXPECT_FALSE(outcome.kernels[0].winner);
}

TEST(SearchLoop, EarlierWinnersAreTriedFirst) {
  World world;
  Recipe seed = tilesSpace().defaultRecipe();
  seed.knobs["m"] = int64_t(8);
  Recipe unknown;
  unknown.strategy = "gone";
  world.tasks[0].seeds = {unknown, seed, seed};
  world.run();
  std::vector<Trial> trials = world.events.trials();
  EXPECT_EQ(trials[0].measurement.disposition, Disposition::NotApplicable);
  EXPECT_EQ(trials[1].recipe, seed);
  EXPECT_EQ(trials[1].proposer, "database");
  EXPECT_NE(trials[2].proposer, "database");
}

/// Says the same for ever.
class Parrot : public Proposer {
public:
  Result<Proposal> propose(const ProposeContext &context, Random &) override {
    ++asked;
    Proposal proposal;
    proposal.recipe = context.spaces->front().defaultRecipe();
    proposal.proposer = "parrot";
    proposal.tokens = 10;
    return proposal;
  }
  int asked = 0;
};

TEST(SearchLoop, AProposerThatRepeatsItselfEnds) {
  World world;
  Parrot parrot;
  world.services.proposer = &parrot;
  ModuleOutcome outcome = world.run();
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(outcome.kernels[0].stop, StopReason::Exhausted);
  EXPECT_EQ(outcome.kernels[0].trials, 1u);
  EXPECT_LE(parrot.asked, 60);
}

/// The first ticket is a rewritten kernel, all others are the built-in
/// proposer's.
class Rewriter : public Proposer {
public:
  explicit Rewriter(std::string payload) : payload(std::move(payload)) {}
  Result<Proposal> propose(const ProposeContext &context,
                           Random &random) override {
    if (context.ticket > 1)
      return builtin.propose(context, random);
    Result<PayloadReading> reading = context.readPayload(payload);
    EXPECT_TRUE(reading);
    disposition = reading->disposition;
    Proposal proposal;
    proposal.proposer = "rewriter";
    proposal.recipe.payload = payload;
    proposal.recipe.strategy = "stock";
    return proposal;
  }
  std::string payload;
  Disposition disposition = Disposition::NotRun;
  propose::BuiltinProposer builtin;
};

TEST(SearchLoop, StepsFromARewrittenKernelKeepItsBody) {
  Landscape landscape;
  auto time = landscape.time;
  landscape.time = [time](const Recipe &recipe) {
    return time(recipe) / (recipe.payload.empty() ? 1 : 20);
  };
  World world(landscape);
  // What the original's model calls a bound is none for another algorithm.
  world.tasks[0].cost = modelOf(landscape, 20000);
  Rewriter rewriter("good one");
  world.services.proposer = &rewriter;
  ModuleOutcome outcome = world.run();
  EXPECT_EQ(rewriter.disposition, Disposition::Passed);
  std::vector<Trial> trials = world.events.trials();
  // No space of the original knows "stock"; the builder may judge it.
  EXPECT_EQ(trials[0].measurement.disposition, Disposition::Passed);
  size_t tuned = 0;
  for (const Trial &trial : trials)
    if (trial.ticket > 1 && !trial.recipe.payload.empty()) {
      EXPECT_NE(trial.recipe.strategy, "rows");
      tuned += trial.recipe.strategy == "tiles";
    }
  EXPECT_GT(tuned, 0u);
  EXPECT_EQ(world.builder.payloadsRead, 2) << "once to propose, once for steps";
  ASSERT_TRUE(outcome.kernels[0].winner);
  EXPECT_EQ(outcome.kernels[0].winner->recipe.payload, "good one");
}

TEST(SearchLoop, NoStepsFromWhatCannotBeRead) {
  World world;
  Rewriter rewriter("bad");
  world.services.proposer = &rewriter;
  world.run();
  EXPECT_EQ(rewriter.disposition, Disposition::InvalidRecipe);
  for (const Trial &trial : world.events.trials())
    EXPECT_EQ(trial.recipe.payload.empty(), trial.ticket != 1);
}

TEST(SearchLoop, ModelledBuildTimesReplaceMeasuredOnes) {
  World world;
  world.options.modelledBuildNs = 7;
  world.run();
  for (const Trial &trial : world.events.trials())
    if (trial.measurement.rung > 0)
      EXPECT_EQ(trial.costs.compileNs(), 7);
}

TEST(SearchLoop, PrintsTheTree) {
  World world;
  world.run();
  std::string tree = world.tree();
  EXPECT_NE(tree.find("kernel @k\n  0 baseline stock 100000 ns\n"),
            std::string::npos)
      << tree;
  EXPECT_NE(tree.find("*"), std::string::npos) << tree;
  EXPECT_NE(tree.find(" -> "), std::string::npos) << tree;
  EXPECT_NE(tree.find("duplicate of "), std::string::npos) << tree;
}

TEST(SearchLoop, TheTreeSaysWhatBoundsNewIncumbents) {
  World world;
  world.workbench.profiled = Profile();
  world.workbench.profiled->values[counter::memoryPercent] = 70;
  world.run();
  std::string tree = world.tree();
  EXPECT_NE(tree.find(") memory bandwidth (memory 70% of peak)\n"),
            std::string::npos)
      << tree;
  for (const Trial &trial : world.events.trials())
    EXPECT_EQ(trial.measurement.profile.has_value(), trial.incumbent);
}

TEST(SearchLoop, RefusedCountersAreSaidOnce) {
  World world;
  world.tasks.push_back(task("another", 1));
  world.workbench.profiled = Profile();
  world.workbench.profiled->refused = "no libcupti";
  world.run();
  int said = 0, incumbents = 0;
  for (const Event &event : world.events.events)
    said += event.type == "warning" &&
            event.data["message"] == "no hardware counters, profiles are by "
                                     "the model: no libcupti";
  for (const Trial &trial : world.events.trials()) {
    incumbents += trial.incumbent;
    EXPECT_LE(trial.measurement.rung, 4); // nothing was counted
  }
  EXPECT_EQ(said, 1);
  EXPECT_GT(incumbents, 1);
}
