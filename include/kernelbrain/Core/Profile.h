//===- Profile.h - What bounds a kernel, and how we know --------*- C++ -*-===//

#ifndef KERNELBRAIN_CORE_PROFILE_H
#define KERNELBRAIN_CORE_PROFILE_H

#include "kernelbrain/Core/Target.h"
#include "kernelbrain/Support/Json.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kernelbrain {

/// Names of the values of a profile; those in percent are of the device's peak
/// unless said.
namespace counter {
constexpr char time[] = "time_ns";
/// Of the range that was counted: the profiler's own share is in it.
constexpr char profiledTime[] = "profiled_ns";
/// Inputs read once and outputs written once; not counted.
constexpr char leastBytes[] = "least_bytes";
constexpr char dramReadBytes[] = "dram_read_bytes";
constexpr char dramWriteBytes[] = "dram_write_bytes";
constexpr char memoryPercent[] = "memory_percent";   ///< of DRAM's throughput
constexpr char computePercent[] = "compute_percent"; ///< of instructions
constexpr char l2HitPercent[] = "l2_hit_percent";    ///< of sectors looked up
constexpr char occupancyPercent[] = "occupancy_percent"; ///< warps, achieved
constexpr char tensorPercent[] =
    "tensor_percent";                            ///< cycles of the tensor pipe
constexpr char issuePercent[] = "issue_percent"; ///< cycles with an issue
/// 32-byte sectors that one request of a warp to global memory touches: 4 where
/// each lane takes 4 adjacent bytes, 16 for 16 bytes, up to 32 if scattered.
constexpr char loadSectors[] = "load_sectors_per_request";
constexpr char storeSectors[] = "store_sectors_per_request";
/// Of the passes of shared memory, those that conflicts added.
constexpr char conflictPercent[] = "bank_conflict_percent";
/// Of registers to local memory, by the report of ptxas.
constexpr char spillBytes[] = "spill_bytes";
} // namespace counter

/// What counters said about one call of a kernel. What is absent is not known.
struct Profile {
  std::map<std::string, double> values; ///< by the names above
  /// Warps that wait for each instruction issued, by CUPTI's reason
  /// ("long_scoreboard").
  std::map<std::string, double> stalls;
  /// Why there are no counters, or empty. With a reason the values are those of
  /// modelledProfile().
  std::string refused;

  std::optional<double> value(const std::string &name) const;
};
/// Refers percentages of elapsed time to `timeNs`, which the call takes without
/// the profiler; its share is some 60 us on an H200.
void referTo(Profile &profile, double timeNs);
/// What is known without counters of a call that took `timeNs` and has to move
/// `leastBytes`: `launches` is Manifest::launches.
Profile modelledProfile(const Json &launches, const Target &target,
                        double leastBytes, double timeNs, std::string refused);
Json toJson(const Profile &profile);
Result<Profile> profileFromJson(const Json &json);

/// What the time goes to.
enum class Bottleneck {
  Unknown,         ///< nothing was counted
  Roofline,        ///< none: memory or compute is used to 95% or more
  MemoryBandwidth, ///< DRAM, and not much more is moved than has to be
  MemoryTraffic,   ///< DRAM, with bytes that a better order would not move
  Coalescing,      ///< requests that touch many sectors for few bytes
  Compute,         ///< instruction issue or arithmetic pipes
  TensorPipe,      ///< the matrix pipe
  BankConflicts,   ///< of shared memory
  SharedMemory,    ///< its latency or queue
  Barriers,        ///< warps that wait for each other
  Occupancy,       ///< too few warps to cover latency
  MemoryLatency,   ///< warps enough, each waiting for loads
  Underused,       ///< neither memory nor compute, and no stall stands out
};
const char *toString(Bottleneck bottleneck);

struct Diagnosis {
  Bottleneck bottleneck = Bottleneck::Unknown;
  /// Position under the roofline: the larger share of the two peaks, in [0, 1].
  double rooflineShare = 0;
  /// The values that say so, a phrase each: "memory 41% of peak".
  std::vector<std::string> evidence;
};

/// Names what bounds a call. A pure function; the thresholds are those of
/// KernelAgent where it has them.
Diagnosis diagnose(const Profile &profile);

/// One line: the bottleneck and its evidence.
std::string describe(const Diagnosis &diagnosis);

} // namespace kernelbrain

#endif // KERNELBRAIN_CORE_PROFILE_H
