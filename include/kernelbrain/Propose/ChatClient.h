//===- ChatClient.h - Chat Completions over HTTP ----------------*- C++ -*-===//

#ifndef KERNELBRAIN_PROPOSE_CHATCLIENT_H
#define KERNELBRAIN_PROPOSE_CHATCLIENT_H

#include "kernelbrain/Propose/ChatService.h"

#include <functional>
#include <memory>

namespace kernelbrain::propose {

/// Where a model is served.
struct Endpoint {
  std::string url; ///< that requests are posted to
  bool isLoopback = false, isSecure = false;

  /// A key goes nowhere else.
  bool mayHaveKey() const { return isLoopback || isSecure; }
};

/// Reads the base address of a server ("http://127.0.0.1:8123/v1") or the
/// address of its chat completions. Only http and https, no user, no password.
Result<Endpoint> parseEndpoint(const std::string &text);

/// KB_LLM_API_KEY of the environment, else OPENAI_API_KEY, else empty. A key
/// that no HTTP header can hold is an error, which does not tell it.
Result<std::string> apiKeyFromEnvironment();

struct ChatClientOptions {
  Endpoint endpoint;
  std::string model;
  std::string key;
  unsigned inFlight = 4;           ///< requests on the wire at once
  size_t maxReplyBytes = 4 << 20;  ///< of a body
  int retries = 2;                 ///< of what may heal by itself
  int64_t firstDelayMs = 500;      ///< doubled each time, with jitter
  int64_t longestDelayMs = 120000; ///< a server that asks for more is given up
  /// Asked while waiting. True: replies are given up.
  std::function<bool()> interrupted;
  /// Gets each request as it is sent, for a person to read.
  std::function<void(const std::string &)> show;
};

/// Sends requests from a thread of its own. TLS is verified, redirects are not
/// followed, proxies are those of the environment but for loopback. The form of
/// structured output that the server takes is learned with the first request.
/// The key is in no error and in no reply.
class ChatClient : public ChatService {
public:
  explicit ChatClient(ChatClientOptions options);
  ~ChatClient() override;

  Result<uint64_t> start(const ChatRequest &request) override;
  Result<ChatReply> wait(uint64_t handle) override;
  Result<ChatReply> cancel(uint64_t handle) override;

private:
  class Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace kernelbrain::propose

#endif // KERNELBRAIN_PROPOSE_CHATCLIENT_H
