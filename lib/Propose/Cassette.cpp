//===- Cassette.cpp - Replies of a model, kept ----------------------------===//

#include "kernelbrain/Propose/Cassette.h"

#include "kernelbrain/Support/JsonReader.h"

#include <fcntl.h>
#include <unistd.h>

namespace kernelbrain::propose {

constexpr int64_t cassetteVersion = 1;

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

Result<std::unique_ptr<Cassette>> Cassette::replay(const std::string &path) {
  Result<std::string> text = readFile(path);
  if (!text)
    return text.error();
  auto cassette = std::make_unique<Cassette>();
  if (Status status = cassette->read(*text, path); !status)
    return status.error();
  return cassette;
}

Result<std::unique_ptr<Cassette>>
Cassette::record(const std::string &path, bool resume,
                 std::unique_ptr<ChatService> service, unsigned askAhead) {
  auto cassette = std::make_unique<Cassette>();
  cassette->path = path;
  cassette->ahead = askAhead;
  size_t whole = 0;
  if (resume && ::access(path.c_str(), F_OK) == 0) {
    Result<std::string> text = readFile(path);
    if (!text)
      return text.error();
    whole = text->rfind('\n') == std::string::npos ? 0 : text->rfind('\n') + 1;
    if (Status status = cassette->read(text->substr(0, whole), path); !status)
      return status.error();
  }
  cassette->service = std::move(service);
  Result<FileDescriptor> file =
      openFile(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (!file)
    return file.error();
  cassette->file = std::move(*file);
  if (::ftruncate(cassette->file.get(), static_cast<off_t>(whole)) != 0)
    return fileError("truncate", path);
  if (whole == 0)
    if (Status status = cassette->write({{"type", "cassette"},
                                         {"version", cassetteVersion},
                                         {"ask_ahead", askAhead}});
        !status)
      return status.error();
  return cassette;
}

Status Cassette::read(const std::string &text, const std::string &name) {
  size_t begin = 0;
  for (int number = 1; begin < text.size(); ++number) {
    size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.empty())
      continue;
    Result<Json> json = parseJson(line);
    Status taken = json ? take(*json) : Status(json.error());
    if (!taken)
      return taken.error().withContext(name + ":" + std::to_string(number));
  }
  return {};
}

Status Cassette::take(const Json &line) {
  Result<std::string> type = getString(line, "type");
  if (!type)
    return type.error();
  if (*type == "cassette") {
    int64_t version = 0, recordedAhead = 0;
    JsonReader reader(line, "cassette");
    reader.required("version", version).optional("ask_ahead", recordedAhead);
    if (Status status = reader.status(); !status)
      return status;
    if (version > cassetteVersion)
      return Error{"cassette of version " + std::to_string(version) +
                   ", newer than this program"};
    if (recordedAhead < 0 || recordedAhead > 64)
      return Error{"member 'ask_ahead' must be between 0 and 64"};
    ahead = static_cast<unsigned>(recordedAhead);
    return {};
  }
  std::string kernel, hash;
  int64_t worstTokens = 0;
  JsonReader reader(line, *type);
  reader.optional("kernel", kernel)
      .optional("hash", hash)
      .optional("worst_tokens", worstTokens);
  if (Status status = reader.status(); !status)
    return status;
  if (*type == "asked") {
    unanswered[hash].push_back(worstTokens);
    return {};
  }
  if (*type != "reply")
    return Error{"unknown type '" + *type + "'"};
  Result<ChatReply> reply = chatReplyFromJson(line);
  if (!reply)
    return reply.error();
  if (std::deque<int64_t> &asked = unanswered[hash]; !asked.empty())
    asked.pop_front();
  // The user's interrupt is no answer: a resumed run asks again.
  if (reply->outcome != ChatOutcome::Interrupted)
    (hash.empty() ? byKernel[kernel] : byHash[hash])
        .push_back(std::move(*reply));
  return {};
}

Status Cassette::write(Json line) {
  return writeAll(file.get(), dumpJson(line) + "\n", path);
}

int64_t Cassette::lostTokens() const {
  int64_t sum = 0;
  for (const auto &[hash, worst] : unanswered)
    for (int64_t tokens : worst)
      sum += tokens;
  return sum;
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

static std::optional<ChatReply> takeFirst(std::deque<ChatReply> &replies) {
  if (replies.empty())
    return std::nullopt;
  ChatReply reply = std::move(replies.front());
  replies.pop_front();
  return reply;
}

Result<uint64_t> Cassette::start(const ChatRequest &request) {
  Asked asked;
  asked.kernel = request.kernel;
  asked.hash = request.hash();
  asked.reply = takeFirst(byHash[asked.hash]);
  if (!asked.reply && service) {
    if (Status status = write({{"type", "asked"},
                               {"kernel", asked.kernel},
                               {"hash", asked.hash},
                               {"worst_tokens", request.worstTokens}});
        !status)
      return status.error();
    Result<uint64_t> inner = service->start(request);
    if (!inner)
      return inner.error();
    asked.inner = *inner;
  }
  open[++lastHandle] = std::move(asked);
  return lastHandle;
}

Cassette::Asked Cassette::takeHandle(uint64_t handle) {
  Asked asked = std::move(open[handle]);
  open.erase(handle);
  return asked;
}

/// Writes what the service said.
Result<ChatReply> Cassette::finish(const Asked &asked,
                                   Result<ChatReply> reply) {
  if (!reply)
    return reply;
  Json line = toJson(*reply);
  line["type"] = "reply";
  line["kernel"] = asked.kernel;
  line["hash"] = asked.hash;
  if (Status status = write(std::move(line)); !status)
    return status.error();
  return reply;
}

Result<ChatReply> Cassette::wait(uint64_t handle) {
  Asked asked = takeHandle(handle);
  if (asked.reply)
    return *asked.reply;
  if (asked.inner)
    return finish(asked, service->wait(asked.inner));
  // Taken when the answer is wanted, not when it is asked for: that is the
  // order in which they were written.
  for (const std::string &kernel : {asked.kernel, std::string()})
    if (std::optional<ChatReply> reply = takeFirst(byKernel[kernel]))
      return *reply;
  ChatReply reply;
  reply.outcome = ChatOutcome::NotRecorded;
  reply.error = "the recording holds no reply to this request";
  reply.promptTokens = reply.replyTokens = 0;
  return reply;
}

Result<ChatReply> Cassette::cancel(uint64_t handle) {
  auto it = open.find(handle);
  if (it->second.inner) {
    Asked asked = takeHandle(handle);
    return finish(asked, service->cancel(asked.inner));
  }
  Asked asked = takeHandle(handle);
  if (asked.reply)
    return *asked.reply;
  ChatReply reply;
  reply.outcome = ChatOutcome::Interrupted;
  reply.error = "given up";
  reply.promptTokens = reply.replyTokens = 0;
  return reply;
}

} // namespace kernelbrain::propose
