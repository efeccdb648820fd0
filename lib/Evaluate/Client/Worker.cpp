//===- Worker.cpp - A kb-worker process -----------------------------------===//

#include "kernelbrain/Evaluate/Client/Worker.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

namespace kernelbrain::evaluate {

static constexpr int64_t greetingDeadlineMs = 30000;
/// How long a cancelled request lasts at most.
static constexpr int64_t pollMs = 100;

namespace {
/// Writing to a worker that died must be an error, not a signal, and the host
/// process's own disposition of SIGPIPE is not ours to change.
class PipeSignalBlock {
public:
  PipeSignalBlock() {
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe, &before);
  }
  ~PipeSignalBlock() {
    timespec none{};
    if (!sigismember(&before, SIGPIPE))
      ::sigtimedwait(&pipe, nullptr, &none);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

private:
  sigset_t pipe, before;
};

int64_t nowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}
} // namespace

Result<Json> Worker::exchange(const Json &message) {
  auto gone = [&](const std::string &why) {
    process.reset();
    return Error{"kb-worker " + why};
  };
  auto ended = [&] {
    std::optional<std::string> end = process->wait(1000);
    return gone(end && !end->empty() ? "died: " + *end : "ended");
  };
  {
    PipeSignalBlock block;
    if (!writeFrame(process->input(), {message, ""}))
      return ended();
  }
  int64_t deadline =
      nowMs() +
      (message["type"] == "hello" ? greetingDeadlineMs : options.deadlineMs);
  for (;;) {
    Result<std::optional<Frame>> frame = parser.next();
    if (!frame)
      return gone("sent a malformed frame: " + frame.error().message);
    if (*frame) {
      Json reply = std::move((*frame)->message);
      if (getIntegerOr(reply, "id", -1) != message["id"].get<int64_t>())
        return gone("answered another request");
      if (getStringOr(reply, "type", "") == "error")
        return Error{getStringOr(reply, "message", "unknown error")};
      return reply;
    }
    if (isCancelled())
      return gone("was interrupted");
    int64_t left = deadline - nowMs();
    if (left <= 0)
      return gone("did not answer in time");
    pollfd entry{process->output(), POLLIN, 0};
    if (::poll(&entry, 1, int(std::min<int64_t>(left, pollMs))) <= 0)
      continue;
    char buffer[65536];
    ssize_t count = ::read(process->output(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return ended();
    parser.feed({buffer, size_t(count)});
  }
}

Status Worker::start() {
  if (isCancelled())
    return Error{"kb-worker was interrupted"};
  SubprocessOptions spawn;
  spawn.arguments = {options.program};
  spawn.arguments.insert(spawn.arguments.end(), options.arguments.begin(),
                         options.arguments.end());
  Result<Subprocess> child = Subprocess::start(spawn);
  if (!child)
    return child.error();
  process = std::move(*child);
  parser = FrameParser();
  ++started;
  Result<Json> reply = exchange({{"type", "hello"},
                                 {"id", int64_t(++lastId)},
                                 {"protocol", workerProtocolVersion}});
  if (!reply) {
    process.reset();
    return reply.error().withContext("cannot start '" + options.program + "'");
  }
  if (!getString(*reply, "device")) {
    process.reset();
    return Error{"'" + options.program + "' is not a kb-worker"};
  }
  if (int64_t found = getIntegerOr(*reply, "protocol", -1);
      found != workerProtocolVersion) {
    process.reset();
    return Error{"'" + options.program + "' speaks protocol " +
                 std::to_string(found) + ", expected " +
                 std::to_string(workerProtocolVersion)};
  }
  greeting = *reply;
  return {};
}

Result<Json> Worker::request(Json message) {
  if (!process)
    if (Status status = start(); !status)
      return status.error();
  message["id"] = int64_t(++lastId);
  return exchange(message);
}

Result<Json> Worker::hello() {
  if (!process)
    if (Status status = start(); !status)
      return status.error();
  return greeting;
}

bool Worker::hasGpu() {
  Result<Json> greeting = hello();
  Result<Json> target =
      greeting ? getObject(*greeting, "target") : greeting.error();
  return target && getStringOr(*target, "kind", "") == "cuda";
}

Result<PeakBandwidth> Worker::measureBandwidth() {
  Result<Json> reply = request({{"type", "bandwidth"}});
  if (!reply)
    return reply.error();
  Result<Json> peak = getObject(*reply, "bytes_per_second");
  if (!peak)
    return peak.error();
  return peakBandwidthFromJson(*peak);
}

Result<ProgramReply> Worker::comparePrograms(const ProgramRequest &asked) {
  Json message = toJson(asked);
  message["type"] = "program";
  Result<Json> reply = request(message);
  if (!reply && !alive())
    reply = request(message);
  if (!reply)
    return reply.error();
  return programReplyFromJson(*reply);
}

} // namespace kernelbrain::evaluate
