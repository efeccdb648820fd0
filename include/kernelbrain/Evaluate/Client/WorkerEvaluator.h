//===- WorkerEvaluator.h - Measures on the device ---------------*- C++ -*-===//

#ifndef KERNELBRAIN_EVALUATE_CLIENT_WORKEREVALUATOR_H
#define KERNELBRAIN_EVALUATE_CLIENT_WORKEREVALUATOR_H

#include "kernelbrain/Evaluate/Client/Worker.h"
#include "kernelbrain/Search/Interfaces.h"

#include <memory>

namespace kernelbrain::evaluate {

/// The Evaluator of one kernel. If the worker dies, it is started again and the
/// kernel opened again, once a request; if it dies again, the measurement is a
/// HarnessFault. What is cancelled is NotRun.
class WorkerEvaluator : public search::Evaluator {
public:
  /// Opens the kernel on `worker`, which must outlive the evaluator.
  static Result<std::unique_ptr<WorkerEvaluator>> open(Worker &worker,
                                                       KernelRequest request);
  ~WorkerEvaluator() override;

  /// What opening told: times of the baselines, the fastest one, power.
  const KernelReply &opened() const { return reply; }

  Result<Measurement> check(const Artifact &artifact) override;
  Result<Measurement> time(const Artifact &artifact, const Artifact &incumbent,
                           search::Effort effort) override;
  /// Of workers of a GPU.
  Result<std::optional<Profile>>
  profile(const Artifact &artifact, int64_t timeNs, int64_t &cost) override;
  /// The seed is derived from the kernel's, another one for each call.
  Result<Measurement> accept(const Artifact &artifact,
                             const Artifact &baseline) override;

private:
  WorkerEvaluator(Worker &worker, KernelRequest request)
      : worker(worker), request(std::move(request)) {}
  Status openKernel();
  /// The reply to a request, or none with `why` if the worker was lost twice.
  Result<std::optional<Json>>
  ask(const char *type, const ArtifactRequest &asked, std::string &why);
  Result<Measurement> measure(const char *type, const ArtifactRequest &asked);

  Worker &worker;
  KernelRequest request;
  KernelReply reply;
  int generation = 0; ///< of the worker that has the kernel open
  uint64_t accepted = 0;
};

} // namespace kernelbrain::evaluate

#endif // KERNELBRAIN_EVALUATE_CLIENT_WORKEREVALUATOR_H
