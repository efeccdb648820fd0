//===- Target.h - The device that kernels are built for ---------*- C++ -*-===//

#ifndef KERNELBRAIN_CORE_TARGET_H
#define KERNELBRAIN_CORE_TARGET_H

#include "kernelbrain/Support/Json.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernelbrain {

/// The best that one core of a machine was seen to move to and from each level
/// of memory, in bytes a second; 0: not measured.
struct PeakBandwidth {
  double l2 = 0, l3 = 0, dram = 0;
};

/// Limits of a GPU's multiprocessor and of one block on it.
struct GpuLimits {
  int64_t multiprocessors = 0;
  int64_t threadsPerMultiprocessor = 0, blocksPerMultiprocessor = 0;
  int64_t registersPerMultiprocessor = 65536;
  int64_t sharedBytesPerMultiprocessor = 0, sharedBytesPerBlock = 0;

  friend bool operator==(const GpuLimits &a, const GpuLimits &b);
};

/// A device, as far as code generation and the analytic model need it.
struct Target {
  std::string kind = "host"; ///< "host" or "cuda"
  std::string chip;          ///< LLVM's name: "znver4", "sm_90a"
  std::vector<std::string>
      features; ///< LLVM's names, sorted, enabled ones only
  int64_t threads = 1;
  // The analytic model (bytes, bytes a second, operations a second); one core,
  // or a whole GPU.
  int64_t l1Bytes = 32 << 10, l2Bytes = 1 << 20, l3Bytes = 32 << 20;
  double dramBytesPerSecond = 8e9, cacheBytesPerSecond = 60e9;
  double clockHz = 3e9;
  /// Only of a GPU.
  std::optional<GpuLimits> gpu;
  /// Of the machine at hand, for whoever has measured it; neither compared nor
  /// written with the rest.
  PeakBandwidth peak;

  bool isCuda() const { return kind == "cuda"; }
  bool hasFeature(const std::string &name) const;
  /// Bytes of the widest vector register: 64 with avx512f, 32 with avx2, 16.
  int64_t vectorBytes() const;
  /// Text that a tuning key holds: kind, chip and the features that change
  /// code.
  std::string key() const;
  /// No call that touches that many different bytes is faster, however warm the
  /// caches are; in nanoseconds. With measured peaks it is close enough to be
  /// reached by kernels that only move memory.
  double leastNs(double bytes) const;

  friend bool operator==(const Target &a, const Target &b);
};

/// The GPU "emulated" executes device code on the host's CPU, for tests on
/// machines without a GPU (docs/HowTo/RunOnAGpuHost.md).
constexpr char emulatedChip[] = "emulated";

/// An NVIDIA GPU by LLVM's name of its architecture, with the datasheet's
/// figures of its usual product; what a driver says of the GPU at hand is
/// better. Errors: a name that is not known.
Result<Target> makeCudaTarget(const std::string &chip);
/// The names that makeCudaTarget() knows.
std::vector<std::string> cudaChips();
/// The one of them that code for a GPU of this compute capability is best built
/// for, or "". Code for one runs on those of the same major number and a higher
/// minor one, unless it is architecture-specific ("a").
std::string cudaChipOf(int major, int minor);

Json toJson(const PeakBandwidth &peak);
Result<PeakBandwidth> peakBandwidthFromJson(const Json &json);
Json toJson(const Target &target);
Result<Target> targetFromJson(const Json &json);

} // namespace kernelbrain

#endif // KERNELBRAIN_CORE_TARGET_H
