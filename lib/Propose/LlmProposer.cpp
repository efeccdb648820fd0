//===- LlmProposer.cpp - Proposals of a language model --------------------===//

#include "kernelbrain/Propose/LlmProposer.h"

#include "Patch.h"
#include "Question.h"
#include "SafeJson.h"

#include <cmath>

namespace kernelbrain::propose {

using search::Proposal;
using search::ProposeContext;
using search::StepKind;

/// Less time is not enough for any answer.
constexpr int64_t leastMs = 1000;

LlmProposer::LlmProposer(LlmOptions options,
                         std::unique_ptr<ChatService> service,
                         int64_t spentTokens)
    : options(std::move(options)), service(std::move(service)),
      spentTokens(spentTokens) {}

//===----------------------------------------------------------------------===//
// Requests and what they cost
//===----------------------------------------------------------------------===//

static int64_t priceOf(const LlmOptions &options, int64_t promptTokens,
                       int64_t replyTokens) {
  return static_cast<int64_t>(
      std::ceil(options.promptPrice * static_cast<double>(promptTokens) +
                options.replyPrice * static_cast<double>(replyTokens)));
}

int64_t LlmProposer::worstMoney(const ChatRequest &request) const {
  return priceOf(options, request.worstTokens - request.replyTokens,
                 request.replyTokens);
}

/// Sends the request of `dialogue`, or says why not.
bool LlmProposer::send(Dialogue &dialogue) {
  ChatRequest &request = dialogue.request;
  size_t bytes = request.schema.dump().size();
  for (const ChatMessage &message : request.messages)
    bytes += message.content.size();
  request.worstTokens = mostTokens(bytes) + request.replyTokens;
  auto fits = [](const std::optional<int64_t> &limit, int64_t amount) {
    return !limit || amount <= *limit;
  };
  dialogue.refusal.clear();
  if (!fits(options.maxTokens, spentTokens + openTokens + request.worstTokens))
    dialogue.refusal = "no room for a question in max-tokens";
  else if (!fits(options.maxMicroMoney,
                 spentMoney + openMoney + worstMoney(request)))
    dialogue.refusal = "no room for a question in max-cost";
  if (!dialogue.refusal.empty()) {
    // Once the questions on their way are in, there may be room again.
    if (openTokens == 0)
      giveUp(dialogue.refusal);
    return false;
  }
  Result<uint64_t> handle = service->start(request);
  if (!handle) {
    dialogue.error = handle.error();
    return false;
  }
  dialogue.handle = *handle;
  openTokens += request.worstTokens;
  openMoney += worstMoney(request);
  return true;
}

void LlmProposer::charge(Dialogue &dialogue, const ChatReply &reply) {
  const ChatRequest &request = dialogue.request;
  openTokens -= request.worstTokens;
  openMoney -= worstMoney(request);
  bool known = reply.promptTokens && reply.replyTokens;
  int64_t tokens =
      known ? *reply.promptTokens + *reply.replyTokens : request.worstTokens;
  int64_t money =
      known ? priceOf(options, *reply.promptTokens, *reply.replyTokens)
            : worstMoney(request);
  tokens += reply.failedAttempts * request.worstTokens;
  money += reply.failedAttempts * worstMoney(request);
  dialogue.tokens += tokens;
  dialogue.microMoney += money;
  spentTokens += tokens;
  spentMoney += money;
}

Result<ChatReply> LlmProposer::receive(Dialogue &dialogue) {
  Result<ChatReply> reply = service->wait(*dialogue.handle);
  dialogue.handle.reset();
  if (reply)
    charge(dialogue, *reply);
  return reply;
}

//===----------------------------------------------------------------------===//
// A dialogue
//===----------------------------------------------------------------------===//

/// What a slow model proposes takes time as well, and so does the built-in
/// policy after a question in vain.
int64_t LlmProposer::timeFor(const ProposeContext &context) const {
  constexpr int64_t part = 3;
  if (!context.wallNs)
    return options.timeoutMs;
  return std::min(options.timeoutMs,
                  std::max(leastMs, *context.wallNs / 1000000 / part));
}

LlmProposer::Dialogue LlmProposer::begin(const ProposeContext &context) {
  Dialogue dialogue;
  if (!givenUp.empty()) {
    dialogue.refusal = givenUp;
    return dialogue;
  }
  ChatRequest &request = dialogue.request;
  request.timeoutMs = timeFor(context);
  if (request.timeoutMs < quickestMs) {
    dialogue.refusal = "no time for an answer";
    return dialogue;
  }
  request.kernel = context.kernel->name;
  request.messages =
      makeQuestion(context, options.target, options.promptTokens);
  request.schema = patchSchema(context);
  request.replyTokens = options.replyTokens;
  send(dialogue);
  return dialogue;
}

/// What is wrong with a reply whose text is not worth reading.
static std::string unusable(const ChatReply &reply) {
  if (reply.outcome == ChatOutcome::Malformed)
    return reply.error;
  if (reply.finish == "length")
    return "the answer was cut off at its limit of tokens";
  return "";
}

/// Asks until an answer is of use. The error is why none was: it says how the
/// last one failed.
Result<Recipe> LlmProposer::converse(Dialogue &dialogue,
                                     const ProposeContext &context,
                                     std::string &rationale) {
  for (int repair = 0;; ++repair) {
    Result<ChatReply> reply = receive(dialogue);
    if (!reply) {
      dialogue.error = reply.error();
      return *dialogue.error;
    }
    heard |= reply->outcome != ChatOutcome::TimedOut &&
             reply->outcome != ChatOutcome::Unreachable;
    if (reply->outcome != ChatOutcome::Answered &&
        reply->outcome != ChatOutcome::Malformed) {
      failed(*reply);
      return Error{std::string(toString(reply->outcome)) + ": " + reply->error};
    }
    failures = 0;
    if (reply->latencyMs > 0)
      quickestMs = quickestMs ? std::min(quickestMs, reply->latencyMs)
                              : reply->latencyMs;
    if (reply->finish == "refusal" || reply->finish == "content_filter")
      return Error{"refused: " + shortText(reply->text)};
    std::string error = unusable(*reply);
    if (error.empty()) {
      Result<Patch> patch = parsePatch(reply->text);
      Result<Recipe> recipe =
          patch ? applyPatch(*patch, context) : Result<Recipe>(patch.error());
      if (recipe) {
        rationale = shortText(patch->rationale);
        return recipe;
      }
      error = recipe.error().message;
    }
    ChatRequest &request = dialogue.request;
    // The time of a question is that of all its answers together.
    request.timeoutMs -= reply->latencyMs;
    if (repair == options.repairs ||
        request.timeoutMs < std::max(leastMs, quickestMs))
      return Error{"no usable answer: " + error};
    if (reply->finish == "length" && request.replyTokens == options.replyTokens)
      request.replyTokens *= 2; // Thinking counts as well; raised once.
    // Of a long answer the head is enough to recognise it.
    constexpr size_t longestEcho = 4000;
    if (!reply->text.empty())
      request.messages.push_back(
          {"assistant", reply->text.substr(0, longestEcho)});
    request.messages.push_back({"user", makeFeedback(error)});
    if (!send(dialogue))
      return dialogue.error ? *dialogue.error
                            : Error{dialogue.refusal + "; " + error};
  }
}

void LlmProposer::giveUp(const std::string &why) {
  if (!givenUp.empty())
    return;
  givenUp = why;
  warnings.push_back("the model is not asked any more (" + why +
                     "); the search goes on with the built-in policy");
}

void LlmProposer::failed(const ChatReply &reply) {
  switch (reply.outcome) {
  case ChatOutcome::Denied:
  case ChatOutcome::OverQuota:
    giveUp(reply.error);
    break;
  case ChatOutcome::Interrupted:
    break;
  case ChatOutcome::NotRecorded:
    giveUp(reply.error);
    break;
  default:
    ++failures;
    if (isGone())
      giveUp(std::to_string(failures) +
             " questions in a row failed, the last "
             "one " +
             toString(reply.outcome) + ": " + reply.error);
  }
}

//===----------------------------------------------------------------------===//
// The proposer
//===----------------------------------------------------------------------===//

/// Gives up a question that may be on its way.
void LlmProposer::drop(Dialogue &dialogue) {
  if (dialogue.handle)
    if (Result<ChatReply> reply = service->cancel(*dialogue.handle))
      charge(dialogue, *reply);
  dialogue.handle.reset();
}

void LlmProposer::expect(const ProposeContext &context) {
  if (context.step != StepKind::Seed)
    expected[{context.kernel->name, context.question}] = begin(context);
}

Proposal LlmProposer::forget(const ProposeContext &context) {
  Proposal cost;
  auto it = expected.find({context.kernel->name, context.question});
  if (it == expected.end())
    return cost;
  Dialogue dialogue = std::move(it->second);
  expected.erase(it);
  drop(dialogue);
  cost.tokens = dialogue.tokens;
  cost.microMoney = dialogue.microMoney;
  return cost;
}

Result<Proposal> LlmProposer::propose(const ProposeContext &context,
                                      Random &random) {
  if (context.step == StepKind::Seed)
    return builtin.propose(context, random);
  Dialogue dialogue;
  auto it = expected.find({context.kernel->name, context.question});
  if (it == expected.end()) {
    dialogue = begin(context);
  } else {
    dialogue = std::move(it->second);
    expected.erase(it);
    if (isGone()) { // Nor does it answer what it was asked already.
      drop(dialogue);
      dialogue.refusal = givenUp;
    } else if (!dialogue.handle && !dialogue.error &&
               !dialogue.request.messages.empty()) {
      send(dialogue); // Answers that came since may have left room.
    }
  }
  Proposal proposal;
  proposal.proposer = "llm";
  if (dialogue.handle) {
    Result<Recipe> recipe = converse(dialogue, context, proposal.rationale);
    if (recipe)
      proposal.recipe = std::move(*recipe);
    else
      proposal.fallback = recipe.error().message;
  } else {
    proposal.fallback = dialogue.refusal;
  }
  if (dialogue.error)
    return *dialogue.error;
  if (!proposal.fallback.empty()) {
    Result<Proposal> other = builtin.propose(context, random);
    if (!other)
      return other;
    other->fallback = proposal.fallback;
    proposal = std::move(*other);
  }
  proposal.tokens = dialogue.tokens;
  proposal.microMoney = dialogue.microMoney;
  proposal.warnings = std::exchange(warnings, {});
  return proposal;
}

} // namespace kernelbrain::propose
