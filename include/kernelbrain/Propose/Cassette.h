//===- Cassette.h - Replies of a model, kept --------------------*- C++ -*-===//

#ifndef KERNELBRAIN_PROPOSE_CASSETTE_H
#define KERNELBRAIN_PROPOSE_CASSETTE_H

#include "kernelbrain/Propose/ChatService.h"
#include "kernelbrain/Support/File.h"

#include <deque>
#include <map>
#include <memory>

namespace kernelbrain::propose {

/// Answers what is recorded and passes on what is not, so that a resumed run
/// gets the same answers. The file (docs/Protocols.md) grows by a line for each
/// request and each reply; it never holds a key.
///
/// A recorded reply with a hash answers the request of that hash. One without
/// answers the next request about its kernel, in the order of the file: so
/// replies may be written by hand.
class Cassette : public ChatService {
public:
  /// Reads `path` and writes nothing. What is not recorded is NotRecorded.
  static Result<std::unique_ptr<Cassette>> replay(const std::string &path);
  /// Reads `path` if it is there and `resume`, and adds to it. An unfinished
  /// last line, which a killed process leaves, is cut off.
  static Result<std::unique_ptr<Cassette>>
  record(const std::string &path, bool resume,
         std::unique_ptr<ChatService> service, unsigned askAhead);

  Result<uint64_t> start(const ChatRequest &request) override;
  Result<ChatReply> wait(uint64_t handle) override;
  Result<ChatReply> cancel(uint64_t handle) override;

  /// SearchOptions::askAhead of the recorded run: the questions depend on it.
  unsigned askAhead() const { return ahead; }
  /// Worst case of the requests whose replies a killed process did not see.
  int64_t lostTokens() const;

private:
  struct Asked {
    std::string kernel, hash;
    std::optional<ChatReply> reply; ///< recorded
    uint64_t inner = 0;             ///< handle of the service, 0: not passed on
  };

  Status read(const std::string &text, const std::string &name);
  Status take(const Json &line);
  Status write(Json line);
  Result<ChatReply> finish(const Asked &asked, Result<ChatReply> reply);
  Asked takeHandle(uint64_t handle);

  std::unique_ptr<ChatService> service; ///< null: replay only
  std::string path;
  FileDescriptor file;
  unsigned ahead = 0;
  std::map<std::string, std::deque<ChatReply>> byHash, byKernel;
  std::map<std::string, std::deque<int64_t>> unanswered; ///< worst cases
  std::map<uint64_t, Asked> open;
  uint64_t lastHandle = 0;
};

} // namespace kernelbrain::propose

#endif // KERNELBRAIN_PROPOSE_CASSETTE_H
