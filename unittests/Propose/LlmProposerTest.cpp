//===- LlmProposerTest.cpp - Proposals of a model -------------------------===//

#include "kernelbrain/Propose/LlmProposer.h"
#include "FakeChat.h"

#include <gtest/gtest.h>

using namespace kernelbrain;
using namespace kernelbrain::propose;
using namespace kernelbrain::testing;

static const char *const goodAnswer =
    R"({"rationale": "wider", "knobs": [{"name": "vector", "value": 8}]})";

namespace {
class LlmProposerTest : public ::testing::Test {
protected:
  LlmProposerTest() {
    context.kernel = &work.kernel;
    context.spaces = &work.spaces;
    context.cost = work.cost;
    context.seen = [](const Recipe &) { return false; };
    context.parent.recipe = rowsSpace().defaultRecipe();
    context.parent.ticket = 1;
    context.step = StepKind::Small;
    work.kernel.text = "kb.kernel @kernel {}";
  }
  LlmProposer make(FakeChat::Script script) {
    auto service = std::make_unique<FakeChat>(std::move(script));
    chat = service.get();
    return LlmProposer(options, std::move(service));
  }
  Proposal ask(Proposer &proposer) {
    ++context.question;
    Random random({context.question});
    Result<Proposal> proposal = proposer.propose(context, random);
    EXPECT_TRUE(proposal);
    return *proposal;
  }

  KernelTask work = task();
  ProposeContext context;
  LlmOptions options;
  FakeChat *chat = nullptr;
};
} // namespace

TEST_F(LlmProposerTest, AnAnswerIsAProposal) {
  options.promptPrice = 0.5;
  options.replyPrice = 2;
  LlmProposer proposer =
      make([](const ChatRequest &, int) { return answered(goodAnswer); });
  Proposal proposal = ask(proposer);
  EXPECT_EQ(proposal.proposer, "llm");
  EXPECT_EQ(proposal.rationale, "wider");
  EXPECT_EQ(knob(proposal.recipe, "vector"), 8);
  EXPECT_EQ(proposal.fallback, "");
  EXPECT_EQ(proposal.tokens, 120);
  EXPECT_EQ(proposal.microMoney, 90); // 100 * 0.5 + 20 * 2 a million
  ASSERT_EQ(chat->requests.size(), 1u);
  const std::string &question = chat->requests[0].messages[1].content;
  for (const char *part : {"kb.kernel @kernel {}", "unroll: 1 2 4 8",
                           "Change variant 1", "must hold"})
    EXPECT_NE(question.find(part), std::string::npos) << question;
  EXPECT_EQ(question.find("{{"), std::string::npos) << question;
}

TEST_F(LlmProposerTest, AQuestionSaysWhatBoundsAVariant) {
  LlmProposer proposer =
      make([](const ChatRequest &, int) { return answered(goodAnswer); });
  context.parent.measurement.profile = Profile();
  context.parent.measurement.profile->values[counter::conflictPercent] = 50;
  context.parent.measurement.profile->values[counter::memoryPercent] = 20;
  ask(proposer);
  const std::string &question = chat->requests[0].messages[1].content;
  EXPECT_NE(
      question.find("bound by shared memory bank conflicts (memory 20% of "
                    "peak, 50% of shared memory passes are conflicts)"),
      std::string::npos)
      << question;
}

TEST_F(LlmProposerTest, SeedsAreTheBuiltInPolicys) {
  LlmProposer proposer =
      make([](const ChatRequest &, int) { return answered(goodAnswer); });
  context.step = StepKind::Seed;
  Proposal proposal = ask(proposer);
  EXPECT_EQ(proposal.proposer, "builtin");
  EXPECT_EQ(proposal.fallback, "");
  EXPECT_TRUE(chat->requests.empty());
}

