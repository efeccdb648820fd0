//===- Worker.h - A kb-worker process ---------------------------*- C++ -*-===//

#ifndef KERNELBRAIN_EVALUATE_CLIENT_WORKER_H
#define KERNELBRAIN_EVALUATE_CLIENT_WORKER_H

#include "kernelbrain/Core/Target.h"
#include "kernelbrain/Evaluate/Protocol/Messages.h"
#include "kernelbrain/Support/Frame.h"
#include "kernelbrain/Support/Subprocess.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kernelbrain::evaluate {

struct WorkerOptions {
  std::string program; ///< path of kb-worker (see findProgram)
  std::vector<std::string> arguments;
  /// A worker that is silent for longer is killed. Timings wait for the lease
  /// of the host, and references of slow kernels take minutes.
  int64_t deadlineMs = 600000;
  /// Asked while a reply is awaited, if given. True: the worker is killed, and
  /// none is started again.
  std::function<bool()> isCancelled;
};

/// One kb-worker, started at the first request and again after it died. Not for
/// several threads at once.
class Worker {
public:
  explicit Worker(WorkerOptions options) : options(std::move(options)) {}

  /// Sends one request (without `id`) and returns the reply. An error is either
  /// the worker's (it goes on) or the end of the worker: `alive()` tells.
  Result<Json> request(Json message);
  bool alive() const { return process.has_value(); }
  /// The owner has lost patience: every request fails.
  bool isCancelled() const {
    return options.isCancelled && options.isCancelled();
  }
  /// Counts the processes started so far: what was open in an earlier one is
  /// gone.
  int generation() const { return started; }
  /// The running process, -1 if there is none.
  pid_t pid() const { return process ? process->pid() : -1; }
  /// The reply to `hello`: device and target.
  Result<Json> hello();

  /// Whether kernels are measured on a GPU.
  bool hasGpu();

  /// What one core of this machine moves at best.
  Result<PeakBandwidth> measureBandwidth();
  /// Compares two programs; a worker that died is started again once.
  Result<ProgramReply> comparePrograms(const ProgramRequest &request);

private:
  Status start();
  Result<Json> exchange(const Json &message);

  WorkerOptions options;
  std::optional<Subprocess> process;
  FrameParser parser;
  Json greeting;
  uint64_t lastId = 0;
  int started = 0;
};

} // namespace kernelbrain::evaluate

#endif // KERNELBRAIN_EVALUATE_CLIENT_WORKER_H
