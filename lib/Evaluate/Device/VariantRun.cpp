//===- VariantRun.cpp - One variant in one runner -------------------------===//

#include "VariantRun.h"

#include "Parallel.h"

#include <algorithm>
#include <csignal>
#include <cstring>

namespace kernelbrain::evaluate {

Outcome VariantRun::start(const std::vector<std::string> &paths,
                          bool allowFork) {
  bool again = runner && std::all_of(paths.begin(), paths.end(),
                                     [&](const std::string &path) {
                                       return runner->canLoad(path);
                                     });
  if (!again) {
    runner.reset(); // its memory is free before the next one takes some
    RunnerSetup setup = options.runner;
    setup.device = device;
    Result<RunnerProcess> started =
        RunnerProcess::start(setup, buffers.memory(), paths, allowFork);
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
                                Poison poison, bool inputsToo) {
  for (size_t k = 0; k < bank.kernel().arguments.size(); ++k) {
    int64_t bytes = bank.argumentBytes(k, set.inputs.dims);
    int64_t at =
        buffers.memory().firstChangedGuard(k, bytes, placement, poison);
    if (at != bytes - 1)
      return {Disposition::Incorrect,
              "wrote " + std::to_string(at < 0 ? -at : at - bytes + 1) +
                  (at < 0 ? " bytes before " : " bytes behind ") +
                  argumentName(k)};
    if (!bank.kernel().arguments[k].isOutput && inputsToo &&
        hashMemory(buffers.data(k, set.inputs, placement), bytes,
                   buffers.threads) != hashes[k])
      return {Disposition::Incorrect, "changed " + argumentName(k)};
  }
  return {};
}

Outcome VariantRun::runOnce(const BankSet &set, Placement placement,
                            Poison poison, int slot, Turn turn,
                            int32_t &status) {
  buffers.poison(set.inputs, placement, poison, device < 0);
  Json call = buffers.callOf(set.inputs, placement, manifests[0].workspaceBytes,
                             manifests[1].workspaceBytes);
  call["slot"] = slot;
  call["poison"] = int(poison);
  // Of two runs on a GPU the second one uses the inputs that the first one
  // left, and tells whether either has changed them.
  bool isFirst = device >= 0 && turn == Turn::First;
  call["fresh"] = turn != Turn::Second;
  call["inputs"] = !isFirst;
  RunReply reply;
  Outcome outcome = runner->run(call, bank.callDeadlineMs(), reply);
  status = reply.status;
  return outcome ? checkMemory(set, placement, poison, !isFirst) : outcome;
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
    copyBytes(buffers.threads, kept.data(),
              buffers.data(k, set.inputs, placement), int64_t(kept.size()));
  }
}

Outcome VariantRun::compareRuns(const BankSet &set, Placement placement) {
  for (size_t k = 0, output = 0; k < bank.kernel().arguments.size(); ++k) {
    const Argument &argument = bank.kernel().arguments[k];
    if (!argument.isOutput)
      continue;
    const std::vector<char> &before = outputs[output++];
    const char *after = buffers.data(k, set.inputs, placement);
    if (equalBytes(buffers.threads, before.data(), after,
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
        judge(set.outputs[output++], buffers.data(k, set.inputs, placement),
              isRewritten, buffers.threads);
    error = std::max(error, judgement.error);
    if (!judgement.reason.empty())
      return {Disposition::Incorrect,
              argumentName(k) + ": " + judgement.reason};
  }
  return {};
}

Outcome VariantRun::checkSet(const BankSet &set, Placement placement,
                             bool twice, double &error) {
  hashes = buffers.drawInputs(set.inputs, placement);
  std::vector<Turn> turns = {Turn::Only};
  if (twice)
    turns = {Turn::First, Turn::Second};
  for (Turn turn : turns) {
    Poison poison = turn == Turn::First ? Poison::First : Poison::Second;
    int32_t status = 0;
    Outcome outcome = runOnce(set, placement, poison, 0, turn, status);
    if (!outcome)
      return outcome;
    // Callers promise so much alignment and no more; a variant may say no.
    bool mayDecline = placement == Placement::AtEnd;
    if (status == 1 && mayDecline) {
      for (size_t k = 0; k < bank.kernel().arguments.size(); ++k)
        if (bank.kernel().arguments[k].isOutput &&
            !isPoison(buffers.data(k, set.inputs, placement),
                      bank.argumentBytes(k, set.inputs.dims), poison))
          return {Disposition::Incorrect,
                  "declined, but wrote into " + argumentName(k)};
      return {};
    }
    if (status != 0)
      return {Disposition::LaunchFailed,
              status == 1 ? "declined" : "status " + std::to_string(status)};
    if (turn == Turn::First)
      keepOutputs(set, placement);
  }
  Outcome equal = twice ? compareRuns(set, placement) : Outcome();
  return equal ? judgeOutputs(set, placement, error) : equal;
}

Outcome VariantRun::runForked(const BankSet &set, int64_t deadlineMs,
                              RunReply &reply) {
  buffers.drawInputs(set.inputs, Placement::Centered);
  buffers.poison(set.inputs, Placement::Centered, Poison::First, device < 0);
  Json call = buffers.callOf(set.inputs, Placement::Centered,
                             manifests[0].workspaceBytes, 0);
  call["fork"] = true;
  return runner->run(call, deadlineMs, reply);
}

Outcome VariantRun::checkVerified(const BankSet &set) {
  // Each access is checked by itself, which no vector survives.
  constexpr int64_t slowdown = 20;
  RunReply reply;
  Outcome outcome = runForked(set, slowdown * bank.callDeadlineMs(), reply);
  if (!outcome || !reply.signal)
    return outcome;
  return {reply.signal == SIGABRT ? Disposition::Incorrect
                                  : Disposition::Crashed,
          reply.output.empty() ? "signal " + std::to_string(reply.signal)
                               : reply.output};
}

Outcome VariantRun::checkViolating(const BankSet &set) {
  RunReply reply;
  Outcome outcome = runForked(set, bank.callDeadlineMs(), reply);
  if (options.gpu && outcome.disposition == Disposition::Crashed) {
    runner.reset(); // its context is of no more use
    return {};
  }
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

Outcome VariantRun::time(bool full, bool look, uint64_t seed, int64_t knownNs,
                         TimingSummary &summary) {
  const BankSet &set = bank.sets()[0];
  hashes = buffers.drawInputs(set.inputs, Placement::Centered);
  buffers.poison(set.inputs, Placement::Centered, Poison::First, device < 0);
  TimingPlan plan;
  plan.full = full;
  // Nothing else takes time from a kernel on a device.
  plan.quantile = device < 0 ? 0.25 : 0.5;
  plan.callDeadlineMs = bank.callDeadlineMs();
  plan.expectedNs = knownNs ? 0 : bank.baselineNs();
  plan.leaseFile = options.leaseFile;
  plan.seed = seed;
  Json call =
      buffers.callOf(set.inputs, Placement::Centered,
                     manifests[0].workspaceBytes, manifests[1].workspaceBytes);
  Outcome outcome = timeSlots(*runner, call, plan, summary);
  if (outcome && look && device >= 0)
    outcome = runner->fetch(call, bank.callDeadlineMs());
  if (!outcome)
    return outcome;
  if (knownNs)
    summary.standIn(knownNs);
  return look ? checkMemory(set, Placement::Centered, Poison::First) : outcome;
}

} // namespace kernelbrain::evaluate