TEST_F(LlmProposerTest, AWrongAnswerIsRepairedWithItsError) {
  LlmProposer proposer = make([](const ChatRequest &, int number) {
    return answered(number == 1 ? R"({"rationale": 7})" : goodAnswer);
  });
  Proposal proposal = ask(proposer);
  EXPECT_EQ(proposal.proposer, "llm");
  EXPECT_EQ(proposal.tokens, 240);
  ASSERT_EQ(chat->requests.size(), 2u);
  const std::vector<ChatMessage> &messages = chat->requests[1].messages;
  ASSERT_EQ(messages.size(), 4u);
  EXPECT_EQ(messages[2].role, "assistant");
  EXPECT_NE(messages[3].content.find("'rationale' must be a string"),
            std::string::npos);
}

TEST_F(LlmProposerTest, AfterTwoRepairsTheBuiltInPolicyAnswers) {
  LlmProposer proposer =
      make([](const ChatRequest &, int) { return answered("no"); });
  Proposal proposal = ask(proposer);
  EXPECT_EQ(chat->requests.size(), 3u);
  EXPECT_EQ(proposal.proposer, "builtin");
  EXPECT_EQ(proposal.fallback, "no usable answer: it holds no JSON object");
  EXPECT_EQ(proposal.tokens, 360);
  EXPECT_FALSE(proposal.exhausted);
}

TEST_F(LlmProposerTest, ACutOffAnswerGetsMoreRoomOnce) {
  LlmProposer proposer = make([](const ChatRequest &, int) {
    ChatReply reply = answered("");
    reply.finish = "length";
    return reply;
  });
  Proposal proposal = ask(proposer);
  ASSERT_EQ(chat->requests.size(), 3u);
  EXPECT_EQ(chat->requests[1].replyTokens, 2 * options.replyTokens);
  EXPECT_EQ(chat->requests[2].replyTokens, 2 * options.replyTokens);
  EXPECT_NE(proposal.fallback.find("cut off"), std::string::npos);
}

TEST_F(LlmProposerTest, AMissingUsageIsChargedAtItsWorst) {
  LlmProposer proposer = make([](const ChatRequest &, int) {
    ChatReply reply = answered(goodAnswer);
    reply.promptTokens.reset();
    return reply;
  });
  Proposal proposal = ask(proposer);
  EXPECT_EQ(proposal.tokens, chat->requests[0].worstTokens);
  EXPECT_GT(proposal.tokens, options.replyTokens);
}

TEST_F(LlmProposerTest, TokensNeverExceedTheirLimit) {
  options.maxTokens = 20000;
  int64_t spent = 0;
  LlmProposer proposer = make([](const ChatRequest &request, int) {
    ChatReply reply = answered(goodAnswer);
    reply.promptTokens = request.worstTokens - request.replyTokens;
    reply.replyTokens = request.replyTokens;
    return reply;
  });
  int models = 0, warnings = 0;
  for (int i = 0; i < 20; ++i) {
    Proposal proposal = ask(proposer);
    spent += proposal.tokens;
    models += proposal.proposer == "llm";
    warnings += static_cast<int>(proposal.warnings.size());
    EXPECT_EQ(proposal.proposer == "builtin", !proposal.fallback.empty());
  }
  EXPECT_GT(models, 3);
  EXPECT_LT(models, 20);
  EXPECT_LE(spent, 20000);
  EXPECT_EQ(warnings, 1);
}

TEST_F(LlmProposerTest, MoneyNeverExceedsItsLimit) {
  options.maxMicroMoney = 10000;
  options.promptPrice = options.replyPrice = 1;
  LlmProposer proposer = make([](const ChatRequest &request, int) {
    ChatReply reply = answered(goodAnswer);
    reply.promptTokens = request.worstTokens - request.replyTokens;
    reply.replyTokens = request.replyTokens;
    return reply;
  });
  int64_t spent = 0;
  for (int i = 0; i < 20; ++i)
    spent += ask(proposer).microMoney;
  EXPECT_GT(spent, 5000);
  EXPECT_LE(spent, 10000);
}

