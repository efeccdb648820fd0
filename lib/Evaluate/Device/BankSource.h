//===- BankSource.h - Where a bank's outputs come from ----------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_EVALUATE_DEVICE_BANKSOURCE_H
#define KERNELBRAIN_LIB_EVALUATE_DEVICE_BANKSOURCE_H

#include "kernelbrain/Evaluate/Device/KernelBank.h"

#include <optional>

namespace kernelbrain::evaluate {

/// A runner with one artifact, started again where a run of it ended it.
struct KernelBank::Source {
  Source(KernelBank &bank, SharedBuffers &buffers, std::string path,
         bool allowFork)
      : bank(bank), buffers(buffers), path(std::move(path)),
        allowFork(allowFork) {}

  Status start() {
    Result<RunnerProcess> started =
        RunnerProcess::start(bank.options.runner, buffers, {path}, allowFork);
    if (!started)
      return started.error();
    runner = std::move(*started);
    Outcome loaded = runner->load(0, path, manifest);
    if (!loaded)
      return Error{"cannot load '" + path + "': " + loaded.reason};
    return {};
  }

  /// Runs once; `reason` is not empty if the code failed. An error is ours.
  Result<RunReply> run(Json call, std::string &reason) {
    // A stock lowering of a large product takes seconds.
    constexpr int64_t deadlineMs = 120000;
    reason.clear();
    if (!runner)
      if (Status status = start(); !status)
        return status.error();
    call["fork"] = allowFork;
    call["inputs"] = false; // nobody looks at them
    call["workspace"] = {manifest.workspaceBytes, 0};
    RunReply reply;
    Outcome outcome = runner->run(call, deadlineMs, reply);
    bank.runnersCpuNs += reply.cpuNs;
    if (!outcome) {
      runner.reset();
      reason = outcome.reason;
    } else if (reply.signal) {
      reason = "signal " + std::to_string(reply.signal);
    } else if (reply.status) {
      reason = "status " + std::to_string(reply.status);
    }
    return reply;
  }

  KernelBank &bank;
  SharedBuffers &buffers;
  std::string path;
  bool allowFork;
  std::optional<RunnerProcess> runner;
  Manifest manifest;
};

} // namespace kernelbrain::evaluate

#endif // KERNELBRAIN_LIB_EVALUATE_DEVICE_BANKSOURCE_H
