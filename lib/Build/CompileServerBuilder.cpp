//===- CompileServerBuilder.cpp - Client of kb-compile --serve ------------===//

#include "kernelbrain/Build/CompileServerBuilder.h"

#include "kernelbrain/Support/JsonReader.h"

#include <cerrno>
#include <cstring>
#include <poll.h>
#include <unistd.h>

namespace kernelbrain::build {

using search::BuildRequest;
using search::BuildResult;

constexpr int64_t protocolVersion = 1;
constexpr unsigned maxDeathsInARow = 3;
/// What is no build is answered at once.
constexpr int64_t answerMs = 30000;
/// A server answers every build by its deadline; this is for its own work.
constexpr int64_t silenceAllowanceMs = 30000;

//===----------------------------------------------------------------------===//
// The process
//===----------------------------------------------------------------------===//

Result<std::unique_ptr<CompileServerBuilder>>
CompileServerBuilder::start(const CompileServerOptions &options) {
  auto found = findProgram("kb-compile", options.program, "KB_COMPILE");
  if (!found)
    return found.error();
  auto builder =
      std::unique_ptr<CompileServerBuilder>(new CompileServerBuilder(options));
  builder->program = *found;
  if (Status status = builder->launch(); !status)
    return status.error().withContext("compile server '" + *found + "'");
  return builder;
}

Status CompileServerBuilder::launch() {
  SubprocessOptions spawn;
  spawn.arguments = {
      program, "--serve", "--jobs=" + std::to_string(options.jobs),
      "--memory-limit=" + options.memoryLimit,
      "--deadline-seconds=" + std::to_string(options.deadlineSeconds)};
  if (!options.targetCpu.empty())
    spawn.arguments.push_back("--target-cpu=" + options.targetCpu);
  if (options.gpu)
    spawn.arguments.insert(
        spawn.arguments.end(),
        {"--target=cuda", "--gpu=" + dumpJson(toJson(*options.gpu))});
  if (options.threads != 1)
    spawn.arguments.push_back("--threads=" + std::to_string(options.threads));
  auto process = Subprocess::start(spawn);
  if (!process)
    return process.error();
  server.emplace(std::move(*process));
  parser = FrameParser();
  Status status = greet();
  if (status)
    return status;
  std::string ended = server->wait(0).value_or("");
  return ended.empty()
             ? status
             : Error{"it ended with " + ended + ": " + status.error().message};
}

Status CompileServerBuilder::greet() {
  if (Status sent = send({{"type", "hello"}, {"protocol", protocolVersion}});
      !sent)
    return sent;
  auto frame = receive(answerMs);
  if (!frame)
    return frame.error();
  const Json &message = frame->message;
  if (getStringOr(message, "type", "") != "hello")
    return Error{getStringOr(message, "message", "expected 'hello'")};
  int64_t found = getIntegerOr(message, "protocol", -1);
  if (found != protocolVersion)
    return Error{"expected protocol " + std::to_string(protocolVersion) +
                 ", found " + std::to_string(found)};
  JsonReader reader(message, "hello");
  reader.required("target", builtFor, targetFromJson)
      .optional("strategy_library", strategies)
      .optional("llvm_version", version)
      .optional("notes", told);
  return reader.status();
}

Status CompileServerBuilder::restart(const Error &why) {
  std::string ended = server->wait(0).value_or("");
  server->kill();
  Error cause =
      ended.empty() ? why : why.withContext("server ended with " + ended);
  if (restarting || ++deathsInARow > maxDeathsInARow)
    return cause.withContext("compile server '" + program +
                             "' cannot be kept running");
  restarting = true;
  ++restartCount;
  Status status = launch();
  if (status)
    status = replay();
  restarting = false;
  if (!status)
    return status.error().withContext("compile server '" + program +
                                      "' cannot be started again");
  return {};
}

/// Brings a new server to where the old one was.
Status CompileServerBuilder::replay() {
  for (const auto &[name, kernel] : kernels) {
    auto answer = exchangeOnce(
        {{"type", "kernel"}, {"kernel", kernel.description}}, kernel.module);
    if (!answer)
      return answer.error();
  }
  if (paused)
    if (auto answer = exchangeOnce({{"type", "pause"}}, ""); !answer)
      return answer.error();
  for (auto it = pending.begin(); it != pending.end();) {
    if (++it->second.deaths < 2) {
      if (Status sent = sendBuild(it->first, it->second.request); !sent)
        return sent;
      ++it;
      continue;
    }
    BuildResult result;
    result.id = it->second.request.id;
    result.disposition = Disposition::HarnessFault;
    result.reason = "the compile server died twice while this was built";
    finished.push_back(std::move(result));
    it = pending.erase(it);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Frames
//===----------------------------------------------------------------------===//

Status CompileServerBuilder::send(const Json &message,
                                  const std::string &blob) {
  return writeFrame(server->input(), {message, blob});
}

Result<Frame> CompileServerBuilder::receive(int64_t timeoutMs) {
  while (true) {
    auto frame = parser.next();
    if (!frame)
      return frame.error();
    if (*frame)
      return std::move(**frame);
    pollfd entry{server->output(), POLLIN, 0};
    int ready = poll(&entry, 1, static_cast<int>(timeoutMs));
    if (ready == 0)
      return Error{"no answer for " + std::to_string(timeoutMs / 1000) + " s"};
    if (ready < 0 && errno == EINTR)
      continue;
    char buffer[64 << 10];
    ssize_t count = read(server->output(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return Error{std::string("cannot read: ") + std::strerror(errno)};
    if (count == 0) {
      server->wait(1000); // Its pipe is gone: give it time to be reaped.
      return Error{"end of file"};
    }
    parser.feed({buffer, static_cast<size_t>(count)});
  }
}

Result<Frame> CompileServerBuilder::exchangeOnce(Json message,
                                                 const std::string &blob) {
  uint64_t id = nextWireId++;
  message["id"] = id;
  if (Status sent = send(message, blob); !sent)
    return sent.error();
  while (true) {
    auto frame = receive(answerMs);
    if (!frame)
      return frame.error();
    if (getIntegerOr(frame->message, "id", -1) == static_cast<int64_t>(id))
      return frame;
    if (Status status = accept(std::move(*frame)); !status)
      return status.error();
  }
}

Result<Frame> CompileServerBuilder::exchange(Json message,
                                             const std::string &blob) {
  while (true) {
    auto frame = exchangeOnce(message, blob);
    if (frame) {
      if (getStringOr(frame->message, "type", "") == "error")
        return Error{getStringOr(frame->message, "message", "refused")};
      return frame;
    }
    if (Status status = restart(frame.error()); !status)
      return status.error();
  }
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

Status CompileServerBuilder::addKernel(const Kernel &kernel,
                                       std::string module) {
  Json description = toJson(kernel);
  auto answer = exchange({{"type", "kernel"}, {"kernel", description}}, module);
  if (!answer)
    return answer.error().withContext("kernel '" + kernel.name + "'");
  kernels[kernel.name] = {std::move(description), std::move(module)};
  return {};
}

Status CompileServerBuilder::sendBuild(uint64_t wireId,
                                       const BuildRequest &request) {
  return send({{"type", "build"},
               {"id", wireId},
               {"kernel", request.kernel},
               {"recipe", toJson(request.recipe)},
               {"output", search::toString(request.output)}});
}

Status CompileServerBuilder::submit(const BuildRequest &request) {
  if (!kernels.count(request.kernel))
    return Error{"the compile server was not given kernel '" + request.kernel +
                 "'"};
  uint64_t wireId = nextWireId++;
  pending[wireId] = {request};
  if (Status sent = sendBuild(wireId, request); !sent)
    return restart(sent.error());
  return {};
}

Result<search::PayloadReading>
CompileServerBuilder::readPayload(const std::string &kernel,
                                  const std::string &text) {
  auto answer = exchange({{"type", "payload"}, {"kernel", kernel}}, text);
  if (!answer)
    return answer.error().withContext("cannot read a payload of '" + kernel +
                                      "'");
  const Json &message = answer->message;
  search::PayloadReading reading;
  std::string word = getStringOr(message, "disposition", "");
  auto disposition = dispositionFromString(word);
  if (!disposition || *disposition == Disposition::HarnessFault)
    return Error{"cannot read a payload of '" + kernel +
                 "': " + getStringOr(message, "reason", "no disposition")};
  reading.disposition = *disposition;
  reading.reason = getStringOr(message, "reason", "");
  if (*disposition != Disposition::Passed)
    return reading;
  reading.text = std::move(answer->blob);
  auto spaces = message.find("spaces");
  if (spaces != message.end())
    for (const Json &each : *spaces) {
      auto space = searchSpaceFromJson(each);
      if (!space)
        return space.error();
      space->payload = reading.text;
      reading.spaces.push_back(std::move(*space));
    }
  return reading;
}

Status CompileServerBuilder::setPaused(bool pause) {
  if (pause == paused)
    return {};
  auto answer = exchange({{"type", pause ? "pause" : "resume"}}, "");
  if (!answer)
    return answer.error();
  paused = pause;
  return {};
}

Result<std::vector<BuildResult>>
CompileServerBuilder::buildAll(std::vector<BuildRequest> requests) {
  while (!pending.empty() || !finished.empty())
    if (auto abandoned = wait(); !abandoned)
      return abandoned.error();
  for (size_t i = 0; i < requests.size(); ++i) {
    requests[i].id = i;
    if (Status status = submit(requests[i]); !status)
      return status.error();
  }
  std::vector<BuildResult> results(requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    auto result = wait();
    if (!result)
      return result.error();
    results[result->id] = std::move(*result);
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

BuildResult CompileServerBuilder::makeResult(const BuildRequest &request,
                                             Frame frame) {
  const Json &message = frame.message;
  BuildResult result;
  result.id = request.id;
  auto fault = [&](const std::string &why) {
    result.disposition = Disposition::HarnessFault;
    result.reason = why;
    return result;
  };
  if (getStringOr(message, "type", "") != "built")
    return fault(getStringOr(message, "message", "unexpected answer"));
  auto disposition =
      dispositionFromString(getStringOr(message, "disposition", ""));
  if (!disposition)
    return fault("answer without a known disposition");
  result.disposition = *disposition;
  result.reason = getStringOr(message, "reason", "");
  if (auto times = getObject(message, "times_ns")) {
    result.staticNs = getIntegerOr(*times, "static", 0);
    result.buildNs = getIntegerOr(*times, "build", 0);
  }
  if (*disposition != Disposition::Passed ||
      request.output == search::BuildOutput::Static)
    return result;
  auto json = getObject(message, "manifest");
  if (!json)
    return fault(json.error().message);
  auto manifest = manifestFromJson(*json);
  if (!manifest)
    return fault(manifest.error().message);
  result.artifact.manifest = std::move(*manifest);
  if (request.output == search::BuildOutput::Implementation) {
    result.implementation = std::move(frame.blob);
    return result;
  }
  auto path = options.store(frame.blob);
  if (!path)
    return fault(path.error().message);
  result.artifact.path = *path;
  return result;
}

Status CompileServerBuilder::accept(Frame frame) {
  auto found = pending.find(
      static_cast<uint64_t>(getIntegerOr(frame.message, "id", -1)));
  if (found == pending.end())
    return Error{"answer to no request: " +
                 getStringOr(frame.message, "message", "")};
  finished.push_back(makeResult(found->second.request, std::move(frame)));
  pending.erase(found);
  deathsInARow = 0;
  return {};
}

Result<BuildResult> CompileServerBuilder::wait() {
  while (finished.empty()) {
    if (pending.empty())
      return Error{"no build is under way"};
    // While nothing runs, nothing is due.
    auto frame = receive(
        paused ? -1 : options.deadlineSeconds * 1000 + silenceAllowanceMs);
    Status status = frame ? accept(std::move(*frame)) : Status(frame.error());
    if (!status)
      if (Status again = restart(status.error()); !again)
        return again.error();
  }
  BuildResult result = std::move(finished.front());
  finished.pop_front();
  return result;
}

} // namespace kernelbrain::build