TEST_F(LlmProposerTest, DeniedMeansNotAskedAgain) {
  for (ChatOutcome outcome : {ChatOutcome::Denied, ChatOutcome::OverQuota}) {
    LlmProposer proposer = make([outcome](const ChatRequest &, int) {
      return failedWith(outcome, "HTTP status 401");
    });
    Proposal first = ask(proposer);
    EXPECT_EQ(first.proposer, "builtin");
    ASSERT_EQ(first.warnings.size(), 1u);
    EXPECT_NE(first.warnings[0].find("not asked any more"), std::string::npos);
    Proposal second = ask(proposer);
    EXPECT_NE(second.fallback.find("HTTP status 401"), std::string::npos);
    EXPECT_TRUE(second.warnings.empty());
    EXPECT_EQ(chat->requests.size(), 1u);
  }
}

TEST_F(LlmProposerTest, FourFailuresInARowAreEnough) {
  // Two are, of a server that was never heard of.
  for (auto [first, most] : {std::pair(ChatOutcome::TimedOut, 2u),
                             std::pair(ChatOutcome::Busy, 4u)}) {
    LlmProposer proposer = make([first = first](const ChatRequest &, int n) {
      return failedWith(n == 1 ? first : ChatOutcome::TimedOut, "no");
    });
    int warnings = 0;
    for (int i = 0; i < 10; ++i)
      warnings += static_cast<int>(ask(proposer).warnings.size());
    EXPECT_EQ(chat->requests.size(), most);
    EXPECT_EQ(warnings, 1);
  }
  // One answer in between, and they are not in a row.
  LlmProposer other = make([](const ChatRequest &, int number) {
    return number % 4 == 0 ? answered(goodAnswer)
                           : failedWith(ChatOutcome::Busy, "HTTP status 503");
  });
  for (int i = 0; i < 10; ++i)
    ask(other);
  EXPECT_EQ(chat->requests.size(), 10u);
}

TEST_F(LlmProposerTest, NobodyWaitsForAServerThatIsGivenUp) {
  int awaited = 0;
  LlmProposer proposer = make([&awaited](const ChatRequest &, int) {
    ++awaited;
    return failedWith(ChatOutcome::Unreachable, "gone");
  });
  for (context.question = 1; context.question <= 5; ++context.question)
    proposer.expect(context);
  context.question = 0;
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(ask(proposer).proposer, "builtin");
  EXPECT_EQ(chat->requests.size(), 5u);
  EXPECT_EQ(awaited, 2);
  EXPECT_EQ(chat->cancelled, 3);
}

TEST_F(LlmProposerTest, AQuestionLeavesTimeAndIsNotAskedWithoutEnough) {
  context.wallNs = 60000000000;
  LlmProposer proposer = make([](const ChatRequest &, int) {
    ChatReply reply = answered(goodAnswer);
    reply.latencyMs = 5000;
    return reply;
  });
  EXPECT_EQ(ask(proposer).proposer, "llm");
  EXPECT_EQ(chat->requests[0].timeoutMs, 20000);
  context.wallNs = 14000000000;
  EXPECT_EQ(ask(proposer).fallback, "no time for an answer");
  EXPECT_EQ(chat->requests.size(), 1u);
  context.wallNs = 15000000000; // It is not given up.
  EXPECT_EQ(ask(proposer).proposer, "llm");
}

TEST_F(LlmProposerTest, ALongKernelIsNotShown) {
  work.kernel.text = std::string(50000, 'x');
  LlmProposer proposer =
      make([](const ChatRequest &, int) { return answered(goodAnswer); });
  ask(proposer);
  const std::string &question = chat->requests[0].messages[1].content;
  EXPECT_LT(question.size(), 9000u);
  EXPECT_NE(question.find("not shown"), std::string::npos);
}
