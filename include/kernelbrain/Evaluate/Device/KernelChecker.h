//===- KernelChecker.h - Checks, times and accepts variants -----*- C++ -*-===//

#ifndef KERNELBRAIN_EVALUATE_DEVICE_KERNELCHECKER_H
#define KERNELBRAIN_EVALUATE_DEVICE_KERNELCHECKER_H

#include "kernelbrain/Evaluate/Device/KernelBank.h"
#include "kernelbrain/Evaluate/Device/Timing.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kernelbrain::evaluate {

struct Lane;

/// The verdicts on variants of one kernel. Every request gets a runner of its
/// own, so that nothing of a variant outlives it; with a GPU, one in which
/// nothing failed is used again for all but acceptance. Faults of the harness
/// are measurements with HarnessFault.
class KernelChecker {
public:
  static Result<std::unique_ptr<KernelChecker>>
  open(const CheckerOptions &options, const KernelRequest &request);

  ~KernelChecker();

  const KernelReply &summary() const { return bank->summary(); }

  /// On all GPUs that there are for it.
  Measurement check(const std::string &artifact);
  Measurement time(const std::string &artifact, const std::string &against,
                   bool full);
  /// Counters of one call, or why there are none. The same code is counted
  /// once.
  Profile profile(const std::string &artifact);
  /// `verified` may be empty (Artifact::verifiedPath), and so may `against`:
  /// the fastest baseline.
  Measurement accept(const std::string &artifact, const std::string &verified,
                     const std::string &against, uint64_t seed);

  /// Ends the runners that are kept; the next request starts others.
  void rest();

private:
  Measurement checkSets(const std::string &artifact);
  Measurement timeAgainst(const std::string &artifact,
                          const std::string &against, bool full);
  void endRequest(const Measurement &measurement);
  Result<Profile> count(const std::string &artifact);
  /// Runs `verified` once at each size; Passed unless it aborts or crashes.
  Measurement verify(const std::string &verified);
  Outcome forEachSize(const std::function<Outcome(const BankSet &)> &visit);
  /// Runs `artifact` once at each size under compute-sanitizer; Passed where
  /// that is not there or fails itself, with a reason.
  Outcome memcheck(const std::string &artifact);
  KernelChecker(const CheckerOptions &options,
                std::unique_ptr<KernelBank> ownBank);

  CheckerOptions options;
  std::unique_ptr<KernelBank> bank;
  bool isStrict; ///< each set is run twice, not the first one only
  std::vector<std::unique_ptr<KernelBuffers>> moreBuffers;
  std::vector<std::unique_ptr<Lane>> lanes; ///< the first one times
  std::optional<RunnerProcess> profiler;    ///< CUPTI would disturb timings
  std::string countersRefused;
  int profileFaults = 0;                ///< in a row
  std::map<uint64_t, Profile> profiles; ///< by hash of the artifact's bytes
};

} // namespace kernelbrain::evaluate

#endif // KERNELBRAIN_EVALUATE_DEVICE_KERNELCHECKER_H
