//===- KernelBaselines.cpp - What a bank asks of baselines ----------------===//

#include "BankSource.h"

#include <algorithm>
#include <csignal>

namespace kernelbrain::evaluate {

/// A variant that takes this much longer than the baseline is of no use.
int64_t KernelBank::patienceMs() const {
  int64_t baselineMs = baselineNs() / 1000000;
  if (!options.gpu)
    return 1000 + 20 * baselineMs;
  // The baseline of a GPU may be a hundred times slower than need be. Besides
  // the call, code is loaded and arguments cross the bus.
  int64_t bytes = 0;
  for (size_t k = 0; k < kernel().arguments.size(); ++k)
    bytes += argumentBytes(k, bankSets[0].inputs.dims);
  return 2000 + bytes / 500000 +
         std::min(20 * baselineMs, 2000 + 2 * baselineMs);
}

Status KernelBank::timeBaselines(Source &first) {
  const InputSet &set = bankSets[0].inputs;
  own.drawInputs(set, Placement::Centered);
  for (size_t k = 0; k < request.baselines.size(); ++k) {
    Source fresh(*this, own.memory(), request.baselines[k], false);
    // A context on a GPU takes long to make.
    bool again = options.gpu && k == 0;
    Source &other = again ? first : fresh;
    if (!again)
      first.runner.reset();
    int64_t best = 0, spent = 0;
    // The first call is cold; a slow baseline is not called again.
    for (int call = 0; call < 4 && spent < 200000000; ++call) {
      std::string reason;
      Result<RunReply> run =
          other.run(own.callOf(set, Placement::Centered, 0, 0), reason);
      if (!run)
        return run.error();
      if (!reason.empty())
        return giveUp("baseline '" + other.path + "' ends with " + reason);
      // CPU time: other processes may have run meanwhile.
      int64_t time = std::min(run->wallNs, run->cpuNs);
      best = best ? std::min(best, time) : time;
      spent += time;
    }
    if (std::string why = signatureMismatch(kernel(), other.manifest, false);
        !why.empty())
      return Error{"'" + other.path + "': " + why};
    reply.timesNs.push_back(std::max<int64_t>(best, 1));
  }
  reply.baseline =
      std::min_element(reply.timesNs.begin(), reply.timesNs.end()) -
      reply.timesNs.begin();
  deadlineMs = options.callDeadlineMs ? options.callDeadlineMs : patienceMs();
  return {};
}

int64_t KernelBank::slowBaselineNs(const std::string &path) const {
  constexpr int64_t slowNs = 200000000;
  auto found =
      std::find(request.baselines.begin(), request.baselines.end(), path);
  if (found == request.baselines.end())
    return 0;
  int64_t ns = reply.timesNs[size_t(found - request.baselines.begin())];
  return ns >= slowNs ? ns : 0;
}

Status KernelBank::findInsensitive(Source &baseline) {
  std::vector<uint64_t> hashes[2];
  InputSet set = bankSets[0].inputs;
  auto outputs = [&](std::vector<uint64_t> &into) -> Status {
    std::string reason;
    Result<RunReply> run = runOn(set, baseline, reason);
    if (!run)
      return run.error();
    if (!reason.empty())
      return giveUp("the baseline ends with " + reason);
    into.clear();
    for (size_t k = 0; k < kernel().arguments.size(); ++k)
      if (kernel().arguments[k].isOutput)
        into.push_back(hashMemory(own.data(k, set, Placement::Centered),
                                  argumentBytes(k, set.dims),
                                  options.checkerThreads));
    return {};
  };
  if (Status status = outputs(hashes[0]); !status)
    return status;
  for (size_t k = 0; k < kernel().arguments.size(); ++k) {
    if (kernel().arguments[k].isOutput || argumentBytes(k, set.dims) == 0)
      continue;
    if (spentMs() > 2 * allowanceMs()) {
      reply.notes.push_back("sensitivity was not tested to the end");
      return {};
    }
    set.freshInput = int(k);
    if (Status status = outputs(hashes[1]); !status)
      return status;
    if (hashes[0] == hashes[1])
      reply.insensitive.push_back(int64_t(k));
  }
  return {};
}

Status KernelBank::addViolatingSet(Source &baseline) {
  bool canViolate = false;
  for (const Argument &argument : kernel().arguments)
    canViolate |= !argument.isOutput && !isFloat(argument.type) &&
                  argument.domain.high.has_value();
  if (!kernel().asserts || !canViolate)
    return {};
  BankSet set;
  set.inputs = bankSets[0].inputs;
  set.inputs.violating = true;
  std::string reason;
  Result<RunReply> run = runOn(set.inputs, baseline, reason);
  if (!run)
    return run.error();
  // On a GPU a failed assertion is an error of the device.
  bool aborts = options.gpu ? !reason.empty() : run->signal == SIGABRT;
  if (aborts)
    bankSets.push_back(std::move(set));
  else
    reply.notes.push_back(
        "the baseline does not abort where an index leaves its domain");
  return {};
}

} // namespace kernelbrain::evaluate
