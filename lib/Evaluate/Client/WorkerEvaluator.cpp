//===- WorkerEvaluator.cpp - Measures on the device -----------------------===//

#include "kernelbrain/Evaluate/Client/WorkerEvaluator.h"

#include "kernelbrain/Support/Random.h"

namespace kernelbrain::evaluate {

Result<std::unique_ptr<WorkerEvaluator>>
WorkerEvaluator::open(Worker &worker, KernelRequest request) {
  std::unique_ptr<WorkerEvaluator> evaluator(
      new WorkerEvaluator(worker, std::move(request)));
  Status status = evaluator->openKernel();
  if (!status && !worker.alive())
    status = evaluator->openKernel();
  if (!status)
    return status.error();
  return evaluator;
}

WorkerEvaluator::~WorkerEvaluator() {
  // Frees the references; a worker that died has nothing to forget.
  if (worker.alive() && generation == worker.generation())
    (void)bool(
        worker.request({{"type", "forget"}, {"kernel", request.kernel.name}}));
}

Status WorkerEvaluator::openKernel() {
  Json message = toJson(request);
  message["type"] = "kernel";
  Result<Json> answer = worker.request(message);
  if (!answer)
    return answer.error();
  Result<KernelReply> parsed = kernelReplyFromJson(*answer);
  if (!parsed)
    return parsed.error().withContext("reply of kb-worker");
  if (generation != 0 && !parsed->unusable.empty())
    return Error{parsed->unusable};
  // A kernel that is opened again keeps the baselines' first times: decisions
  // that were taken stay comparable.
  if (generation == 0)
    reply = *parsed;
  generation = worker.generation();
  return {};
}

Result<std::optional<Json>> WorkerEvaluator::ask(const char *type,
                                                 const ArtifactRequest &asked,
                                                 std::string &why) {
  Json message = toJson(asked);
  message["type"] = type;
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (!worker.alive() || generation != worker.generation()) {
      if (Status status = openKernel(); !status) {
        why = status.error().message;
        if (worker.alive())
          return status.error();
        continue;
      }
    }
    Result<Json> answer = worker.request(message);
    if (!answer) {
      why = answer.error().message;
      if (worker.alive())
        return answer.error();
      continue;
    }
    return std::optional<Json>(std::move(*answer));
  }
  return std::optional<Json>();
}

Result<Measurement> WorkerEvaluator::measure(const char *type,
                                             const ArtifactRequest &asked) {
  std::string why;
  Result<std::optional<Json>> answer = ask(type, asked, why);
  if (!answer)
    return answer.error();
  if (*answer) {
    Result<Json> object = getObject(**answer, "measurement");
    if (!object)
      return object.error().withContext("reply of kb-worker");
    return measurementFromJson(*object);
  }
  Measurement fault;
  fault.disposition =
      worker.isCancelled() ? Disposition::NotRun : Disposition::HarnessFault;
  fault.reason = why;
  return fault;
}

Result<Measurement> WorkerEvaluator::check(const Artifact &artifact) {
  ArtifactRequest asked;
  asked.kernel = request.kernel.name;
  asked.artifact = artifact.path;
  return measure("check", asked);
}

Result<Measurement> WorkerEvaluator::time(const Artifact &artifact,
                                          const Artifact &incumbent,
                                          search::Effort effort) {
  ArtifactRequest asked;
  asked.kernel = request.kernel.name;
  asked.artifact = artifact.path;
  asked.against = incumbent.path;
  asked.full = effort == search::Effort::Full;
  return measure("time", asked);
}

Result<std::optional<Profile>>
WorkerEvaluator::profile(const Artifact &artifact, int64_t timeNs,
                         int64_t &cost) {
  if (!worker.hasGpu())
    return std::optional<Profile>();
  ArtifactRequest asked;
  asked.kernel = request.kernel.name;
  asked.artifact = artifact.path;
  Profile profile;
  Result<std::optional<Json>> answer = ask("profile", asked, profile.refused);
  if (!answer) { // Nothing hangs on a profile: the run goes on without.
    profile.refused = answer.error().message;
  } else if (*answer) {
    Result<Json> object = getObject(**answer, "profile");
    Result<Profile> read = object ? profileFromJson(*object) : object.error();
    if (!read)
      return read.error().withContext("reply of kb-worker");
    profile = std::move(*read);
    cost += getIntegerOr(**answer, "cost_ns", 0);
  } else if (worker.isCancelled()) {
    return std::optional<Profile>();
  }
  auto bytes = double(request.kernel.boundaryBytes);
  if (!profile.refused.empty()) {
    Result<Json> greeting = worker.hello();
    Result<Target> target =
        greeting ? targetFromJson((*greeting)["target"]) : greeting.error();
    profile =
        modelledProfile(artifact.manifest.launches, target ? *target : Target(),
                        bytes, double(timeNs), profile.refused);
  }
  profile.values[counter::leastBytes] = bytes;
  referTo(profile, double(timeNs));
  return std::optional<Profile>(std::move(profile));
}

Result<Measurement> WorkerEvaluator::accept(const Artifact &artifact,
                                            const Artifact &baseline) {
  ArtifactRequest asked;
  asked.kernel = request.kernel.name;
  asked.artifact = artifact.path;
  asked.against = baseline.path;
  asked.verified = artifact.verifiedPath;
  asked.seed = Random({request.seed, 0xacce97ed, ++accepted}).next();
  return measure("accept", asked);
}

} // namespace kernelbrain::evaluate
