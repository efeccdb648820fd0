//===- KernelBank.h - Inputs, references and baselines of a kernel -*- C++
//-*-===//

#ifndef KERNELBRAIN_EVALUATE_DEVICE_KERNELBANK_H
#define KERNELBRAIN_EVALUATE_DEVICE_KERNELBANK_H

#include "kernelbrain/Core/Target.h"
#include "kernelbrain/Evaluate/Device/KernelBuffers.h"
#include "kernelbrain/Evaluate/Device/RunnerProcess.h"
#include "kernelbrain/Evaluate/Device/Verdict.h"
#include "kernelbrain/Evaluate/Protocol/Messages.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace kernelbrain::evaluate {

struct CheckerOptions {
  RunnerSetup runner;
  std::string leaseFile;
  /// Of the memory bus; no kernel on this host is faster. The datasheet's 12
  /// channels of DDR5-4800 of the largest current host socket.
  double peakBytesPerSecond = 460.8e9;
  double cacheBytes = 0;      ///< of the last level; 0: ask the system
  int64_t callDeadlineMs = 0; ///< of one call; 0: from the baseline's time
  /// The GPU that kernels are for, and its name; none: this host.
  std::optional<Target> gpu;
  std::string gpuName;
  /// Of this process, for drawing, comparing and judging.
  int checkerThreads = 1;
  /// Further GPUs like it, for checks.
  std::vector<int> moreGpus;
};

/// One input set with what its outputs should be.
struct BankSet {
  InputSet inputs;
  std::vector<OutputReference> outputs; ///< empty for a violating set
};

/// Everything the checker knows about an open kernel. Inputs are drawn again
/// whenever they are needed; of references the kept tiles stay.
class KernelBank {
public:
  /// Runs reference and baselines in processes of their own, which are gone on
  /// return. A kernel that cannot be measured at all is an error if `everySet`,
  /// else a bank without sets whose summary says why. `everySet`: all kinds of
  /// inputs, else as many as a check uses.
  static Result<std::unique_ptr<KernelBank>>
  build(const CheckerOptions &options, const KernelRequest &request,
        bool everySet);

  const Kernel &kernel() const { return request.kernel; }
  const KernelRequest &asked() const { return request; }
  const std::vector<BankSet> &sets() const { return bankSets; }
  const KernelReply &summary() const { return reply; }
  /// Milliseconds that one call of a variant may take.
  int64_t callDeadlineMs() const { return deadlineMs; }
  int64_t baselineNs() const { return reply.timesNs[size_t(reply.baseline)]; }
  /// What one call of the baseline at `path` takes, if that is 200 ms or more;
  /// else, and for what is no baseline, 0.
  int64_t slowBaselineNs(const std::string &path) const;

  int64_t argumentBytes(size_t position,
                        const std::vector<int64_t> &dims) const;
  /// True if checks are to be spared runs on inputs of the tuned extents.
  bool isLarge() const;
  /// Those that the bank itself used.
  KernelBuffers &buffers() { return own; }
  /// More of them, for a runner beside it.
  Result<KernelBuffers> createBuffers();
  /// Null if there is no memory to keep the inputs of `set` in: drawing them
  /// again takes ten times as long as copying. May be called by several
  /// threads.
  const KeptInputs *keep(const InputSet &set);

private:
  KernelBank(const CheckerOptions &options, const KernelRequest &request,
             SharedBuffers none)
      : options(options), request(request),
        own(*this, std::move(none), options.checkerThreads) {}
  Result<std::vector<SlotRequest>> slots() const;

  struct Source; // a process that computes outputs
  /// An error that is the kernel's own.
  Error giveUp(std::string why);
  Status fillSets(bool everySet);
  Status addSet(InputSet set, Source &baseline, Source &reference);
  Status addViolatingSet(Source &baseline);
  Status timeBaselines(Source &first);
  int64_t patienceMs() const;
  Status findInsensitive(Source &baseline);
  /// Draws the inputs of `set`, poisons, and runs once; Source::run() says what
  /// `reason` is.
  Result<RunReply> runOn(const InputSet &set, Source &baseline,
                         std::string &reason);
  /// Runs on `set`, made positive if need be; false if it is of no use.
  Result<bool> runBaseline(InputSet &set, Source &baseline);
  /// What a run of the reference is for.
  enum class Use {
    Reference,
    Lower,      ///< inputs moved as lower precision does
    Alternative ///< inputs moved by `conditioning` of that
  };
  Status runReference(BankSet &set, Source &reference, Use use);
  Status runReferences(BankSet &set, Source &reference);
  std::vector<InputSet> plan(bool everySet) const;
  /// CPU time: the allowance must not buy less on a busy machine. With a GPU it
  /// is elapsed time.
  int64_t spentMs() const;
  int64_t allowanceMs() const;
  /// Where the baseline's error is luck, takes it from other sets: once all are
  /// there.
  void shareErrors();
  double shareOfNaN(const InputSet &set);

  CheckerOptions options;
  KernelRequest request;
  KernelBuffers own;
  std::vector<BankSet> bankSets;
  KernelReply reply;
  int64_t deadlineMs = 60000;
  int64_t keptBytes = 0; ///< of references
  std::mutex keeping;
  std::map<std::string, KeptInputs> keptInputs;
  int64_t keptInputBytes = 0;
  int64_t startNs = 0;
  int64_t startCpuNs = 0;   ///< of this process
  int64_t runnersCpuNs = 0; ///< of all runs so far
};

/// Empty if a manifest's signature is the kernel's, else the difference. With
/// `promoted`, float types may be f64.
std::string signatureMismatch(const Kernel &kernel, const Manifest &manifest,
                              bool promoted);

} // namespace kernelbrain::evaluate

#endif // KERNELBRAIN_EVALUATE_DEVICE_KERNELBANK_H
