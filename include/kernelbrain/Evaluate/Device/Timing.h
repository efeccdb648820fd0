//===- Timing.h - From pairs of samples to a ratio --------------*- C++ -*-===//

#ifndef KERNELBRAIN_EVALUATE_DEVICE_TIMING_H
#define KERNELBRAIN_EVALUATE_DEVICE_TIMING_H

#include "kernelbrain/Core/Measurement.h"
#include "kernelbrain/Evaluate/Device/Lease.h"
#include "kernelbrain/Evaluate/Device/RunnerProcess.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kernelbrain::evaluate {

/// Times of one call in nanoseconds: of A, of B, and of a second batch of one
/// of the two, the control.
struct PairSample {
  double wall[3] = {}, cpu[3] = {};
  int64_t faults[3] = {};       ///< of the batch
  int64_t calls[3] = {1, 1, 1}; ///< in the batch

  /// True if something else ran meanwhile.
  bool wasPreempted(int k) const;
  /// Wall time, or CPU time if something else ran meanwhile: being kept waiting
  /// is no property of the code.
  double time(int k) const { return wasPreempted(k) ? cpu[k] : wall[k]; }
};

struct TimingSummary {
  Ratio ratio;              ///< A / B; `middle` is a quantile of the pairs
  double cpuRatio = 0;      ///< the same by CPU time
  double upperQuartile = 0; ///< of A / B: below 1, three of four pairs lost
  Ratio control;            ///< quartiles of control / its partner
  bool quiet = false;
  std::string noise;        ///< why it is not quiet
  int64_t aNs = 0, bNs = 0; ///< lower quartiles of one call
  int64_t bFaults = 0;      ///< median of one timed batch
  size_t pairs = 0, preempted = 0;
  bool alone = false; ///< A did not run: standIn()

  /// After B was timed against itself: makes it a summary against a rival that
  /// takes `knownNs`, by one call, which is good for a tenth either way.
  void standIn(int64_t knownNs);
};

/// The quantile `q` in [0, 1] of `values` (not empty), interpolated.
double quantile(std::vector<double> values, double q);

/// The quantile `q` of `ratios` with a 95% interval by bootstrap; reproducible.
Ratio quantileWithInterval(const std::vector<double> &ratios, double q);

/// `control`: index of the control's partner, 0 (A) or 1 (B). `q`: the quantile
/// of the pairs' ratios that is their ratio.
TimingSummary summarize(const std::vector<PairSample> &samples, int control,
                        double q = 0.25);

/// True if more pairs would change nothing that is decided.
bool isSettled(const TimingSummary &summary, bool full);

/// Fewest nanoseconds that `bytes` can take if `cacheBytes` of them stay in
/// cache and the rest crosses a memory bus of `bytesPerSecond`.
double physicalFloorNs(double bytes, double cacheBytes, double bytesPerSecond);

struct TimingPlan {
  bool full = false;
  double quantile = 0.25;        ///< of the pairs' ratios, which is their ratio
  int64_t callDeadlineMs = 1000; ///< for one call of either
  int64_t expectedNs = 0; ///< of one call of the slower one, as far as known
  std::string leaseFile;
  uint64_t seed = 0;
};

/// Times slot 0 (A) against slot 1 (B) of `runner` under the lease, in rounds,
/// until the question is settled or the cap is reached. `call`: the members of
/// `time` that say what is called.
Outcome timeSlots(RunnerProcess &runner, Json call, const TimingPlan &plan,
                  TimingSummary &summary);

} // namespace kernelbrain::evaluate

#endif // KERNELBRAIN_EVALUATE_DEVICE_TIMING_H
