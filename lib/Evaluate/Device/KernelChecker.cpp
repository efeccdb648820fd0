//===- KernelChecker.cpp - Checks, times and accepts variants -------------===//

#include "kernelbrain/Evaluate/Device/KernelChecker.h"

#include "Parallel.h"

#include "kernelbrain/Evaluate/Device/Clock.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <unistd.h>

namespace kernelbrain::evaluate {

namespace {

/// One variant in one runner.
class VariantRun {
public:
  /// `runner`: one that may be used once more, or none.
  VariantRun(const CheckerOptions &options, KernelBank &bank,
             std::optional<RunnerProcess> &runner)
      : options(options), bank(bank), runner(runner) {}

  /// Starts a runner with `paths` in its slots.
  Outcome start(const std::vector<std::string> &paths, bool allowFork);
  /// Two runs on `set`; `error` is raised to the share of the bound in use.
  Outcome checkSet(const BankSet &set, Placement placement, double &error);
  /// The run must not abort; what it prints then is the reason.
  Outcome checkVerified(const BankSet &set);
  /// The run has to abort.
  Outcome checkViolating(const BankSet &set);
  /// `knownNs`: of one call of a rival that is not loaded, instead of which the
  /// variant is in both slots; 0 if the rival is in slot 0.
  Outcome time(bool full, uint64_t seed, int64_t knownNs,
               TimingSummary &summary);
  /// Runs slot `slot` once on poisoned outputs and looks at memory.
  Outcome runOnce(const BankSet &set, Placement placement, Poison poison,
                  int slot, int32_t &status);
  Outcome judgeOutputs(const BankSet &set, Placement placement, double &error);

private:
  Outcome checkMemory(const BankSet &set, Placement placement, Poison poison);
  void keepOutputs(const BankSet &set, Placement placement);
  /// With the outputs that were kept.
  Outcome compareRuns(const BankSet &set, Placement placement);
  std::string argumentName(size_t position) const;

