//===- RunnerOnDevice.cpp - Calls of kernels on a GPU ---------------------===//

#include "CudaDevice.h"
#include "RunnerCalls.h"

#include "kernelbrain/Evaluate/Device/Clock.h"
#include "kernelbrain/Support/Random.h"

namespace kernelbrain::evaluate {

namespace {
/// An argument with what surrounds it, up to a page on each side: where guard
/// zones are.
struct Stretch {
  int64_t offset, bytes;
  bool isOutput;
};
} // namespace

static constexpr int64_t page = 4096;

static std::vector<Stretch> stretchesOf(const Json &request) {
  std::vector<Stretch> stretches;
  for (size_t k = 0; k < request["offsets"].size(); ++k)
    stretches.push_back({request["offsets"][k].get<int64_t>() - page,
                         request["bytes"].at(k).get<int64_t>() + 2 * page,
                         request["outputs"].at(k).get<bool>()});
  return stretches;
}

int32_t sendArguments(const Json &request, CudaDevice &device) {
  bool fresh = getBoolOr(request, "fresh", true);
  int poison = int(getIntegerOr(request, "poison", 255));
  int32_t status = 0;
  for (const Stretch &stretch : stretchesOf(request)) {
    int64_t after = stretch.offset + stretch.bytes - page;
    if (status)
      break;
    if (stretch.isOutput)
      status = device.poison(stretch.offset, stretch.bytes, poison);
    else if (fresh)
      status = device.upload(stretch.offset, stretch.bytes);
    else if (!(status = device.upload(stretch.offset, page)))
      status = device.upload(after, page);
  }
  return status;
}

/// Copies outputs, inputs if they are asked for, and guard zones back, and
/// waits.
static int32_t fetch(const Json &request, CudaDevice &device) {
  bool inputs = getBoolOr(request, "inputs", true);
  int32_t status = 0;
  for (const Stretch &stretch : stretchesOf(request)) {
    int64_t after = stretch.offset + stretch.bytes - page;
    if (status)
      break;
    if (stretch.isOutput || inputs)
      status = device.download(stretch.offset, stretch.bytes);
    else if (!(status = device.download(stretch.offset, page)))
      status = device.download(after, page);
  }
  return status ? status : device.synchronize();
}

Json ran(const Sample &sample, int signal) {
  return {{"type", "ran"},          {"status", sample.status},
          {"signal", signal},       {"wall_ns", sample.wallNs},
          {"cpu_ns", sample.cpuNs}, {"faults", sample.faults}};
}

Json runOnDevice(const Json &request, const Call &call, CudaDevice &device) {
  Sample sample;
  CudaDevice::Timer timer(device);
  int32_t &status = sample.status;
  status = sendArguments(request, device);
  if (!status)
    status = timer.start();
  if (!status)
    status = call();
  int32_t after = timer.stop();
  if (!after)
    after = device.synchronize();
  // One that declines leaves memory as it was: that is looked at as well.
  if (!after && status <= 1)
    after = fetch(request, device);
  if (after && status <= 1)
    status = after;
  std::vector<int64_t> ns;
  if (!status && !timer.read(ns))
    sample.wallNs = sample.cpuNs = ns[0];
  Json reply = ran(sample, 0);
  reply["output"] = status ? device.message(status) : "";
  return reply;
}

Json fetchArguments(const Json &request, CudaDevice &device) {
  Sample sample;
  sample.status = fetch(request, device);
  Json reply = ran(sample, 0);
  reply["output"] = device.message(sample.status);
  return reply;
}

namespace {
/// One round of timed calls. The first status that is not 0 stays.
class DeviceRound {
public:
  explicit DeviceRound(CudaDevice &device) : device(device), timer(device) {}

  void note(int32_t result) {
    if (!status)
      status = result;
  }
  /// Work that keeps the device busy until enough is enqueued behind it.
  void fillQueue() {
    for (int k = 0; k < 4 && !status; ++k)
      note(device.flush());
  }
  void enqueue(const Call &call) {
    note(device.flush());
    if (!status)
      note(timer.start());
    if (!status)
      note(call());
    note(timer.stop());
  }
  std::vector<int64_t> finish() {
    std::vector<int64_t> ns;
    note(device.synchronize());
    if (!status)
      note(timer.read(ns));
    return ns;
  }
  int32_t status = 0;

private:
  CudaDevice &device;
  CudaDevice::Timer timer;
};
} // namespace

Json timePairsOnDevice(const Json &request, const Call calls[2],
                       CudaDevice &device) {
  int64_t start = nowNs();
  int64_t pairs = getIntegerOr(request, "pairs", 1);
  int64_t control = getIntegerOr(request, "control", 1) ? 1 : 0;
  bool isFirst = request["batches"].at(0).get<int64_t>() <= 0;
  Random random({uint64_t(getIntegerOr(request, "seed", 0))});
  int32_t status = 0;
  if (isFirst)
    status = sendArguments(request, device);
  // The first call loads code.
  for (int k = 0; k < 2 && isFirst && !status; ++k)
    status = calls[k]();
  DeviceRound round(device);
  round.note(status);
  round.fillQueue();
  std::vector<int> order; // 0: A, 1: B, 2: the control; three a pair
  for (int64_t pair = 0; pair < pairs && !round.status; ++pair) {
    int three[3] = {0, 1, 2};
    for (int k = 2; k > 0; --k)
      std::swap(three[k], three[random.below(k + 1)]);
    for (int which : three) {
      order.push_back(which);
      round.enqueue(calls[which == 2 ? control : which]);
    }
  }
  std::vector<int64_t> ns = round.finish();
  if (round.status)
    return {{"type", "ran"},
            {"status", round.status},
            {"signal", 0},
            {"output", device.message(round.status)}};
  Json samples = Json::array();
  for (size_t at = 0; at < order.size(); at += 3) {
    int64_t times[3];
    for (size_t k = at; k < at + 3; ++k)
      times[order[k]] = ns[k];
    Json row = Json::array();
    for (int64_t time : times)
      for (int64_t member : {time, time, int64_t(0)})
        row.push_back(member);
    samples.push_back(row);
  }
  return {{"type", "timed"},
          {"batches", {1, 1}},
          {"samples", samples},
          {"total_ns", nowNs() - start}};
}

} // namespace kernelbrain::evaluate
