//===- RunnerTiming.cpp - Timing calls in the runner ----------------------===//

#include "RunnerCalls.h"

#include "kernelbrain/Support/Random.h"

#include <algorithm>
#include <ctime>
#include <sys/resource.h>

namespace kernelbrain::evaluate {

/// A timed batch should last at least this long: clock and call overhead are
/// then below one part in a thousand.
static constexpr int64_t shortestBatchNs = 50000;

static int64_t now(clockid_t clock) {
  timespec time;
  ::clock_gettime(clock, &time);
  return int64_t(time.tv_sec) * 1000000000 + time.tv_nsec;
}

static rusage threadUsage() {
  rusage usage;
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage;
}

Sample measure(const Call &call, int64_t count) {
  Sample sample;
  rusage before = threadUsage();
  int64_t cpu = now(CLOCK_THREAD_CPUTIME_ID), wall = now(CLOCK_MONOTONIC);
  for (int64_t i = 0; i < count && sample.status == 0; ++i)
    sample.status = call();
  sample.wallNs = now(CLOCK_MONOTONIC) - wall;
  sample.cpuNs = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
  rusage after = threadUsage();
  sample.faults = after.ru_minflt - before.ru_minflt;
  // Code that waits of its own accord spends that time itself.
  if (after.ru_nvcsw != before.ru_nvcsw)
    sample.cpuNs = sample.wallNs;
  return sample;
}

static int64_t calibrate(const Call &call, int32_t &status) {
  // The first call is cold, and any call may have been interrupted.
  Sample first = measure(call, 1);
  status = first.status;
  if (status || std::min(first.wallNs, first.cpuNs) >= 10 * shortestBatchNs)
    return 1;
  int64_t best = first.wallNs;
  for (int round = 0; round < 3 && !status; ++round) {
    Sample warm = measure(call, 3);
    status = warm.status;
    best = std::min({best, warm.wallNs / 3, warm.cpuNs / 3});
  }
  best = std::max<int64_t>(1, best);
  return std::clamp<int64_t>((shortestBatchNs + best - 1) / best, 1, 10000);
}

static Json failure(int32_t status) {
  return {{"type", "ran"}, {"status", status}, {"signal", 0}};
}

Json timePairs(const Json &request, const Call calls[2]) {
  int64_t start = now(CLOCK_MONOTONIC);
  int64_t pairs = getIntegerOr(request, "pairs", 1);
  int64_t control = getIntegerOr(request, "control", 1) ? 1 : 0;
  Random random({uint64_t(getIntegerOr(request, "seed", 0))});
  int64_t batches[2];
  for (int k : {0, 1}) {
    batches[k] = request["batches"].at(k).get<int64_t>();
    int32_t status = 0;
    if (batches[k] <= 0)
      batches[k] = calibrate(calls[k], status);
    if (status)
      return failure(status);
  }
  // A sample is wall, cpu and faults of A, of B and of the control.
  Json samples = Json::array();
  for (int64_t pair = 0; pair < pairs; ++pair) {
    int order[3] = {0, 1, 2};
    for (int k = 2; k > 0; --k)
      std::swap(order[k], order[random.below(k + 1)]);
    Sample taken[3];
    for (int which : order) {
      int64_t k = which == 2 ? control : which;
      int32_t status = calls[k]();
      if (!status) {
        taken[which] = measure(calls[k], batches[k]);
        status = taken[which].status;
      }
      if (status)
        return failure(status);
    }
    Json row = Json::array();
    for (const Sample &sample : taken) {
      row.push_back(sample.wallNs);
      row.push_back(sample.cpuNs);
      row.push_back(sample.faults);
    }
    samples.push_back(row);
  }
  return {{"type", "timed"},
          {"batches", {batches[0], batches[1]}},
          {"samples", samples},
          {"total_ns", now(CLOCK_MONOTONIC) - start}};
}

} // namespace kernelbrain::evaluate
