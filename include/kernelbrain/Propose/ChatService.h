//===- ChatService.h - Questions to a language model ------------*- C++ -*-===//
//
//  LlmProposer --> Cassette --> ChatClient --> server
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_PROPOSE_CHATSERVICE_H
#define KERNELBRAIN_PROPOSE_CHATSERVICE_H

#include "kernelbrain/Support/Json.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernelbrain::propose {

/// Keeps its members in order: a model writes them in that order.
using OrderedJson = nlohmann::ordered_json;

struct ChatMessage {
  std::string role; ///< "system", "user" or "assistant"
  std::string content;
};

struct ChatRequest {
  std::string kernel; ///< whom it is about, for people and cassettes; not sent
  std::vector<ChatMessage> messages;
  OrderedJson schema;      ///< of the answer, in the strict common subset
  int64_t replyTokens = 0; ///< the answer's cap
  int64_t worstTokens = 0; ///< what it costs at most, the prompt included
  int64_t timeoutMs = 0;   ///< for the whole request, retries included

  /// Content hash of all that decides the answer: messages, schema and cap.
  std::string hash() const;
};

/// How a request ended. Written to cassettes by name: do not rename.
enum class ChatOutcome {
  Answered,
  Malformed,   ///< a reply that is not what the protocol says
  TooLarge,    ///< a reply over the size limit
  TimedOut,    ///< no whole reply in time
  Unreachable, ///< no connection, or one that breaks, retries included
  Busy,        ///< 408, 409, 429 and 5xx, retries included
  Refused,     ///< another HTTP error: the request is at fault
  Denied,      ///< authentication
  OverQuota,   ///< credit or quota is used up
  Interrupted, ///< by the user
  NotRecorded  ///< a cassette without a server has no such reply
};
const char *toString(ChatOutcome outcome);
std::optional<ChatOutcome> chatOutcomeFromString(const std::string &text);

struct ChatReply {
  ChatOutcome outcome = ChatOutcome::Unreachable;
  std::string error;  ///< of any other outcome than Answered; short
  std::string text;   ///< the message
  std::string finish; ///< "stop", "length", "refusal", ...
  std::string model;  ///< as the server names it
  /// As the server says; absent: unknown, the worst case counts.
  std::optional<int64_t> promptTokens, replyTokens;
  int failedAttempts = 0; ///< before this one, that may have been billed
  int64_t latencyMs = 0;  ///< from the first transfer, retries included
};

Json toJson(const ChatReply &reply);
Result<ChatReply> chatReplyFromJson(const Json &json);

/// Answers several questions at a time. An Error is one of our own world.
class ChatService {
public:
  virtual ~ChatService() = default;
  /// Never waits. Returns a handle for one call of wait() or cancel().
  virtual Result<uint64_t> start(const ChatRequest &request) = 0;
  virtual Result<ChatReply> wait(uint64_t handle) = 0;
  /// The reply if it is there; else the request is given up, Interrupted.
  virtual Result<ChatReply> cancel(uint64_t handle) = 0;
};

} // namespace kernelbrain::propose

#endif // KERNELBRAIN_PROPOSE_CHATSERVICE_H
