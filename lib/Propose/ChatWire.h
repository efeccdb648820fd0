//===- ChatWire.h - Chat Completions on the wire ----------------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_PROPOSE_CHATWIRE_H
#define KERNELBRAIN_LIB_PROPOSE_CHATWIRE_H

#include "kernelbrain/Propose/ChatService.h"

namespace kernelbrain::propose {

/// How a server is asked for JSON, best first. Which one it takes is learned.
enum class StructuredForm { JsonSchema, JsonObject, Text };

struct WireOptions {
  std::string model;
  StructuredForm form = StructuredForm::JsonSchema;
  /// Reasoning models refuse "max_tokens", many servers know nothing else.
  std::string capName = "max_tokens";
};

/// The body of a request.
OrderedJson wireBody(const ChatRequest &request, const WireOptions &options);

/// The body as a person reads it: messages word for word, then the rest.
std::string readableBody(const OrderedJson &body);

/// Reads the body of a reply with status 200: Answered or Malformed.
ChatReply parseWireReply(const std::string &body);

/// The message of an error's body, short and printable; empty if it has none.
std::string wireError(const std::string &body);
/// True if an error's body says that money or quota is used up, which waiting
/// does not heal.
bool saysOverQuota(const std::string &body);

} // namespace kernelbrain::propose

#endif // KERNELBRAIN_LIB_PROPOSE_CHATWIRE_H
