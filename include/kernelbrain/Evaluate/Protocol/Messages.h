//===- Messages.h - What kb-worker is asked and answers ---------*- C++ -*-===//
//
// The members of every message of kb-worker as plain structs with one JSON
// form each; docs/Protocols.md is the description for people.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_EVALUATE_PROTOCOL_MESSAGES_H
#define KERNELBRAIN_EVALUATE_PROTOCOL_MESSAGES_H

#include "kernelbrain/Core/Kernel.h"
#include "kernelbrain/Core/Measurement.h"
#include "kernelbrain/Support/Json.h"
#include "kernelbrain/Support/Result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernelbrain::evaluate {

/// Version of the messages; another one is refused at `hello`.
constexpr int workerProtocolVersion = 1;

/// `kernel`: opens a kernel, that is, draws its inputs and computes its
/// references.
struct KernelRequest {
  Kernel kernel;
  uint64_t seed = 0;
  /// Shared object of the kernel with every float type promoted to f64; empty:
  /// the first baseline stands in for it (then the verdict has low power).
  std::string reference;
  std::vector<std::string> baselines; ///< at least one
  /// A folder below which artifacts are: a runner on a GPU, which is used for
  /// several, may read all of it. Empty: another one is started for each folder
  /// that an artifact lies in.
  std::string artifacts;
  int64_t allowanceMs = 2000; ///< for references and baselines
};

struct KernelReply {
  /// Why the kernel cannot be measured: its own fault, not the harness's.
  /// Empty: it can be. With a reason, the kernel is not open and the rest is
  /// not set.
  std::string unusable;
  int64_t baseline = 0;          ///< index of the fastest one
  std::vector<int64_t> timesNs;  ///< of one call of each baseline
  std::vector<std::string> sets; ///< names of the input sets of a check
  bool lowPower = false; ///< lower precision could not be told from the bound
  /// Inputs (their positions) that no result depends on, as far as seen.
  std::vector<int64_t> insensitive;
  std::vector<std::string> notes; ///< sets that were dropped, and why
  int64_t costNs = 0;
};

/// `check`, `time`, `profile` and `accept`.
struct ArtifactRequest {
  std::string kernel;   ///< name of an open kernel
  std::string artifact; ///< path of a shared object
  std::string against;  ///< path; of `time` and `accept`
  std::string verified; ///< path for `accept`: Artifact::verifiedPath
  bool full = false;    ///< effort of `time`
  uint64_t seed = 0;    ///< of `accept`
};

/// `program`: compares all public functions of two programs.
struct ProgramRequest {
  std::string baseline, candidate; ///< paths
  /// Path of the baseline with every float type promoted to f64, or empty. It
  /// is asked where a result is not close to the baseline's.
  std::string reference;
  uint64_t seed = 0;
  int64_t dynamicDim = 128;
};

struct FunctionVerdict {
  std::string name;
  Disposition disposition = Disposition::NotRun;
  std::string reason;
  std::optional<Ratio> speedup;
  double error = 0; ///< relative to the largest magnitude of a result
  int64_t baselineNs = 0, candidateNs = 0; ///< lower quartiles of one call
};

struct ProgramReply {
  /// Why nothing can be compared: the baseline's fault. Empty: see `functions`.
  std::string unusable;
  std::vector<FunctionVerdict> functions;
  int64_t costNs = 0;
};

/// Seeds cross as decimal strings: JSON readers lose the upper bits.
Json toJson(const KernelRequest &request);
Result<KernelRequest> kernelRequestFromJson(const Json &json);
Json toJson(const KernelReply &reply);
Result<KernelReply> kernelReplyFromJson(const Json &json);
Json toJson(const ArtifactRequest &request);
Result<ArtifactRequest> artifactRequestFromJson(const Json &json);
Json toJson(const ProgramRequest &request);
Result<ProgramRequest> programRequestFromJson(const Json &json);
Json toJson(const ProgramReply &reply);
Result<ProgramReply> programReplyFromJson(const Json &json);

} // namespace kernelbrain::evaluate

#endif // KERNELBRAIN_EVALUATE_PROTOCOL_MESSAGES_H