  const CheckerOptions &options;
  KernelBank &bank;
  std::optional<RunnerProcess> &runner;
  Manifest manifests[2];
  bool isRewritten = false;     ///< the variant, in the last slot
  std::vector<uint64_t> hashes; ///< of the inputs of the set in the buffers
  std::vector<std::vector<char>> outputs; ///< of the first of two runs
};

} // namespace

Outcome VariantRun::start(const std::vector<std::string> &paths,
                          bool allowFork) {
  bool again = runner && std::all_of(paths.begin(), paths.end(),
                                     [&](const std::string &path) {
                                       return runner->canLoad(path);
                                     });
  if (!again) {
    runner.reset(); // its memory is free before the next one takes some
    Result<RunnerProcess> started =
        RunnerProcess::start(options.runner, bank.buffers(), paths, allowFork);
    if (!started)
      return Outcome::fault(started.error());
    runner = std::move(*started);
  }
  for (size_t slot = 0; slot < paths.size(); ++slot) {
    Outcome loaded = runner->load(int(slot), paths[slot], manifests[slot]);
    if (!loaded)
      return loaded;
    isRewritten = !getStringOr(manifests[slot].recipe, "payload", "").empty();
    if (std::string why =
            signatureMismatch(bank.kernel(), manifests[slot], false);
        !why.empty())
      return {Disposition::LaunchFailed, why};
  }
  return {};
}

std::string VariantRun::argumentName(size_t position) const {
  bool isOutput = bank.kernel().arguments[position].isOutput;
  size_t index = 0;
  for (size_t k = 0; k < position; ++k)
    index += bank.kernel().arguments[k].isOutput == isOutput;
  return (isOutput ? "output " : "input ") + std::to_string(index);
}

Outcome VariantRun::checkMemory(const BankSet &set, Placement placement,
                                Poison poison) {
  for (size_t k = 0; k < bank.kernel().arguments.size(); ++k) {
    int64_t bytes = bank.argumentBytes(k, set.inputs.dims);
    int64_t at = bank.buffers().firstChangedGuard(k, bytes, placement, poison);
    if (at != bytes - 1)
      return {Disposition::Incorrect,
              "wrote " + std::to_string(at < 0 ? -at : at - bytes + 1) +
                  (at < 0 ? " bytes before " : " bytes behind ") +
                  argumentName(k)};
    if (!bank.kernel().arguments[k].isOutput &&
        hashMemory(bank.data(k, set.inputs, placement), bytes,
                   bank.threads()) != hashes[k])
      return {Disposition::Incorrect, "changed " + argumentName(k)};
  }
  return {};
}

Outcome VariantRun::runOnce(const BankSet &set, Placement placement,
                            Poison poison, int slot, int32_t &status) {
  bank.poison(set.inputs, placement, poison);
  Json call = bank.callOf(set.inputs, placement, manifests[0].workspaceBytes,
                          manifests[1].workspaceBytes);
  call["slot"] = slot;
  call["poison"] = int(poison);
  RunReply reply;
  Outcome outcome = runner->run(call, bank.callDeadlineMs(), reply);
  status = reply.status;
  return outcome ? checkMemory(set, placement, poison) : outcome;
}

/// True if all of `bytes` are the poison: nothing was written.
static bool isPoison(const char *data, int64_t bytes, Poison poison) {
  return std::all_of(data, data + bytes, [&](char byte) {
    return uint8_t(byte) == uint8_t(poison);
  });
}

void VariantRun::keepOutputs(const BankSet &set, Placement placement) {
  size_t output = 0;
  for (size_t k = 0; k < bank.kernel().arguments.size(); ++k) {
    if (!bank.kernel().arguments[k].isOutput)
      continue;
    if (outputs.size() == output)
      outputs.emplace_back();
    std::vector<char> &kept = outputs[output++];
    kept.resize(size_t(bank.argumentBytes(k, set.inputs.dims)));
    copyBytes(bank.threads(), kept.data(), bank.data(k, set.inputs, placement),
              int64_t(kept.size()));
  }
}

Outcome VariantRun::compareRuns(const BankSet &set, Placement placement) {
  for (size_t k = 0, output = 0; k < bank.kernel().arguments.size(); ++k) {
    const Argument &argument = bank.kernel().arguments[k];
    if (!argument.isOutput)
      continue;
    const std::vector<char> &before = outputs[output++];
    const char *after = bank.data(k, set.inputs, placement);
    if (equalBytes(bank.threads(), before.data(), after,
                   int64_t(before.size())))
      continue;
    auto element = size_t(byteSize(argument.type));
    size_t at =
        size_t(std::mismatch(before.begin(), before.end(), after).first -
               before.begin()) /
        element * element;
    bool unwritten =
        isPoison(before.data() + at, int64_t(element), Poison::First) ||
        isPoison(after + at, int64_t(element), Poison::Second);
    if (!unwritten && !bank.kernel().numerics.deterministic)
      continue;
    return {Disposition::Incorrect,
            argumentName(k) + ": element " +
                elementName(extentsOf(argument, set.inputs.dims),
                            int64_t(at / element)) +
                (unwritten ? " was not written"
                           : " differs between two equal runs")};
  }
  return {};
}

Outcome VariantRun::judgeOutputs(const BankSet &set, Placement placement,
                                 double &error) {
  for (size_t k = 0, output = 0; k < bank.kernel().arguments.size(); ++k) {
    if (!bank.kernel().arguments[k].isOutput)
      continue;
    Judgement judgement =
        judge(set.outputs[output++], bank.data(k, set.inputs, placement),
              isRewritten, bank.threads());
    error = std::max(error, judgement.error);
    if (!judgement.reason.empty())
      return {Disposition::Incorrect,
              argumentName(k) + ": " + judgement.reason};
  }
  return {};
}

Outcome VariantRun::checkSet(const BankSet &set, Placement placement,
                             double &error) {
  hashes = bank.drawInputs(set.inputs, placement);
  for (Poison poison : {Poison::First, Poison::Second}) {
    int32_t status = 0;
    Outcome outcome = runOnce(set, placement, poison, 0, status);
    if (!outcome)
      return outcome;
    // Callers promise so much alignment and no more; a variant may say no.
    bool mayDecline = placement == Placement::AtEnd;
    if (status == 1 && mayDecline) {
      for (size_t k = 0; k < bank.kernel().arguments.size(); ++k)
        if (bank.kernel().arguments[k].isOutput &&
            !isPoison(bank.data(k, set.inputs, placement),
                      bank.argumentBytes(k, set.inputs.dims), poison))
          return {Disposition::Incorrect,
                  "declined, but wrote into " + argumentName(k)};
      return {};
    }
    if (status != 0)
      return {Disposition::LaunchFailed,
              status == 1 ? "declined" : "status " + std::to_string(status)};
    if (poison == Poison::First)
      keepOutputs(set, placement);
  }
  Outcome equal = compareRuns(set, placement);
  return equal ? judgeOutputs(set, placement, error) : equal;
}

Outcome VariantRun::checkVerified(const BankSet &set) {
  // Each access is checked by itself, which no vector survives.
  constexpr int64_t slowdown = 20;
  bank.drawInputs(set.inputs, Placement::Centered);
  bank.poison(set.inputs, Placement::Centered, Poison::First);
  Json call = bank.callOf(set.inputs, Placement::Centered,
                          manifests[0].workspaceBytes, 0);
  call["fork"] = true;
  RunReply reply;
  Outcome outcome = runner->run(call, slowdown * bank.callDeadlineMs(), reply);
  if (!outcome || !reply.signal)
    return outcome;
  return {reply.signal == SIGABRT ? Disposition::Incorrect
                                  : Disposition::Crashed,
          reply.output.empty() ? "signal " + std::to_string(reply.signal)
                               : reply.output};
}

Outcome VariantRun::checkViolating(const BankSet &set) {
  bank.drawInputs(set.inputs, Placement::Centered);
  bank.poison(set.inputs, Placement::Centered, Poison::First);
  Json call = bank.callOf(set.inputs, Placement::Centered,
                          manifests[0].workspaceBytes, 0);
  call["fork"] = true;
  RunReply reply;
  Outcome outcome = runner->run(call, bank.callDeadlineMs(), reply);
  if (options.gpu && outcome.disposition == Disposition::Crashed)
    return {};
  if (!outcome)
    return outcome;
  bool failed = reply.signal == SIGABRT || reply.signal == SIGILL ||
                reply.signal == SIGTRAP || (!reply.signal && reply.status > 1);
  if (failed)
    return {};
  return {Disposition::Incorrect,
          "does not fail where the baseline does: " +
              (reply.signal ? "signal " + std::to_string(reply.signal)
                            : "status " + std::to_string(reply.status))};
}

Outcome VariantRun::time(bool full, uint64_t seed, int64_t knownNs,
                         TimingSummary &summary) {
  const BankSet &set = bank.sets()[0];
  hashes = bank.drawInputs(set.inputs, Placement::Centered);
  bank.poison(set.inputs, Placement::Centered, Poison::First);
  TimingPlan plan;
  plan.full = full;
  plan.callDeadlineMs = bank.callDeadlineMs();
  plan.expectedNs = knownNs ? 0 : bank.baselineNs();
  plan.leaseFile = options.leaseFile;
  plan.seed = seed;
  Outcome outcome = timeSlots(*runner,
                              bank.callOf(set.inputs, Placement::Centered,
                                          manifests[0].workspaceBytes,
                                          manifests[1].workspaceBytes),
                              plan, summary);
  if (!outcome)
    return outcome;
  if (knownNs)
    summary.standIn(knownNs);
  return checkMemory(set, Placement::Centered, Poison::First);
}

//===----------------------------------------------------------------------===//
// The three questions
//===----------------------------------------------------------------------===//

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

/// A context on a GPU takes up to a second to make: a runner in which nothing
/// failed is used again there. Elsewhere each request has its own.
void KernelChecker::endRequest(const Measurement &measurement) {
  if (!options.gpu || !isCorrect(measurement.disposition))
    runner.reset();
}

Measurement KernelChecker::check(const std::string &artifact) {
  Measurement measurement = checkSets(artifact);
  endRequest(measurement);
  return measurement;
}

Measurement KernelChecker::checkSets(const std::string &artifact) {
  Measurement measurement;
  measurement.rung = 2;
  measurement.details = Json::object();
  VariantRun variant(options, *bank, runner);
  Outcome outcome = variant.start({artifact}, bank->kernel().asserts);
  Json sets = Json::object();
  const std::vector<BankSet> &all = bank->sets();
  for (size_t k = 0; k < all.size() && outcome; ++k) {
    const BankSet &set = all[k];
    double error = 0;
    if (set.inputs.violating) {
      outcome = variant.checkViolating(set);
    } else {
      outcome = variant.checkSet(set, Placement::Centered, error);
      // Once more at the edge of memory: where reading too far shows.
      if (outcome && (k == 0 || set.inputs.dims != all[0].inputs.dims)) {
        outcome = variant.checkSet(set, Placement::AtEnd, error);
        if (outcome.disposition == Disposition::Crashed)
          outcome = {Disposition::Incorrect,
                     "touches memory outside its buffers, or counts on more "
                     "alignment than is promised (" +
                         outcome.reason + ")"};
      }
    }
    measurement.error = std::max(measurement.error, error);
    sets[set.inputs.name()] = error;
    if (!outcome)
      outcome.reason += " (set " + set.inputs.name() + ")";
  }
  measurement.details["sets"] = sets;
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
  VariantRun variant(options, *bank, runner);
  TimingSummary summary;
  auto timePairs = [&](int64_t knownNs) {
    Outcome outcome = variant.start({knownNs ? artifact : against, artifact},
                                    bank->kernel().asserts);
    return outcome ? variant.time(full, bank->asked().seed, knownNs, summary)
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
  outcome =
      variant.runOnce(set, Placement::Centered, Poison::Second, 1, status);
  if (outcome && status != 0)
    outcome = {Disposition::LaunchFailed,
               "status " + std::to_string(status) + " after it was timed"};
  if (outcome)
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
  VariantRun variant(options, *bank, runner);
  Outcome outcome = variant.start({verified}, /*allowFork=*/true);
  // Where accesses go depends on the sizes and on integers.
  const std::vector<int64_t> *last = nullptr;
  for (const BankSet &set : bank->sets()) {
    if (!outcome || set.inputs.violating || (last && *last == set.inputs.dims))
      continue;
    last = &set.inputs.dims;
    outcome = variant.checkVerified(set);
    if (!outcome)
      outcome.reason = "with its memory accesses checked: " + outcome.reason +
                       " (set " + set.inputs.name() + ")";
  }
  return finished(measurement, outcome);
}

Measurement KernelChecker::accept(const std::string &artifact,
                                  const std::string &verified,
                                  const std::string &against, uint64_t seed) {
  KernelRequest request = bank->asked();
  request.seed = seed;
  request.allowanceMs *= 4; // for all kinds of inputs
  runner.reset();
  Measurement measurement;
  measurement.rung = 6;
  Result<std::unique_ptr<KernelBank>> fresh =
      KernelBank::build(options, request, /*everySet=*/true);
  if (!fresh)
    return finished(measurement, Outcome::fault(fresh.error()));
  KernelChecker checker(options, std::move(*fresh));
  Measurement checked = checker.check(artifact);
  checked.rung = 6;
  if (checked.disposition != Disposition::Passed)
    return checked;
  if (!verified.empty())
    if (Measurement found = checker.verify(verified);
        found.disposition != Disposition::Passed)
      return found;
  const KernelReply &summary = checker.summary();
  measurement = checker.time(
      artifact,
      against.empty() ? request.baselines[size_t(summary.baseline)] : against,
      /*full=*/true);
  measurement.rung = 6;
  measurement.error = std::max(measurement.error, checked.error);
  measurement.details["sets"] = checked.details["sets"];
  measurement.details["verified"] = !verified.empty();
  measurement.details["low_power"] = summary.lowPower;
  measurement.details["insensitive"] = summary.insensitive;
  return measurement;
}

} // namespace kernelbrain::evaluate
