//===- FakeChat.h - A model of a few words ----------------------*- C++ -*-===//

#ifndef KERNELBRAIN_UNITTESTS_PROPOSE_FAKECHAT_H
#define KERNELBRAIN_UNITTESTS_PROPOSE_FAKECHAT_H

#include "Testing/Fakes.h"
#include "kernelbrain/Propose/ChatService.h"

namespace kernelbrain::testing {

using namespace kernelbrain::propose;

inline ChatReply answered(const std::string &text) {
  ChatReply reply;
  reply.outcome = ChatOutcome::Answered;
  reply.text = text;
  reply.finish = "stop";
  reply.promptTokens = 100;
  reply.replyTokens = 20;
  return reply;
}

inline ChatReply failedWith(ChatOutcome outcome, const std::string &error) {
  ChatReply reply;
  reply.outcome = outcome;
  reply.error = error;
  return reply;
}

/// Answers by a function of the request, and counts.
class FakeChat : public ChatService {
public:
  using Script = std::function<ChatReply(const ChatRequest &, int number)>;
  explicit FakeChat(Script script) : script(std::move(script)) {}

  Result<uint64_t> start(const ChatRequest &request) override {
    requests.push_back(request);
    open.insert(requests.size());
    most = std::max(most, open.size());
    return requests.size();
  }
  Result<ChatReply> wait(uint64_t handle) override {
    open.erase(handle);
    return script(requests[handle - 1], static_cast<int>(handle));
  }
  Result<ChatReply> cancel(uint64_t handle) override {
    open.erase(handle);
    ++cancelled;
    return failedWith(ChatOutcome::Interrupted, "given up");
  }

  std::vector<ChatRequest> requests;
  std::set<uint64_t> open;
  size_t most = 0; ///< at a time
  int cancelled = 0;

private:
  Script script;
};

} // namespace kernelbrain::testing

#endif // KERNELBRAIN_UNITTESTS_PROPOSE_FAKECHAT_H
