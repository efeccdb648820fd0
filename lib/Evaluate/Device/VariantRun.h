//===- VariantRun.h - One variant in one runner -----------------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_EVALUATE_DEVICE_VARIANTRUN_H
#define KERNELBRAIN_LIB_EVALUATE_DEVICE_VARIANTRUN_H

#include "kernelbrain/Evaluate/Device/KernelBank.h"
#include "kernelbrain/Evaluate/Device/Timing.h"

#include <optional>

namespace kernelbrain::evaluate {

/// Where variants run: a device, buffers, and a runner that may be used once
/// more, or none.
struct Lane {
  KernelBuffers &buffers;
  int device; ///< a GPU; negative: the host
  std::optional<RunnerProcess> runner;
};

/// One variant in one runner.
class VariantRun {
public:
  VariantRun(const CheckerOptions &options, KernelBank &bank, Lane &lane)
      : options(options), bank(bank), buffers(lane.buffers),
        runner(lane.runner), device(lane.device) {}

  /// Starts a runner with `paths` in its slots.
  Outcome start(const std::vector<std::string> &paths, bool allowFork);
  /// A run on `set`, or two that have to agree; `error` is raised to the share
  /// of the bound in use.
  Outcome checkSet(const BankSet &set, Placement placement, bool twice,
                   double &error);
  /// The run must not abort; what it prints then is the reason.
  Outcome checkVerified(const BankSet &set);
  /// The run has to abort.
  Outcome checkViolating(const BankSet &set);
  /// `knownNs`: of one call of a rival that is not loaded, instead of which the
  /// variant is in both slots; 0 if the rival is in slot 0. `look`: at memory,
  /// once it is done.
  Outcome time(bool full, bool look, uint64_t seed, int64_t knownNs,
               TimingSummary &summary);
  /// One run, or one of two on the same inputs.
  enum class Turn { Only, First, Second };
  /// Runs slot `slot` on poisoned outputs and looks at memory.
  Outcome runOnce(const BankSet &set, Placement placement, Poison poison,
                  int slot, Turn turn, int32_t &status);
  Outcome judgeOutputs(const BankSet &set, Placement placement, double &error);

private:
  /// Runs slot 0 once, in a child where there is one, for a run that may abort.
  Outcome runForked(const BankSet &set, int64_t deadlineMs, RunReply &reply);
  Outcome checkMemory(const BankSet &set, Placement placement, Poison poison,
                      bool inputsToo = true);
  void keepOutputs(const BankSet &set, Placement placement);
  /// With the outputs that were kept.
  Outcome compareRuns(const BankSet &set, Placement placement);
  std::string argumentName(size_t position) const;

  const CheckerOptions &options;
  KernelBank &bank;
  KernelBuffers &buffers;
  std::optional<RunnerProcess> &runner;
  int device;
  Manifest manifests[2];
  bool isRewritten = false;     ///< the variant, in the last slot
  std::vector<uint64_t> hashes; ///< of the inputs of the set in the buffers
  std::vector<std::vector<char>> outputs; ///< of the first of two runs
};

} // namespace kernelbrain::evaluate

#endif // KERNELBRAIN_LIB_EVALUATE_DEVICE_VARIANTRUN_H
