//===- ChatWire.cpp - Chat Completions on the wire ------------------------===//

#include "ChatWire.h"

#include "SafeJson.h"

namespace kernelbrain::propose {

OrderedJson wireBody(const ChatRequest &request, const WireOptions &options) {
  OrderedJson body = {{"model", options.model},
                      {"messages", OrderedJson::array()}};
  for (const ChatMessage &message : request.messages)
    body["messages"].push_back(
        {{"role", message.role}, {"content", message.content}});
  body[options.capName] = request.replyTokens;
  switch (options.form) {
  case StructuredForm::JsonSchema:
    body["response_format"] = {
        {"type", "json_schema"},
        {"json_schema",
         {{"name", "patch"}, {"strict", true}, {"schema", request.schema}}}};
    break;
  case StructuredForm::JsonObject:
    body["response_format"] = {{"type", "json_object"},
                               {"schema", request.schema}};
    break;
  case StructuredForm::Text:
    body["messages"].back()["content"] =
        request.messages.back().content +
        "\nAnswer with one JSON object in a block fenced by ```json and ```, "
        "of this JSON schema:\n" +
        request.schema.dump() + "\n";
    break;
  }
  return body;
}

std::string readableBody(const OrderedJson &body) {
  OrderedJson rest = body;
  rest.erase("messages");
  std::string text;
  for (const OrderedJson &message : body["messages"])
    text += "[" + message["role"].get<std::string>() + "]\n" +
            message["content"].get<std::string>() + "\n";
  return text + "[request]\n" +
         rest.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) +
         "\n";
}

static ChatReply malformed(std::string why) {
  ChatReply reply;
  reply.outcome = ChatOutcome::Malformed;
  reply.error = std::move(why);
  return reply;
}

/// A count of tokens that can be true.
static std::optional<int64_t> tokenCount(const Json &usage, const char *name) {
  constexpr int64_t most = 1000000000;
  int64_t count = getIntegerOr(usage, name, -1);
  return count >= 0 && count <= most ? std::optional<int64_t>(count)
                                     : std::nullopt;
}

ChatReply parseWireReply(const std::string &body) {
  Result<Json> parsed = parseForeignJson(body);
  if (!parsed)
    return malformed("the reply is no JSON: " + parsed.error().message);
  Result<Json> choices = getArray(*parsed, "choices");
  if (!choices)
    return malformed("the reply has no choices: " + choices.error().message);
  if (choices->empty() || !choices->front().is_object())
    return malformed("the reply has no choice");
  const Json &choice = choices->front();
  Result<Json> message = getObject(choice, "message");
  if (!message)
    return malformed("the reply has no message: " + message.error().message);
  ChatReply reply;
  reply.outcome = ChatOutcome::Answered;
  reply.finish = getStringOr(choice, "finish_reason", "");
  reply.model = getStringOr(*parsed, "model", "");
  if (auto usage = getObject(*parsed, "usage")) {
    reply.promptTokens = tokenCount(*usage, "prompt_tokens");
    reply.replyTokens = tokenCount(*usage, "completion_tokens");
  }
  if (message->contains("refusal") && (*message)["refusal"].is_string()) {
    reply.finish = "refusal";
    reply.text = (*message)["refusal"].get<std::string>();
    return reply;
  }
  // Thinking that used up the cap leaves no content at all.
  if (!message->contains("content") || (*message)["content"].is_null()) {
    if (reply.finish == "length")
      return reply;
    return malformed("the reply's message has no content");
  }
  Result<std::string> content = getString(*message, "content");
  if (!content)
    return malformed("the reply's message: " + content.error().message);
  reply.text = std::move(*content);
  return reply;
}

std::string wireError(const std::string &body) {
  Result<Json> parsed = parseForeignJson(body);
  if (!parsed || !parsed->is_object())
    return "";
  std::string text = getStringOr(*parsed, "message", "");
  if (auto error = getObject(*parsed, "error"))
    text = getStringOr(*error, "message", text);
  else
    text = getStringOr(*parsed, "error", text);
  return shortText(text);
}

bool saysOverQuota(const std::string &body) {
  for (const char *word :
       {"insufficient_quota", "quota_exceeded", "billing", "credit balance",
        "spend limit", "insufficient_credits"})
    if (body.find(word) != std::string::npos)
      return true;
  return false;
}

} // namespace kernelbrain::propose
