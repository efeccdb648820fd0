//===- Timing.cpp - From pairs of samples to a ratio ----------------------===//

#include "kernelbrain/Evaluate/Device/Timing.h"

#include "kernelbrain/Evaluate/Device/Clock.h"
#include "kernelbrain/Support/Random.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace kernelbrain::evaluate {

//===----------------------------------------------------------------------===//
// Statistics
//===----------------------------------------------------------------------===//

bool PairSample::wasPreempted(int k) const {
  return wall[k] > 1.05 * cpu[k] + 2000.0 / double(calls[k]);
}

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  double at = q * double(values.size() - 1);
  auto low = size_t(at);
  size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (at - double(low)) * (values[high] - values[low]);
}

Ratio quantileWithInterval(const std::vector<double> &ratios, double q) {
  constexpr int resamples = 400;
  Random random({ratios.size(), 0x5ca1ab1e});
  std::vector<double> quantiles, drawn(ratios.size());
  for (int k = 0; k < resamples; ++k) {
    for (double &value : drawn)
      value = ratios[random.below(ratios.size())];
    quantiles.push_back(quantile(drawn, q));
  }
  return {quantile(quantiles, 0.025), quantile(ratios, q),
          quantile(quantiles, 0.975)};
}

static std::string percent(double ratio) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f%%", 100 * (ratio - 1));
  return text;
}

static void judgeNoise(TimingSummary &summary) {
  const Ratio &control = summary.control, &ratio = summary.ratio;
  double spread = control.high / control.low;
  // The control runs the same code twice: its median should be 1.
  if (control.middle < 0.97 || control.middle > 1.03)
    summary.noise =
        "the same code differed from itself by " + percent(control.middle);
  else if (spread > 1.3)
    summary.noise =
        "half of the runs of the same code spread over " + percent(spread);
  double doubt = 1.1 * std::max({spread, control.middle, 1 / control.middle});
  bool isDecided = ratio.low > doubt || ratio.high < 1 / doubt;
  bool clocksAgree = std::fabs(summary.cpuRatio / ratio.middle - 1) <= 0.1;
  if (!clocksAgree)
    summary.noise = "the ratio is " + std::to_string(ratio.middle) +
                    " by wall time and " + std::to_string(summary.cpuRatio) +
                    " by CPU time";
  // Noise that could not have changed the answer does no harm.
  summary.quiet = summary.noise.empty() || (isDecided && clocksAgree);
}

TimingSummary summarize(const std::vector<PairSample> &samples, int control,
                        double q) {
  TimingSummary summary;
  std::vector<double> ratios, cpuRatios, controls, a, b, faults;
  for (const PairSample &sample : samples) {
    summary.preempted += sample.wasPreempted(0) || sample.wasPreempted(1);
    ratios.push_back(sample.time(0) / sample.time(1));
    cpuRatios.push_back(sample.cpu[0] / sample.cpu[1]);
    controls.push_back(sample.time(2) / sample.time(control));
    a.push_back(sample.time(0));
    b.push_back(sample.time(1));
    faults.push_back(double(sample.faults[1]));
  }
  summary.pairs = ratios.size();
  if (ratios.empty())
    return summary;
  summary.ratio = quantileWithInterval(ratios, q);
  summary.upperQuartile = quantile(ratios, 0.75);
  summary.cpuRatio = quantile(cpuRatios, q);
  summary.control = {quantile(controls, 0.25), quantile(controls, 0.5),
                     quantile(controls, 0.75)};
  summary.aNs = int64_t(quantile(a, 0.25));
  summary.bNs = int64_t(quantile(b, 0.25));
  summary.bFaults = int64_t(quantile(faults, 0.5));
  judgeNoise(summary);
  return summary;
}

void TimingSummary::standIn(int64_t knownNs) {
  double factor = double(knownNs) / double(std::max<int64_t>(1, aNs));
  ratio = {0.9 * factor * ratio.low, factor * ratio.middle,
           1.1 * factor * ratio.high};
  cpuRatio *= factor;
  upperQuartile *= factor;
  aNs = knownNs;
  alone = true;
}

bool isSettled(const TimingSummary &summary, bool full) {
  if (summary.pairs < 3)
    return false;
  const Ratio &ratio = summary.ratio;
  if (!full)
    return summary.quiet && (ratio.high < 0.98 || ratio.low > 1.05);
  // No decision hangs on the digits of a large factor, and its pairs are slow.
  if (ratio.low > 4 || ratio.high < 0.25)
    return summary.quiet;
  // The last percent matters between rivals that are close.
  bool isFar = ratio.low > 1.5 || ratio.high < 1 / 1.5;
  return summary.quiet && summary.pairs >= 10 &&
         ratio.high - ratio.low < (isFar ? 0.03 : 0.01) * ratio.middle;
}

double physicalFloorNs(double bytes, double cacheBytes, double bytesPerSecond) {
  return std::max(0.0, bytes - cacheBytes) / bytesPerSecond * 1e9;
}

//===----------------------------------------------------------------------===//
// Rounds
//===----------------------------------------------------------------------===//

