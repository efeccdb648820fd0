//===- LlmSearchTest.cpp - Searches that a model takes part in ------------===//

#include "FakeChat.h"
#include "kernelbrain/Propose/LlmProposer.h"
#include "kernelbrain/Propose/MixedProposer.h"

#include <gtest/gtest.h>

using namespace kernelbrain;
using namespace kernelbrain::propose;
using namespace kernelbrain::testing;

/// Turns a knob that the question says was not tried; another one if that is
/// refused.
static ChatReply sensible(const ChatRequest &request, int) {
  const std::string &question = request.messages[1].content;
  std::string last = question.substr(question.rfind("question ") + 9);
  int draw = std::stoi(last) + static_cast<int>(request.messages.size());
  size_t at = question.find("next to it: ");
  Json answer = {{"rationale", "try it"}, {"knobs", Json::array()}};
  if (at == std::string::npos || question.compare(at + 12, 2, "no") == 0) {
    answer["strategy"] = "tiles";
    answer["knobs"].push_back({{"name", "m"}, {"value", 1 << (draw % 6)}});
    answer["knobs"].push_back({{"name", "n"}, {"value", 1 << (draw / 6 % 6)}});
  } else {
    std::string list = question.substr(at + 12);
    list = list.substr(0, list.find_first_of(";."));
    size_t name = list.find(' ');
    size_t value = draw % 2 ? list.rfind(' ') : name;
    answer["knobs"].push_back({{"name", list.substr(0, name)},
                               {"value", std::stoi(list.substr(value))}});
  }
  return answered(answer.dump());
}

namespace {
struct LlmWorld {
  explicit LlmWorld(FakeChat::Script script, unsigned ahead = 4,
                    bool mixed = false)
      : builder({}), workbench({}) {
    auto service = std::make_unique<FakeChat>(std::move(script));
    chat = service.get();
    proposer = std::make_unique<LlmProposer>(LlmOptions(), std::move(service));
    if (mixed)
      proposer = std::make_unique<MixedProposer>(std::move(proposer));
    services.builder = &builder;
    services.workbench = &workbench;
    services.proposer = proposer.get();
    services.observers = {&events};
    options.askAhead = ahead;
    budget[Currency::Variants] = 40;
  }
  ModuleOutcome run() {
    return ModuleSearch({task()}, services, options, budget).run();
  }
  int64_t tokens() {
    return getIntegerOr(*getObject(events.events.back().data, "spent"),
                        "tokens", -1);
  }
  std::map<std::string, int> proposers() {
    std::map<std::string, int> counts;
    for (const Trial &trial : events.trials())
      ++counts[trial.proposer];
    return counts;
  }

  FakeBuilder builder;
  FakeWorkbench workbench;
  FakeChat *chat;
  std::unique_ptr<Proposer> proposer;
  Collector events;
  Services services;
  SearchOptions options;
  Budget budget;
};
} // namespace

TEST(LlmSearch, SeveralQuestionsAreOnTheirWayAndAllAreBooked) {
  LlmWorld world(sensible);
  ModuleOutcome outcome = world.run();
  ASSERT_FALSE(outcome.error);
  EXPECT_GE(world.chat->most, 4u);
  EXPECT_LE(world.chat->most, 8u);
  EXPECT_TRUE(world.chat->open.empty());
  EXPECT_GT(world.proposers()["llm"], 20);
  // Answers and what was given up: every request is in the ledger.
  int64_t given = 0;
  for (size_t i = 0; i < world.chat->requests.size(); ++i)
    given += 120;
  EXPECT_GE(world.tokens(), given - 120 * world.chat->cancelled);
}

TEST(LlmSearch, WithoutAskingAheadOneAtATime) {
  LlmWorld world(sensible, 0);
  ASSERT_FALSE(world.run().error);
  EXPECT_EQ(world.chat->most, 1u);
  EXPECT_EQ(world.tokens(), 120 * int64_t(world.chat->requests.size()));
}

TEST(LlmSearch, EqualAnswersEqualTree) {
  LlmWorld one(sensible), other(sensible);
  one.run();
  other.run();
  EXPECT_EQ(one.events.text(), other.events.text());
}

TEST(LlmSearch, NothingThatAModelDoesLosesTheRun) {
  auto junk = [](const ChatRequest &, int number) {
    switch (number % 4) {
    case 0:
      return answered("{\"rationale\": \"\", \"payload\": \"}}}{{{\"}");
    case 1:
      return answered("");
    case 2:
      return failedWith(ChatOutcome::Unreachable, "gone");
    default:
      return failedWith(ChatOutcome::Malformed, "the reply is no JSON");
    }
  };
  LlmWorld world(junk);
  ModuleOutcome outcome = world.run();
  ASSERT_FALSE(outcome.error);
  EXPECT_TRUE(outcome.kernels[0].winner);
  for (const Trial &trial : world.events.trials())
    EXPECT_TRUE(trial.proposer == "llm" || trial.step == StepKind::Seed ||
                !trial.fallback.empty());
}

TEST(LlmSearch, MixedKeepsItsFloors) {
  LlmWorld world(sensible, 4, /*mixed=*/true);
  ASSERT_FALSE(world.run().error);
  std::map<std::string, int> counts = world.proposers();
  int all = counts["llm"] + counts["builtin"];
  EXPECT_GE(counts["llm"] * 4, all - 8);
  EXPECT_GE(counts["builtin"] * 4, all - 8);
}

TEST(MixedProposer, TheShareFollowsTheGain) {
  ProposeContext context;
  EXPECT_EQ(MixedProposer::modelShare(context), 0.5);
  context.records["llm"] = {100, 10, 1000};
  context.records["builtin"] = {100, 0.1, 1000};
  EXPECT_EQ(MixedProposer::modelShare(context), 0.75);
  std::swap(context.records["llm"], context.records["builtin"]);
  EXPECT_EQ(MixedProposer::modelShare(context), 0.25);
  context.records["builtin"].costNs = 100000; // as good, for its time
  EXPECT_NEAR(MixedProposer::modelShare(context), 0.5, 0.01);
}
