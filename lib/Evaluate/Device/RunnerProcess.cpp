//===- RunnerProcess.cpp - The checker's end of a runner ------------------===//

#include "kernelbrain/Evaluate/Device/RunnerProcess.h"

#include "kernelbrain/Evaluate/Device/Clock.h"
#include "kernelbrain/Runtime/CudaDriver.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <poll.h>
#include <unistd.h>

namespace kernelbrain::evaluate {

/// Starting and mapping hundreds of MiB on a busy machine takes long at most.
static constexpr int64_t startDeadlineMs = 20000, loadDeadlineMs = 10000;
/// A GPU that is used by nobody, or has a kernel to end first, takes seconds.
static constexpr int64_t deviceStartDeadlineMs = 60000;
/// A runner has no reason to answer more than this.
static constexpr size_t maxReplyBytes = 8 << 20;

Outcome outcomeOfStatus(int32_t status, const std::string &message) {
  int error = status - 1000;
  // Too many threads or too much shared memory is an invalid value.
  if (error == cuda::InvalidValue || error == cuda::OutOfMemory ||
      error == cuda::LaunchOutOfResources)
    return {Disposition::OutOfResources, "the GPU refuses it: " + message};
  // Errors in device code, which end the context.
  if (error >= cuda::IllegalAddress && error <= cuda::LaunchFailed)
    return {Disposition::Crashed, "on the GPU: " + message};
  return {Disposition::LaunchFailed,
          message + " (status " + std::to_string(status) + ")"};
}

/// What a runner on a GPU may read to load the artifact at `path`, and others:
/// the folder that it lies in, or `artifacts`. The sandbox rules what is in a
/// folder, not what links there lead to.
static std::string sharedFolder(const std::string &artifacts,
                                const std::string &path) {
  std::error_code ignored;
  std::string file = std::filesystem::weakly_canonical(path, ignored);
  std::string below =
      artifacts.empty()
          ? ""
          : std::filesystem::weakly_canonical(artifacts, ignored).string() +
                "/";
  if (!below.empty() && file.rfind(below, 0) == 0)
    return below;
  return file.substr(0, file.rfind('/') + 1);
}

bool RunnerProcess::canLoad(const std::string &path) const {
  constexpr int mostLoads = 256;
  return loads < mostLoads &&
         std::find(readable.begin(), readable.end(),
                   sharedFolder(artifacts, path)) != readable.end();
}

Result<RunnerProcess>
RunnerProcess::start(const RunnerSetup &setup, const SharedBuffers &buffers,
                     const std::vector<std::string> &artifacts,
                     bool allowFork) {
  SubprocessOptions options;
  options.arguments = setup.memcheck;
  for (const std::string &argument :
       {setup.program, std::string("--run"),
        "--memory-bytes=" + std::to_string(setup.memoryBytes),
        "--threads=" + std::to_string(setup.threads)})
    options.arguments.push_back(argument);
  if (!setup.memcheck.empty())
    options.arguments.push_back("--memcheck");
  if (setup.device >= 0)
    options.arguments.push_back("--device=cuda:" +
                                std::to_string(setup.device));
  if (setup.profile)
    options.arguments.push_back("--profile");
  if (allowFork)
    options.arguments.push_back("--allow-fork");
  std::vector<std::string> readable;
  for (const std::string &artifact : artifacts)
    if (!artifact.empty())
      readable.push_back(setup.device >= 0
                             ? sharedFolder(setup.artifacts, artifact)
                             : artifact);
  for (const std::string &path : readable)
    options.arguments.push_back("--readable=" + path);
  options.inheritStderr = false;
  options.inherited = buffers.fd();
  Result<Subprocess> process = Subprocess::start(options);
  if (!process)
    return process.error();
  RunnerProcess runner(std::move(*process), setup);
  runner.readable = std::move(readable);
  Json reply;
  Outcome mapped = runner.ask({{"type", "map"},
                               {"bytes", buffers.size()},
                               {"forbidden", buffers.forbiddenPages()}},
                              setup.device >= 0 && setup.memcheck.empty()
                                  ? deviceStartDeadlineMs
                                  : startDeadlineMs,
                              reply);
  if (!mapped)
    return Error{"the runner did not start: " + mapped.reason};
  runner.measures = reply["sandbox"].get<std::vector<std::string>>();
  return runner;
}

Outcome RunnerProcess::died() {
  // An end of file precedes the exit by a moment.
  std::optional<std::string> end = process.wait(1000);
  process.kill();
  return {Disposition::Crashed,
          "the runner died: " + (!end ? std::string("it closed its output")
                                 : end->empty() ? std::string("exit status 0")
                                                : *end)};
}

Outcome RunnerProcess::ask(const Json &request, int64_t deadlineMs,
                           Json &reply) {
  int64_t deadline = nowNs() + deadlineMs * 1000000;
  received = 0;
  if (!writeFrame(process.input(), {request, ""}))
    return died();
  for (;;) {
    Result<std::optional<Frame>> frame = parser.next();
    if (!frame || (*frame && !(*frame)->message.is_object())) {
      process.kill();
      return {Disposition::Crashed, "the runner's reply is malformed"};
    }
    if (*frame) {
      reply = std::move((*frame)->message);
      if (getStringOr(reply, "type", "") == "failed")
        return {Disposition::LaunchFailed, getStringOr(reply, "reason", "")};
      return {};
    }
    int64_t left = (deadline - nowNs() + 999999) / 1000000;
    if (left <= 0) {
      process.kill();
      return {Disposition::TimedOut,
              "no answer within " + std::to_string(deadlineMs) + " ms"};
    }
    pollfd entry{process.output(), POLLIN, 0};
    if (::poll(&entry, 1, int(std::min<int64_t>(left, 1000))) <= 0)
      continue;
    char buffer[65536];
    ssize_t count = ::read(process.output(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return died();
    received += size_t(count);
    if (received > maxReplyBytes) {
      process.kill();
      return {Disposition::Crashed, "the runner's replies are too long"};
    }
    parser.feed({buffer, size_t(count)});
  }
}

Outcome RunnerProcess::load(int slot, const std::string &path,
                            Manifest &manifest) {
  Json reply;
  ++loads;
  Outcome outcome = ask({{"type", "load"}, {"slot", slot}, {"path", path}},
                        loadDeadlineMs, reply);
  if (!outcome)
    return outcome;
  Result<Json> json = parseJson(getStringOr(reply, "manifest", ""));
  if (!json)
    return {Disposition::LaunchFailed,
            "the manifest does not parse: " + json.error().message};
  Result<Manifest> parsed = manifestFromJson(*json);
  if (!parsed)
    return {Disposition::LaunchFailed,
            "the manifest is malformed: " + parsed.error().message};
  manifest = std::move(*parsed);
  return {};
}

bool RunnerProcess::end(int deadlineMs) {
  process.closeInput();
  return process.wait(deadlineMs).has_value();
}

Outcome RunnerProcess::fetch(Json request, int64_t deadlineMs) {
  request["type"] = "fetch";
  Json json;
  Outcome outcome = ask(request, deadlineMs, json);
  auto status = int32_t(getIntegerOr(json, "status", -1));
  return outcome && status
             ? outcomeOfStatus(status, getStringOr(json, "output", ""))
             : outcome;
}

Outcome RunnerProcess::run(Json request, int64_t deadlineMs, RunReply &reply) {
  request["type"] = "run";
  Json json;
  Outcome outcome = ask(request, deadlineMs, json);
  if (!outcome)
    return outcome;
  reply.status = int32_t(getIntegerOr(json, "status", -1));
  reply.signal = int(getIntegerOr(json, "signal", 0));
  reply.output = getStringOr(json, "output", "");
  reply.wallNs = getIntegerOr(json, "wall_ns", 0);
  reply.cpuNs = getIntegerOr(json, "cpu_ns", 0);
  if (device >= 0 && reply.status > 1000)
    return outcomeOfStatus(reply.status, reply.output);
  return {};
}

} // namespace kernelbrain::evaluate