namespace {

struct Caps {
  size_t round, pairs;
  int64_t ns;
};

/// Takes the samples out of a reply of the runner.
Outcome readSamples(const Json &reply, std::vector<PairSample> &samples,
                    int64_t batches[2], int control) {
  if (getStringOr(reply, "type", "") == "ran") {
    auto status = int32_t(getIntegerOr(reply, "status", -1));
    Outcome outcome = {Disposition::LaunchFailed,
                       "status " + std::to_string(status)};
    if (status > 1000)
      outcome = outcomeOfStatus(status, getStringOr(reply, "output", ""));
    outcome.reason += " while it was timed";
    return outcome;
  }
  Outcome malformed = {Disposition::Crashed, "the runner's reply is malformed"};
  Result<Json> counts = getArray(reply, "batches"),
               rows = getArray(reply, "samples");
  if (!counts || !rows || counts->size() != 2)
    return malformed;
  for (int k : {0, 1}) {
    if (!(*counts)[k].is_number_integer() || (*counts)[k].get<int64_t>() < 1)
      return malformed;
    batches[k] = (*counts)[k].get<int64_t>();
  }
  for (const Json &row : *rows) {
    if (!row.is_array() || row.size() != 9)
      return malformed;
    PairSample sample;
    for (int k = 0; k < 3; ++k) {
      for (int part = 0; part < 3; ++part)
        if (!row[3 * k + part].is_number_integer())
          return malformed;
      sample.calls[k] = batches[k == 2 ? control : k];
      auto count = double(sample.calls[k]);
      sample.wall[k] = std::max(1.0, row[3 * k].get<double>() / count);
      sample.cpu[k] = std::max(1.0, row[3 * k + 1].get<double>() / count);
      sample.faults[k] = row[3 * k + 2].get<int64_t>();
    }
    samples.push_back(sample);
  }
  return {};
}

/// A runner cannot claim more time than passed on the checker's clock, nor much
/// less than the CPU time that each of its threads took: nearly all of a round
/// is spent in calls. (On a busy machine more time passes than either of them
/// uses.)
Outcome checkClock(const Json &reply, double sampledNs, int64_t elapsedNs,
                   int64_t cpuNs) {
  int64_t claimed = getIntegerOr(reply, "total_ns", 0);
  // A GPU has a clock of its own.
  if (sampledNs > 1.01 * double(elapsedNs) + 1e6)
    return {Disposition::Suspicious,
            "the runner's samples take " + std::to_string(int64_t(sampledNs)) +
                " ns of " + std::to_string(elapsedNs) + " ns that passed"};
  if (claimed <= elapsedNs + 1000000 && claimed >= cpuNs / 2 - 20000000)
    return {};
  return {Disposition::Suspicious,
          "the runner claims " + std::to_string(claimed) + " ns of " +
              std::to_string(elapsedNs) + " ns that passed, of which it used " +
              std::to_string(cpuNs)};
}

} // namespace

Outcome timeSlots(RunnerProcess &runner, Json call, const TimingPlan &plan,
                  TimingSummary &summary) {
  Result<TimingLease> lease = TimingLease::take(plan.leaseFile, 60000);
  if (!lease)
    return Outcome::fault(lease.error());
  Caps caps = plan.full ? Caps{10, 80, 2000000000} : Caps{5, 15, 300000000};
  // A round of a slow rival should not take the time of many.
  if (plan.expectedNs * int64_t(4 * caps.round) > caps.ns / 2)
    caps.round = 3;
  int64_t batches[2] = {0, 0}, start = nowNs();
  int control = 1;
  std::vector<PairSample> samples;
  call["type"] = "time";
  for (uint64_t round = 0;; ++round) {
    call["pairs"] = caps.round;
    call["batches"] = {batches[0], batches[1]};
    call["control"] = control;
    call["seed"] = int64_t((plan.seed + round) & 0x7fffffff);
    Json reply;
    int64_t asked = nowNs(), cpuBefore = processCpuNs(runner.pid());
    Outcome outcome =
        runner.ask(call,
                   std::min<int64_t>(60000, plan.callDeadlineMs * 8 *
                                                int64_t(caps.round + 1)),
                   reply);
    if (!outcome)
      return outcome;
    size_t before = samples.size();
    if (outcome = readSamples(reply, samples, batches, control); !outcome)
      return outcome;
    double sampledNs = 0;
    for (size_t k = before; k < samples.size(); ++k)
      for (int part = 0; part < 3; ++part)
        sampledNs += samples[k].wall[part] * double(samples[k].calls[part]);
    if (outcome = checkClock(reply, sampledNs, nowNs() - asked,
                             (processCpuNs(runner.pid()) - cpuBefore) /
                                 runner.threads());
        !outcome)
      return outcome;
    summary = summarize(samples, control, plan.quantile);
    bool exhausted = samples.size() >= caps.pairs || nowNs() - start > caps.ns;
    if (isSettled(summary, plan.full))
      return {};
    // A noisy end gets as long again before it is believed to be noisy.
    if (exhausted && (summary.quiet || samples.size() >= 2 * caps.pairs ||
                      nowNs() - start > 2 * caps.ns))
      return {};
  }
}

} // namespace kernelbrain::evaluate
