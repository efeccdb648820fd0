//===- WorkerServer.cpp - The request loop of kb-worker -------------------===//

#include "kernelbrain/Evaluate/Device/WorkerServer.h"

#include "CudaDevice.h"

#include "kernelbrain/Evaluate/Device/Bandwidth.h"
#include "kernelbrain/Evaluate/Device/Clock.h"
#include "kernelbrain/Evaluate/Device/KernelChecker.h"
#include "kernelbrain/Evaluate/Device/Lease.h"
#include "kernelbrain/Evaluate/Device/ProgramComparison.h"
#include "kernelbrain/Support/Frame.h"

#include <algorithm>
#include <deque>
#include <fstream>
#include <map>
#include <thread>
#include <unistd.h>

namespace kernelbrain::evaluate {

//===----------------------------------------------------------------------===//
// The host
//===----------------------------------------------------------------------===//

static std::string deviceName() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line))
    if (line.rfind("model name", 0) == 0)
      if (size_t colon = line.find(": "); colon != std::string::npos)
        return line.substr(colon + 2);
  return "unknown CPU";
}

Target describeHost() {
  Target target;
  target.threads = 1;
  auto take = [](int name, int64_t &into) {
    if (long bytes = ::sysconf(name); bytes > 0)
      into = bytes;
  };
  take(_SC_LEVEL1_DCACHE_SIZE, target.l1Bytes);
  take(_SC_LEVEL2_CACHE_SIZE, target.l2Bytes);
  take(_SC_LEVEL3_CACHE_SIZE, target.l3Bytes);
  return target;
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

namespace {

class Server {
public:
  explicit Server(const CheckerOptions &options) : options(options) {}
  Result<Json> answer(const std::string &type, const Json &request);
  bool refused = false; ///< the peer speaks another version

private:
  Result<Json> hello(const Json &request);
  Result<Json> openKernel(const Json &request);
  Result<Json> measure(const std::string &type, const Json &request);
  Result<Json> profile(const Json &request);
  void restOthers(const std::string &kernel);
  Result<Json> program(const Json &request);
  Result<Json> bandwidth();
  Result<KernelChecker *> opened(const std::string &kernel) const;

  const CheckerOptions &options;
  std::map<std::string, std::unique_ptr<KernelChecker>> kernels;
  std::deque<std::string> recent; ///< names of kernels, the last one at the end
};

} // namespace

Result<Json> Server::hello(const Json &request) {
  Result<int64_t> version = getInteger(request, "protocol");
  if (!version || *version != workerProtocolVersion) {
    refused = true;
    return Error{"this kb-worker speaks protocol " +
                 std::to_string(workerProtocolVersion) + ", not " +
                 (version ? std::to_string(*version) : "an unnamed one")};
  }
  return Json{{"type", "hello"},
              {"protocol", workerProtocolVersion},
              {"device", options.gpu ? options.gpuName : deviceName()},
              {"target", toJson(options.gpu ? *options.gpu : describeHost())}};
}

Result<Json> Server::openKernel(const Json &json) {
  Result<KernelRequest> request = kernelRequestFromJson(json);
  if (!request)
    return request.error();
  // Opening again replaces; the memory of the old one is free before.
  kernels.erase(request->kernel.name);
  Result<std::unique_ptr<KernelChecker>> checker =
      KernelChecker::open(options, *request);
  if (!checker)
    return checker.error();
  Json reply = toJson((*checker)->summary());
  if ((*checker)->summary().unusable.empty())
    kernels[request->kernel.name] = std::move(*checker);
  reply["type"] = "kernel";
  return reply;
}

/// A runner that is kept holds a context and buffers in the GPU's memory: only
/// the kernels that were asked for last keep theirs.
void Server::restOthers(const std::string &kernel) {
  constexpr size_t most = 4;
  recent.erase(std::remove(recent.begin(), recent.end(), kernel), recent.end());
  recent.push_back(kernel);
  if (recent.size() <= most)
    return;
  if (auto oldest = kernels.find(recent.front()); oldest != kernels.end())
    oldest->second->rest();
  recent.pop_front();
}

Result<KernelChecker *> Server::opened(const std::string &kernel) const {
  auto found = kernels.find(kernel);
  if (found == kernels.end())
    return Error{"kernel '" + kernel + "' is not open"};
  return found->second.get();
}

Result<Json> Server::measure(const std::string &type, const Json &json) {
  Result<ArtifactRequest> request = artifactRequestFromJson(json);
  if (!request)
    return request.error();
  Result<KernelChecker *> checker = opened(request->kernel);
  if (!checker)
    return checker.error();
  if (type == "time" && request->against.empty())
    return Error{"'against' is empty"};
  restOthers(request->kernel);
  int64_t start = nowNs();
  Measurement measurement =
      type == "check" ? (*checker)->check(request->artifact)
      : type == "time"
          ? (*checker)->time(request->artifact, request->against, request->full)
          : (*checker)->accept(request->artifact, request->verified,
                               request->against, request->seed);
  measurement.costNs = nowNs() - start;
  return Json{{"type", "measurement"},
              {"measurement", toJson(measurement)},
              {"cost_ns", measurement.costNs}};
}

Result<Json> Server::profile(const Json &json) {
  Result<ArtifactRequest> request = artifactRequestFromJson(json);
  if (!request)
    return request.error();
  Result<KernelChecker *> checker = opened(request->kernel);
  if (!checker)
    return checker.error();
  int64_t start = nowNs();
  Profile profile = (*checker)->profile(request->artifact);
  return Json{{"type", "profile"},
              {"profile", toJson(profile)},
              {"cost_ns", nowNs() - start}};
}

Result<Json> Server::program(const Json &json) {
  Result<ProgramRequest> request = programRequestFromJson(json);
  if (!request)
    return request.error();
  Result<ProgramReply> reply = comparePrograms(options, *request);
  if (!reply)
    return reply.error();
  Json message = toJson(*reply);
  message["type"] = "program";
  return message;
}

Result<Json> Server::bandwidth() {
  Result<TimingLease> lease = TimingLease::take(options.leaseFile, 60000);
  if (!lease)
    return lease.error();
  return Json{{"type", "bandwidth"},
              {"bytes_per_second", toJson(measureBandwidth(describeHost()))}};
}

Result<Json> Server::answer(const std::string &type, const Json &request) {
  if (type == "hello")
    return hello(request);
  if (type == "kernel")
    return openKernel(request);
  if (type == "check" || type == "time" || type == "accept")
    return measure(type, request);
  if (type == "profile")
    return profile(request);
  if (type == "program")
    return program(request);
  if (type == "bandwidth")
    return bandwidth();
  if (type == "forget") {
    kernels.erase(getStringOr(request, "kernel", ""));
    return Json{{"type", "forget"}};
  }
  return Error{"unknown request '" + type + "'"};
}

Status chooseGpu(CheckerOptions &options, int ordinal, bool all) {
  Result<CudaDescription> described = describeCuda(ordinal);
  if (!described)
    return described.error();
  Result<int> count = countCudaDevices();
  if (!count)
    return count.error();
  for (int other = 0; all && other < *count; ++other)
    if (other != ordinal)
      if (Result<CudaDescription> more = describeCuda(other);
          more && more->target == described->target)
        options.moreGpus.push_back(other);
  options.gpu = described->target;
  options.gpuName = described->name;
  if (options.leaseFile.empty())
    options.leaseFile = defaultLeaseFile(described->place);
  options.runner.device = ordinal;
  // The machine's cores have nothing to do while variants are on its GPU.
  options.checkerThreads =
      int(std::clamp(std::thread::hardware_concurrency(), 1u, 32u));
  return {};
}

int serveWorker(const CheckerOptions &options, int input, int output) {
  Server server(options);
  bool greeted = false;
  for (;;) {
    Result<std::optional<Frame>> frame = readFrame(input);
    if (!frame || !*frame)
      return frame ? 0 : 1;
    const Json &request = (*frame)->message;
    std::string type = getStringOr(request, "type", "");
    Result<Json> reply =
        greeted || type == "hello"
            ? server.answer(type, request)
            : Result<Json>(Error{"the first request must be hello"});
    greeted |= type == "hello" && reply;
    Json message =
        reply ? *reply
              : Json{{"type", "error"}, {"message", reply.error().message}};
    if (request.contains("id"))
      message["id"] = request["id"];
    if (!writeFrame(output, {message, ""}) || server.refused)
      return 1;
  }
}

} // namespace kernelbrain::evaluate
