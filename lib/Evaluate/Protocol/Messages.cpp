//===- Messages.cpp - What kb-worker is asked and answers -----------------===//

#include "kernelbrain/Evaluate/Protocol/Messages.h"

#include <cerrno>
#include <cstdlib>

namespace kernelbrain::evaluate {

static Result<uint64_t> seedFromJson(const Json &json) {
  Result<std::string> text = getString(json, "seed");
  if (!text)
    return text.error();
  char *end = nullptr;
  errno = 0;
  uint64_t seed = std::strtoull(text->c_str(), &end, 10);
  if (text->empty() || *end || errno || (*text)[0] == '-')
    return Error{"'seed' is not a decimal number: '" + *text + "'"};
  return seed;
}

template <typename T>
static Result<std::vector<T>> arrayOf(const Json &json,
                                      const std::string &key) {
  Result<Json> array = getArray(json, key);
  if (!array)
    return array.error();
  std::vector<T> values;
  for (const Json &element : *array) {
    bool fits = std::is_same_v<T, std::string> ? element.is_string()
                                               : element.is_number_integer();
    if (!fits)
      return Error{"'" + key + "' has an element of type '" +
                   element.type_name() + "'"};
    values.push_back(element.get<T>());
  }
  return values;
}

Json toJson(const KernelRequest &request) {
  return {{"kernel", toJson(request.kernel)},
          {"seed", std::to_string(request.seed)},
          {"reference", request.reference},
          {"baselines", request.baselines},
          {"artifacts", request.artifacts},
          {"allowance_ms", request.allowanceMs}};
}

Result<KernelRequest> kernelRequestFromJson(const Json &json) {
  KernelRequest request;
  Result<Json> kernel = getObject(json, "kernel");
  if (!kernel)
    return kernel.error();
  Result<Kernel> parsed = kernelFromJson(*kernel);
  if (!parsed)
    return parsed.error().withContext("'kernel'");
  request.kernel = *parsed;
  Result<uint64_t> seed = seedFromJson(json);
  if (!seed)
    return seed.error();
  request.seed = *seed;
  request.reference = getStringOr(json, "reference", "");
  request.artifacts = getStringOr(json, "artifacts", "");
  Result<std::vector<std::string>> baselines =
      arrayOf<std::string>(json, "baselines");
  if (!baselines)
    return baselines.error();
  if (baselines->empty())
    return Error{"'baselines' is empty, expected at least one path"};
  request.baselines = *baselines;
  request.allowanceMs = getIntegerOr(json, "allowance_ms", 2000);
  return request;
}

Json toJson(const KernelReply &reply) {
  if (!reply.unusable.empty())
    return {{"unusable", reply.unusable}, {"cost_ns", reply.costNs}};
  return {{"baseline", reply.baseline}, {"times_ns", reply.timesNs},
          {"sets", reply.sets},         {"low_power", reply.lowPower},
          {"notes", reply.notes},       {"insensitive", reply.insensitive},
          {"cost_ns", reply.costNs}};
}

Result<KernelReply> kernelReplyFromJson(const Json &json) {
  KernelReply reply;
  reply.unusable = getStringOr(json, "unusable", "");
  reply.costNs = getIntegerOr(json, "cost_ns", 0);
  if (!reply.unusable.empty())
    return reply;
  Result<int64_t> baseline = getInteger(json, "baseline");
  if (!baseline)
    return baseline.error();
  Result<std::vector<int64_t>> times = arrayOf<int64_t>(json, "times_ns");
  if (!times)
    return times.error();
  if (*baseline < 0 || *baseline >= int64_t(times->size()))
    return Error{"'baseline' is not a position in 'times_ns'"};
  Result<std::vector<std::string>> sets = arrayOf<std::string>(json, "sets");
  if (!sets)
    return sets.error();
  Result<std::vector<std::string>> notes = arrayOf<std::string>(json, "notes");
  if (!notes)
    return notes.error();
  Result<std::vector<int64_t>> insensitive =
      arrayOf<int64_t>(json, "insensitive");
  if (!insensitive)
    return insensitive.error();
  reply.baseline = *baseline;
  reply.timesNs = *times;
  reply.sets = *sets;
  reply.notes = *notes;
  reply.insensitive = *insensitive;
  reply.lowPower = getBoolOr(json, "low_power", false);
  return reply;
}

Json toJson(const ArtifactRequest &request) {
  return {{"kernel", request.kernel},
          {"artifact", request.artifact},
          {"against", request.against},
          {"verified", request.verified},
          {"effort", request.full ? "full" : "quick"},
          {"seed", std::to_string(request.seed)}};
}

Result<ArtifactRequest> artifactRequestFromJson(const Json &json) {
  ArtifactRequest request;
  Result<std::string> kernel = getString(json, "kernel");
  if (!kernel)
    return kernel.error();
  Result<std::string> artifact = getString(json, "artifact");
  if (!artifact)
    return artifact.error();
  std::string effort = getStringOr(json, "effort", "quick");
  if (effort != "quick" && effort != "full")
    return Error{"unknown effort '" + effort + "', expected quick or full"};
  request.kernel = *kernel;
  request.artifact = *artifact;
  request.against = getStringOr(json, "against", "");
  request.verified = getStringOr(json, "verified", "");
  request.full = effort == "full";
  if (json.contains("seed")) {
    Result<uint64_t> seed = seedFromJson(json);
    if (!seed)
      return seed.error();
    request.seed = *seed;
  }
  return request;
}

Json toJson(const ProgramRequest &request) {
  return {{"baseline", request.baseline},
          {"candidate", request.candidate},
          {"reference", request.reference},
          {"seed", std::to_string(request.seed)},
          {"dynamic_dim", request.dynamicDim}};
}

Result<ProgramRequest> programRequestFromJson(const Json &json) {
  ProgramRequest request;
  Result<std::string> baseline = getString(json, "baseline");
  if (!baseline)
    return baseline.error();
  Result<std::string> candidate = getString(json, "candidate");
  if (!candidate)
    return candidate.error();
  Result<uint64_t> seed = seedFromJson(json);
  if (!seed)
    return seed.error();
  request.baseline = *baseline;
  request.candidate = *candidate;
  request.reference = getStringOr(json, "reference", "");
  request.seed = *seed;
  request.dynamicDim = getIntegerOr(json, "dynamic_dim", 128);
  if (request.dynamicDim < 0)
    return Error{"'dynamic_dim' is negative"};
  return request;
}

Json toJson(const ProgramReply &reply) {
  Json functions = Json::array();
  for (const FunctionVerdict &verdict : reply.functions) {
    Json one = {{"name", verdict.name},
                {"disposition", toString(verdict.disposition)},
                {"reason", verdict.reason},
                {"error", verdict.error},
                {"baseline_ns", verdict.baselineNs},
                {"candidate_ns", verdict.candidateNs}};
    if (verdict.speedup)
      one["speedup"] = toJson(*verdict.speedup);
    functions.push_back(one);
  }
  return {{"unusable", reply.unusable},
          {"functions", functions},
          {"cost_ns", reply.costNs}};
}

static Result<FunctionVerdict> functionVerdictFromJson(const Json &json) {
  FunctionVerdict verdict;
  Result<std::string> name = getString(json, "name");
  if (!name)
    return name.error();
  Result<std::string> text = getString(json, "disposition");
  if (!text)
    return text.error();
  std::optional<Disposition> disposition = dispositionFromString(*text);
  if (!disposition)
    return Error{"unknown disposition '" + *text + "'"};
  verdict.name = *name;
  verdict.disposition = *disposition;
  verdict.reason = getStringOr(json, "reason", "");
  verdict.error = getNumberOr(json, "error", 0);
  verdict.baselineNs = getIntegerOr(json, "baseline_ns", 0);
  verdict.candidateNs = getIntegerOr(json, "candidate_ns", 0);
  if (json.contains("speedup")) {
    Result<Ratio> speedup = ratioFromJson(json["speedup"]);
    if (!speedup)
      return speedup.error();
    verdict.speedup = *speedup;
  }
  return verdict;
}

Result<ProgramReply> programReplyFromJson(const Json &json) {
  ProgramReply reply;
  Result<Json> functions = getArray(json, "functions");
  if (!functions)
    return functions.error();
  for (const Json &one : *functions) {
    Result<FunctionVerdict> verdict = functionVerdictFromJson(one);
    if (!verdict)
      return verdict.error().withContext("'functions'");
    reply.functions.push_back(*verdict);
  }
  reply.unusable = getStringOr(json, "unusable", "");
  reply.costNs = getIntegerOr(json, "cost_ns", 0);
  return reply;
}

} // namespace kernelbrain::evaluate
