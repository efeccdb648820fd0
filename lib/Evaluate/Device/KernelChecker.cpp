//===- KernelChecker.cpp - Checks, times and accepts variants -------------===//

#include "kernelbrain/Evaluate/Device/KernelChecker.h"

#include "VariantRun.h"

#include "kernelbrain/Evaluate/Device/Clock.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <unistd.h>

namespace kernelbrain::evaluate {

Result<std::unique_ptr<KernelChecker>>
KernelChecker::open(const CheckerOptions &options,
                    const KernelRequest &request) {
  Result<std::unique_ptr<KernelBank>> bank =
      KernelBank::build(options, request, /*everySet=*/false);
  if (!bank)
    return bank.error();
  return std::unique_ptr<KernelChecker>(
      new KernelChecker(options, std::move(*bank)));
}

static Measurement finished(Measurement measurement, const Outcome &outcome) {
  measurement.disposition = outcome.disposition;
  measurement.reason = outcome.reason;
  return measurement;
}

KernelChecker::KernelChecker(const CheckerOptions &options,
                             std::unique_ptr<KernelBank> ownBank)
    : options(options), bank(std::move(ownBank)), isStrict(!bank->isLarge()) {
  this->options.runner.artifacts = bank->asked().artifacts;
  lanes.emplace_back(new Lane{bank->buffers(), options.runner.device, {}});
  for (int gpu : options.moreGpus) {
    // Without memory for it there is one less.
    Result<KernelBuffers> buffers = bank->createBuffers();
    if (!buffers)
      break;
    moreBuffers.emplace_back(new KernelBuffers(std::move(*buffers)));
    lanes.emplace_back(new Lane{*moreBuffers.back(), gpu, {}});
  }
}

KernelChecker::~KernelChecker() = default;

void KernelChecker::rest() {
  for (std::unique_ptr<Lane> &lane : lanes)
    lane->runner.reset();
}

/// A context on a GPU takes up to a second to make: a runner in which nothing
/// failed is used again there. Elsewhere each request has its own.
void KernelChecker::endRequest(const Measurement &measurement) {
  if (!options.gpu || !isCorrect(measurement.disposition))
    rest();
}

Measurement KernelChecker::check(const std::string &artifact) {
  Measurement measurement = checkSets(artifact);
  endRequest(measurement);
  return measurement;
}

/// The part of a check that is about set `k`.
static Outcome checkOne(VariantRun &variant, const std::vector<BankSet> &all,
                        size_t k, bool isStrict, double &error) {
  const BankSet &set = all[k];
  if (set.inputs.violating)
    return variant.checkViolating(set);
  Outcome outcome = variant.checkSet(set, Placement::Centered,
                                     /*twice=*/isStrict || k == 0, error);
  // Once more at the edge of memory: where reading too far shows.
  if (!outcome || (k > 0 && set.inputs.dims == all[0].inputs.dims))
    return outcome;
  outcome = variant.checkSet(set, Placement::AtEnd, isStrict, error);
  if (outcome.disposition == Disposition::Crashed)
    outcome = {Disposition::Incorrect,
               "touches memory outside its buffers, or counts on more "
               "alignment than is promised (" +
                   outcome.reason + ")"};
  return outcome;
}

Measurement KernelChecker::checkSets(const std::string &artifact) {
  Measurement measurement;
  measurement.rung = 2;
  const std::vector<BankSet> &all = bank->sets();
  std::vector<Outcome> outcomes(all.size());
  std::vector<double> errors(all.size());
  std::atomic<size_t> next{0}, firstFailed{all.size()};
  // Sets are taken in order, so that all before the first that fails are done.
  auto work = [&](Lane &lane, Outcome &started) {
    VariantRun variant(options, *bank, lane);
    started = variant.start({artifact}, bank->kernel().asserts);
    for (size_t k; started && (k = next++) < all.size() && k < firstFailed;) {
      outcomes[k] = checkOne(variant, all, k, isStrict, errors[k]);
      if (!outcomes[k]) {
        for (size_t known = firstFailed;
             k < known && !firstFailed.compare_exchange_weak(known, k);)
          ;
        return;
      }
    }
  };
  size_t used = std::min(lanes.size(), all.size());
  std::vector<Outcome> starts(used);
  std::vector<std::thread> helpers;
  for (size_t k = 0; k < used; ++k)
    lanes[k]->buffers.threads = std::max(1, options.checkerThreads / int(used));
  for (size_t k = 1; k < used; ++k)
    helpers.emplace_back([&, k] { work(*lanes[k], starts[k]); });
  work(*lanes[0], starts[0]);
  for (std::thread &helper : helpers)
    helper.join();
  Json sets = Json::object();
  Outcome outcome = starts[0];
  for (size_t k = 0; k < all.size() && outcome; ++k) {
    measurement.error = std::max(measurement.error, errors[k]);
    sets[all[k].inputs.name()] = errors[k];
    outcome = outcomes[k];
    if (!outcome)
      outcome.reason += " (set " + all[k].inputs.name() + ")";
  }
  measurement.details = {{"sets", sets}};
  return finished(measurement, outcome);
}

static double lastLevelCacheBytes(const CheckerOptions &options) {
  if (options.cacheBytes > 0)
    return options.cacheBytes;
  long bytes = ::sysconf(_SC_LEVEL3_CACHE_SIZE);
  // A virtual machine may hide its cache: then nothing is suspicious below the
  // largest one there is.
  return bytes > 0 ? double(bytes) : 1.2e9;
}

static void describeTiming(Measurement &measurement,
                           const TimingSummary &summary) {
  measurement.timeNs = std::max<int64_t>(1, summary.bNs);
  measurement.pageFaults = summary.bFaults;
  measurement.details["timing"] = {{"pairs", summary.pairs},
                                   {"preempted", summary.preempted},
                                   {"against_ns", summary.aNs},
                                   {"noise", summary.noise},
                                   {"alone", summary.alone},
                                   {"cpu_ratio", summary.cpuRatio},
                                   {"control", toJson(summary.control)}};
  measurement.speedup = summary.ratio;
}

Measurement KernelChecker::time(const std::string &artifact,
                                const std::string &against, bool full) {
  Measurement measurement = timeAgainst(artifact, against, full);
  endRequest(measurement);
  return measurement;
}

Measurement KernelChecker::timeAgainst(const std::string &artifact,
                                       const std::string &against, bool full) {
  Measurement measurement;
  measurement.rung = full ? 4 : 3;
  measurement.details = Json::object();
  VariantRun variant(options, *bank, *lanes[0]);
  TimingSummary summary;
  // Looking at results takes large kernels far longer than timing: once, after
  // the full measurement, is enough.
  bool look = full || isStrict;
  auto timePairs = [&](int64_t knownNs) {
    Outcome outcome = variant.start({knownNs ? artifact : against, artifact},
                                    bank->kernel().asserts);
    return outcome
               ? variant.time(full, look, bank->asked().seed, knownNs, summary)
               : outcome;
  };
  // A slow baseline is not run again for each question, unless it is close.
  constexpr double farAhead = 4;
  int64_t slowNs = bank->slowBaselineNs(against);
  Outcome outcome = timePairs(slowNs);
  if (outcome && slowNs && summary.ratio.low < farAhead)
    outcome = timePairs(0);
  if (!outcome)
    return finished(measurement, outcome);
  describeTiming(measurement, summary);
  // A variant that is slow, or does something else, once it has been timed.
  const BankSet &set = bank->sets()[0];
  int32_t status = 0;
  if (look)
    outcome = variant.runOnce(set, Placement::Centered, Poison::Second, 1,
                              VariantRun::Turn::Only, status);
  if (outcome && status != 0)
    outcome = {Disposition::LaunchFailed,
               "status " + std::to_string(status) + " after it was timed"};
  if (outcome && look)
    outcome = variant.judgeOutputs(set, Placement::Centered, measurement.error);
  if (!outcome)
    return finished(measurement, outcome);
  double bytes = 0;
  for (size_t k = 0; k < bank->kernel().arguments.size(); ++k)
    bytes += double(bank->argumentBytes(k, set.inputs.dims));
  double floor = options.gpu
                     ? options.gpu->leastNs(bytes)
                     : physicalFloorNs(bytes, lastLevelCacheBytes(options),
                                       options.peakBytesPerSecond);
  if (double(summary.bNs) < floor)
    return finished(measurement,
                    {Disposition::Suspicious,
                     std::to_string(summary.bNs) + " ns, but its bytes need " +
                         std::to_string(int64_t(floor)) + " ns"});
  if (!summary.quiet)
    return finished(measurement, {Disposition::Unstable, summary.noise});
  bool better = full ? summary.ratio.low > 1 : summary.ratio.high >= 1;
  if (!better)
    outcome = {Disposition::Slower,
               full ? "not faster beyond noise" : "slower"};
  return finished(measurement, outcome);
}

Measurement KernelChecker::verify(const std::string &verified) {
  Measurement measurement;
  measurement.rung = 6;
  VariantRun variant(options, *bank, *lanes[0]);
  Outcome outcome = variant.start({verified}, /*allowFork=*/true);
  if (outcome)
    outcome = forEachSize([&](const BankSet &set) {
      Outcome checked = variant.checkVerified(set);
      if (!checked)
        checked.reason = "with its memory accesses checked: " + checked.reason;
      return checked;
    });
  return finished(measurement, outcome);
}

/// Calls visit(set) for the first set of each choice of extents, while it
/// succeeds: where accesses go depends on the sizes and on integers.
Outcome KernelChecker::forEachSize(
    const std::function<Outcome(const BankSet &)> &visit) {
  const std::vector<int64_t> *last = nullptr;
  Outcome outcome;
  for (const BankSet &set : bank->sets()) {
    if (!outcome || set.inputs.violating || (last && *last == set.inputs.dims))
      continue;
    last = &set.inputs.dims;
    outcome = visit(set);
    if (!outcome)
      outcome.reason += " (set " + set.inputs.name() + ")";
  }
  return outcome;
}

Measurement KernelChecker::accept(const std::string &artifact,
                                  const std::string &verified,
                                  const std::string &against, uint64_t seed) {
  KernelRequest request = bank->asked();
  request.seed = seed;
  request.allowanceMs *= 4; // for all kinds of inputs
  rest();
  Measurement measurement;
  measurement.rung = 6;
  Result<std::unique_ptr<KernelBank>> fresh =
      KernelBank::build(options, request, /*everySet=*/true);
  if (!fresh)
    return finished(measurement, Outcome::fault(fresh.error()));
  KernelChecker checker(options, std::move(*fresh));
  checker.isStrict = true;
  Measurement checked = checker.check(artifact);
  checked.rung = 6;
  if (checked.disposition != Disposition::Passed)
    return checked;
  if (!verified.empty())
    if (Measurement found = checker.verify(verified);
        found.disposition != Disposition::Passed)
      return found;
  Outcome memory;
  if (options.gpu && !(memory = checker.memcheck(artifact)))
    return finished(checked, memory);
  const KernelReply &summary = checker.summary();
  measurement = checker.time(
      artifact,
      against.empty() ? request.baselines[size_t(summary.baseline)] : against,
      /*full=*/true);
  measurement.rung = 6;
  measurement.error = std::max(measurement.error, checked.error);
  measurement.details["sets"] = checked.details["sets"];
  measurement.details["verified"] = !verified.empty();
  if (options.gpu)
    measurement.details["memcheck"] =
        memory.reason.empty() ? "passed" : memory.reason;
  measurement.details["low_power"] = summary.lowPower;
  measurement.details["insensitive"] = summary.insensitive;
  return measurement;
}

} // namespace kernelbrain::evaluate
