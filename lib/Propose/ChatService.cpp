//===- ChatService.cpp - Questions to a language model --------------------===//

#include "kernelbrain/Propose/ChatService.h"

#include "kernelbrain/Support/Hash.h"
#include "kernelbrain/Support/JsonReader.h"

namespace kernelbrain::propose {

std::string ChatRequest::hash() const {
  OrderedJson all = {{"schema", schema}, {"reply_tokens", replyTokens}};
  for (const ChatMessage &message : messages)
    all["messages"].push_back({message.role, message.content});
  return contentHash(
      all.dump(-1, ' ', false, OrderedJson::error_handler_t::replace));
}

static constexpr std::pair<ChatOutcome, const char *> names[] = {
    {ChatOutcome::Answered, "answered"},
    {ChatOutcome::Malformed, "malformed"},
    {ChatOutcome::TooLarge, "too_large"},
    {ChatOutcome::TimedOut, "timed_out"},
    {ChatOutcome::Unreachable, "unreachable"},
    {ChatOutcome::Busy, "busy"},
    {ChatOutcome::Refused, "refused"},
    {ChatOutcome::Denied, "denied"},
    {ChatOutcome::OverQuota, "over_quota"},
    {ChatOutcome::Interrupted, "interrupted"},
    {ChatOutcome::NotRecorded, "not_recorded"}};

const char *toString(ChatOutcome outcome) {
  for (auto [value, name] : names)
    if (value == outcome)
      return name;
  return "";
}

std::optional<ChatOutcome> chatOutcomeFromString(const std::string &text) {
  for (auto [value, name] : names)
    if (text == name)
      return value;
  return std::nullopt;
}

Json toJson(const ChatReply &reply) {
  Json json = {{"outcome", toString(reply.outcome)},
               {"error", reply.error},
               {"text", reply.text},
               {"finish", reply.finish},
               {"model", reply.model},
               {"failed_attempts", reply.failedAttempts},
               {"latency_ms", reply.latencyMs}};
  if (reply.promptTokens)
    json["prompt_tokens"] = *reply.promptTokens;
  if (reply.replyTokens)
    json["reply_tokens"] = *reply.replyTokens;
  return json;
}

static Result<ChatOutcome> outcomeFromJson(const Json &json) {
  if (json.is_string())
    if (std::optional<ChatOutcome> outcome =
            chatOutcomeFromString(json.get<std::string>()))
      return *outcome;
  return Error{"unknown outcome " + dumpJson(json)};
}

Result<ChatReply> chatReplyFromJson(const Json &json) {
  ChatReply reply;
  int64_t promptTokens = -1, replyTokens = -1;
  JsonReader reader(json, "reply");
  reader.required("outcome", reply.outcome, outcomeFromJson)
      .optional("error", reply.error)
      .required("text", reply.text)
      .optional("finish", reply.finish)
      .optional("model", reply.model)
      .optional("failed_attempts", reply.failedAttempts)
      .optional("latency_ms", reply.latencyMs)
      .optional("prompt_tokens", promptTokens)
      .optional("reply_tokens", replyTokens);
  if (Status status = reader.status(); !status)
    return status.error();
  if (promptTokens >= 0)
    reply.promptTokens = promptTokens;
  if (replyTokens >= 0)
    reply.replyTokens = replyTokens;
  return reply;
}

} // namespace kernelbrain::propose
