//===- LlmProposer.h - Proposals of a language model ------------*- C++ -*-===//

#ifndef KERNELBRAIN_PROPOSE_LLMPROPOSER_H
#define KERNELBRAIN_PROPOSE_LLMPROPOSER_H

#include "kernelbrain/Propose/BuiltinProposer.h"
#include "kernelbrain/Propose/ChatService.h"

namespace kernelbrain::propose {

struct LlmOptions {
  std::string target; ///< what the model is told of the device
  int64_t promptTokens = 3000, replyTokens = 2048, timeoutMs = 120000;
  std::optional<int64_t> maxTokens, maxMicroMoney;
  /// Money for a million tokens; so a token costs as many millionths.
  double promptPrice = 0, replyPrice = 0;
  int repairs = 2;       ///< answers asked for after one that is of no use
  int failuresInRow = 4; ///< unanswered questions before the model is given up
  int failuresAtFirst = 2; ///< the same, while nothing was ever heard of it
};

/// Asks a model for patches of measured recipes. What it cannot or does not
/// answer, the built-in policy does, and the proposal says why. Seeds are the
/// built-in policy's: they cost nothing. Tokens and money never exceed their
/// limits: a question starts only if its worst case fits beside all others.
class LlmProposer : public search::Proposer {
public:
  /// `spentTokens`: what an earlier process may have spent unseen.
  LlmProposer(LlmOptions options, std::unique_ptr<ChatService> service,
              int64_t spentTokens = 0);

  void expect(const search::ProposeContext &context) override;
  search::Proposal forget(const search::ProposeContext &context) override;
  Result<search::Proposal> propose(const search::ProposeContext &context,
                                   Random &random) override;

private:
  /// A question and what has become of it.
  struct Dialogue {
    ChatRequest request;
    std::optional<uint64_t> handle; ///< while a reply is on its way
    std::string refusal;            ///< why it was not asked
    std::optional<Error> error;     ///< of our own world
    int64_t tokens = 0, microMoney = 0;
  };
  using Key = std::pair<std::string, uint64_t>; ///< kernel, question

  Dialogue begin(const search::ProposeContext &context);
  int64_t timeFor(const search::ProposeContext &context) const;
  bool send(Dialogue &dialogue);
  Result<ChatReply> receive(Dialogue &dialogue);
  void charge(Dialogue &dialogue, const ChatReply &reply);
  int64_t worstMoney(const ChatRequest &request) const;
  Result<Recipe> converse(Dialogue &dialogue,
                          const search::ProposeContext &context,
                          std::string &rationale);
  bool isGone() const {
    return failures >=
           (heard ? options.failuresInRow : options.failuresAtFirst);
  }
  void drop(Dialogue &dialogue);
  void failed(const ChatReply &reply);
  void giveUp(const std::string &why);

  LlmOptions options;
  std::unique_ptr<ChatService> service;
  BuiltinProposer builtin;
  std::map<Key, Dialogue> expected;
  int64_t spentTokens, spentMoney = 0;   ///< of settled requests
  int64_t openTokens = 0, openMoney = 0; ///< worst cases of those on their way
  int failures = 0;
  bool heard = false;                ///< there is a server, whatever it said
  int64_t quickestMs = 0;            ///< of all answers; 0: there was none
  std::string givenUp;               ///< why the model is not asked any more
  std::vector<std::string> warnings; ///< that no proposal has carried yet
};

} // namespace kernelbrain::propose

#endif // KERNELBRAIN_PROPOSE_LLMPROPOSER_H
