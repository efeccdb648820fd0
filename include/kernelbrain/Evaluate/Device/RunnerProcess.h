//===- RunnerProcess.h - The checker's end of a runner ----------*- C++ -*-===//

#ifndef KERNELBRAIN_EVALUATE_DEVICE_RUNNERPROCESS_H
#define KERNELBRAIN_EVALUATE_DEVICE_RUNNERPROCESS_H

#include "kernelbrain/Core/Artifact.h"
#include "kernelbrain/Core/Measurement.h"
#include "kernelbrain/Evaluate/Device/SharedBuffers.h"
#include "kernelbrain/Support/Frame.h"
#include "kernelbrain/Support/Subprocess.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kernelbrain::evaluate {

/// How a step with a variant went: Passed, or what became of the variant.
struct Outcome {
  Disposition disposition = Disposition::Passed;
  std::string reason;

  explicit operator bool() const { return disposition == Disposition::Passed; }
  static Outcome fault(const Error &error) {
    return {Disposition::HarnessFault, error.message};
  }
};

/// What a failed call on a GPU says about the code: `status` is 1000 and the
/// driver's error.
Outcome outcomeOfStatus(int32_t status, const std::string &message);

/// Where runners come from and what they may.
struct RunnerSetup {
  std::string program;                    ///< path of kb-worker
  int64_t memoryBytes = int64_t(4) << 30; ///< beyond the shared buffers
  int64_t threads = 1;                    ///< that code may use
  int device = -1;                        ///< the GPU; negative: the host
  bool profile = false;                   ///< read the GPU's counters
  std::string artifacts;                  ///< KernelRequest::artifacts
  /// A command that runs the rest of its line under a tool that checks accesses
  /// to the GPU's memory; may be empty.
  std::vector<std::string> memcheck;
};

struct RunReply {
  int32_t status = 0;
  int signal = 0; ///< of a run in a child
  /// The beginning of what the child printed; of a run on a GPU that failed,
  /// the driver's words.
  std::string output;
  int64_t wallNs = 0, cpuNs = 0;
};

/// One runner. A runner that died or was killed answers nothing any more.
class RunnerProcess {
public:
  /// Starts a runner that shares `buffers` and may read `artifacts`; one with a
  /// GPU their whole folders, since it is kept for others.
  static Result<RunnerProcess> start(const RunnerSetup &setup,
                                     const SharedBuffers &buffers,
                                     const std::vector<std::string> &artifacts,
                                     bool allowFork);

  /// Sends a request and waits for the reply. Crashed and TimedOut are about
  /// the code that ran; the runner is gone then.
  Outcome ask(const Json &request, int64_t deadlineMs, Json &reply);

  /// Loads a shared object into slot 0 or 1 and reads its manifest.
  Outcome load(int slot, const std::string &path, Manifest &manifest);
  /// Runs a kernel: `request` without its type.
  Outcome run(Json request, int64_t deadlineMs, RunReply &reply);

  /// Brings the arguments of a call back from the GPU.
  Outcome fetch(Json request, int64_t deadlineMs);

  const std::vector<std::string> &sandbox() const { return measures; }
  bool isAlive() { return !process.wait(0).has_value(); }
  /// Ends it in good order; false if it does not end.
  bool end(int deadlineMs);
  pid_t pid() const { return process.pid(); }
  int64_t threads() const { return allowedThreads; }
  /// Whether it may read the artifact at `path`. One that has loaded very many
  /// is worn out: they stay in its memory and in the GPU's.
  bool canLoad(const std::string &path) const;

private:
  RunnerProcess(Subprocess process, const RunnerSetup &setup)
      : process(std::move(process)), allowedThreads(setup.threads),
        device(setup.device), artifacts(setup.artifacts) {}
  Outcome died();

  Subprocess process;
  FrameParser parser;
  size_t received = 0; ///< bytes of the reply so far
  int64_t allowedThreads = 1;
  int device = -1;
  std::string artifacts; ///< KernelRequest::artifacts
  int loads = 0;
  std::vector<std::string> readable;
  std::vector<std::string> measures;
};

} // namespace kernelbrain::evaluate

#endif // KERNELBRAIN_EVALUATE_DEVICE_RUNNERPROCESS_H
