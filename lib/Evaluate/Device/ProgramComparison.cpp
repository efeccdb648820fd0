//===- ProgramComparison.cpp - Two programs, all their results ------------===//

#include "kernelbrain/Evaluate/Device/ProgramComparison.h"

#include "kernelbrain/Evaluate/Device/Clock.h"
#include "kernelbrain/Evaluate/Device/Numbers.h"
#include "kernelbrain/Evaluate/Device/Timing.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace kernelbrain::evaluate {

/// Of one call of a program: stock lowerings of whole models take seconds.
static constexpr int64_t programDeadlineMs = 120000;

namespace {

/// A result as it was returned.
struct Returned {
  std::vector<int64_t> shape;
  std::string bytes;
};

/// What one call of a function gave.
struct CallResult {
  std::vector<Returned> results;
  std::vector<uint64_t> inputs; ///< hashes after the call
};

/// A function in which nothing was replaced is as fast as before, not slower:
/// noise of equal programs stays above this ratio of baseline to candidate.
constexpr double slowerRatio = 0.97;

class FunctionComparison {
public:
  FunctionComparison(const CheckerOptions &options,
                     const ProgramRequest &request,
                     const FunctionSignature &function)
      : options(options), request(request), function(function) {}
  Result<FunctionVerdict> compare();

private:
  Status createBuffers();
  Result<RunnerProcess> start(const std::vector<std::string> &paths);
  void drawInputs();
  std::vector<uint64_t> hashInputs();
  Json describeCall() const;
  Outcome callOnce(const std::string &path, CallResult &result);
  Outcome takeResults(const Json &reply, std::vector<Returned> &results);
  Outcome compareResults(const CallResult &baseline,
                         const CallResult &candidate, double &error) const;
  Outcome time(FunctionVerdict &verdict);
  Outcome timeTwice(FunctionVerdict &verdict);
  int64_t bytesOfArgument(size_t k) const {
    return bytesOf(function.arguments[k], function.arguments[k].type, dims);
  }

  const CheckerOptions &options;
  const ProgramRequest &request;
  const FunctionSignature &function;
  std::vector<int64_t> dims;
  std::optional<SharedBuffers> buffers;
  int64_t room = 64; ///< bytes for results, in the last slot
};

} // namespace

//===----------------------------------------------------------------------===//
// Buffers and calls
//===----------------------------------------------------------------------===//

Status FunctionComparison::createBuffers() {
  size_t count = 0;
  bool dynamicResults = false;
  for (const auto *list : {&function.arguments, &function.results})
    for (const Argument &argument : *list)
      for (int64_t extent : argument.shape)
        if (extent < 0) {
          count = std::max(count, size_t(-extent));
          dynamicResults |= list == &function.results;
        }
  dims.assign(count, request.dynamicDim);
  std::vector<SlotRequest> slots;
  int64_t inputs = 0;
  for (size_t k = 0; k < function.arguments.size(); ++k) {
    inputs += bytesOfArgument(k);
    slots.push_back({bytesOfArgument(k), 64});
  }
  for (const Argument &result : function.results)
    room += (bytesOf(result, result.type, dims) + 63) / 64 * 64;
  // How large a dynamic result is, only the program knows.
  if (dynamicResults)
    room = 4 * (room + inputs) + (16 << 20);
  slots.push_back({room, 64});
  Result<SharedBuffers> created = SharedBuffers::create(slots);
  if (!created)
    return created.error();
  buffers = std::move(*created);
  return {};
}

Result<RunnerProcess>
FunctionComparison::start(const std::vector<std::string> &paths) {
  return RunnerProcess::start(options.runner, *buffers, paths,
                              /*allowFork=*/false);
}

void FunctionComparison::drawInputs() {
  for (size_t k = 0; k < function.arguments.size(); ++k) {
    const Argument &argument = function.arguments[k];
    InputSet set;
    set.dims = dims;
    set.seed = request.seed;
    // Vectors are mostly norms' weights and variances.
    set.positive = argument.shape.size() == 1 || argument.isScalar;
    fillInput(set, k, argument, argument.type, 0,
              buffers->data(k, bytesOfArgument(k), Placement::Centered));
  }
}

std::vector<uint64_t> FunctionComparison::hashInputs() {
  std::vector<uint64_t> hashes;
  for (size_t k = 0; k < function.arguments.size(); ++k)
    hashes.push_back(
        hashMemory(buffers->data(k, bytesOfArgument(k), Placement::Centered),
                   bytesOfArgument(k)));
  return hashes;
}

Json FunctionComparison::describeCall() const {
  Json arguments = Json::array(), results = Json::array();
  auto *open = const_cast<SharedBuffers *>(&*buffers);
  for (size_t k = 0; k < function.arguments.size(); ++k) {
    const Argument &argument = function.arguments[k];
    int64_t bytes = bytesOfArgument(k);
    if (!argument.isScalar) {
      arguments.push_back(
          {{"offset", buffers->offsetOf(k, bytes, Placement::Centered)},
           {"shape", extentsOf(argument, dims)}});
      continue;
    }
    int64_t bits = 0;
    std::memcpy(&bits, open->data(k, bytes, Placement::Centered),
                size_t(bytes));
    // Integers are passed sign-extended, which also fits narrower parameters.
    if (!isFloat(argument.type))
      bits = loadInteger(argument.type, &bits, 0);
    arguments.push_back(
        {{"scalar", true}, {"float", isFloat(argument.type)}, {"bits", bits}});
  }
  for (const Argument &result : function.results)
    results.push_back({{"scalar", result.isScalar},
                       {"float", isFloat(result.type)},
                       {"element_bytes", byteSize(result.type)},
                       {"rank", result.shape.size()}});
  return {{"function", function.name},
          {"arguments", arguments},
          {"results", results},
          {"area", buffers->offsetOf(function.arguments.size(), room,
                                     Placement::Centered)},
          {"room", room}};
}

Outcome FunctionComparison::takeResults(const Json &reply,
                                        std::vector<Returned> &results) {
  Outcome malformed = {Disposition::Crashed, "the runner's reply is malformed"};
  Result<Json> list = getArray(reply, "results");
  if (!list || list->size() != function.results.size())
    return malformed;
  size_t slot = function.arguments.size();
  const char *area = buffers->data(slot, room, Placement::Centered);
  int64_t base = buffers->offsetOf(slot, room, Placement::Centered);
  for (size_t k = 0; k < list->size(); ++k) {
    const Json &json = (*list)[k];
    Returned returned;
    int64_t bytes = byteSize(function.results[k].type);
    Result<Json> shape = getArray(json, "shape");
    if (!shape || shape->size() != function.results[k].shape.size())
      return malformed;
    for (const Json &extent : *shape) {
      if (!extent.is_number_integer() || extent.get<int64_t>() < 0 ||
          __builtin_mul_overflow(bytes, extent.get<int64_t>(), &bytes))
        return malformed;
      returned.shape.push_back(extent.get<int64_t>());
    }
    int64_t offset = getIntegerOr(json, "offset", -1) - base;
    if (offset < 0 || bytes > room || offset > room - bytes)
      return malformed;
    returned.bytes.assign(area + offset, size_t(bytes));
    results.push_back(std::move(returned));
  }
  return {};
}

Outcome FunctionComparison::callOnce(const std::string &path,
                                     CallResult &result) {
  Result<RunnerProcess> runner = start({path});
  if (!runner)
    return Outcome::fault(runner.error());
  Manifest manifest;
  if (Outcome loaded = runner->load(0, path, manifest); !loaded)
    return loaded;
  drawInputs();
  Json request = describeCall(), reply;
  request["type"] = "call";
  request["slot"] = 0;
  if (Outcome called = runner->ask(request, programDeadlineMs, reply); !called)
    return called;
  result.inputs = hashInputs();
  return takeResults(reply, result.results);
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

/// Largest difference relative to the largest magnitude; infinite where a NaN
/// or an infinity has no counterpart.
static double floatDifference(ElementType type, const Returned &a,
                              const Returned &b) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double difference = 0, magnitude = 0;
  for (int64_t k = 0; k < elementCount(a.shape); ++k) {
    double x = loadFloat(type, a.bytes.data(), k);
    double y = loadFloat(type, b.bytes.data(), k);
    if (std::isfinite(x))
      magnitude = std::max(magnitude, std::fabs(x));
    if (x == y || (std::isnan(x) && std::isnan(y)))
      continue;
    if (!std::isfinite(x) || !std::isfinite(y))
      return infinity;
    difference = std::max(difference, std::fabs(x - y));
  }
  return difference == 0 ? 0 : difference / (magnitude + 1e-30);
}

Outcome FunctionComparison::compareResults(const CallResult &baseline,
                                           const CallResult &candidate,
                                           double &error) const {
  for (size_t k = 0; k < baseline.results.size(); ++k) {
    const Returned &expected = baseline.results[k],
                   &found = candidate.results[k];
    std::string name = "result " + std::to_string(k);
    if (expected.shape != found.shape)
      return {Disposition::Incorrect, name + " has another shape"};
    ElementType type = function.results[k].type;
    if (!isFloat(type)) {
      if (expected.bytes != found.bytes)
        return {Disposition::Incorrect, name + " differs"};
      continue;
    }
    double difference = floatDifference(type, expected, found);
    double tolerance =
        std::max(1e-4, std::ldexp(2.0, -formatOf(type).mantissaBits));
    error = std::max(error, difference);
    if (!(difference <= tolerance))
      return {Disposition::Incorrect, name + " differs by " +
                                          std::to_string(difference) +
                                          " of its largest magnitude"};
  }
  return {};
}

Outcome FunctionComparison::time(FunctionVerdict &verdict) {
  Result<RunnerProcess> runner = start({request.baseline, request.candidate});
  if (!runner)
    return Outcome::fault(runner.error());
  Manifest manifest;
  if (Outcome loaded = runner->load(0, request.baseline, manifest); !loaded)
    return loaded;
  if (Outcome loaded = runner->load(1, request.candidate, manifest); !loaded)
    return loaded;
  drawInputs();
  TimingPlan plan;
  plan.full = true;
  plan.callDeadlineMs = programDeadlineMs / 10;
  plan.leaseFile = options.leaseFile;
  plan.seed = request.seed;
  plan.expectedNs = verdict.baselineNs;
  TimingSummary summary;
  if (Outcome timed = timeSlots(*runner, describeCall(), plan, summary); !timed)
    return timed;
  verdict.baselineNs = summary.aNs;
  verdict.candidateNs = summary.bNs;
  verdict.speedup = summary.ratio;
  if (!summary.quiet)
    return {Disposition::Unstable, summary.noise};
  if (summary.upperQuartile < slowerRatio)
    return {Disposition::Slower, "three of four pairs were slower"};
  return {};
}

/// Where buffers happen to lie makes equal programs differ by a few percent in
/// one process, so a loss counts only if another process shows it too.
Outcome FunctionComparison::timeTwice(FunctionVerdict &verdict) {
  Outcome first = time(verdict);
  return first.disposition == Disposition::Slower ? time(verdict) : first;
}

Result<FunctionVerdict> FunctionComparison::compare() {
  FunctionVerdict verdict;
  verdict.name = function.name;
  auto finish = [&](const Outcome &outcome) {
    verdict.disposition = outcome.disposition;
    verdict.reason = outcome.reason;
    return verdict;
  };
  if (Status status = createBuffers(); !status)
    return finish({Disposition::NotRun, status.error().message});
  drawInputs();
  std::vector<uint64_t> drawn = hashInputs();
  CallResult baseline, candidate;
  int64_t start = nowNs();
  Outcome outcome = callOnce(request.baseline, baseline);
  if (!outcome)
    return finish({outcome.disposition == Disposition::HarnessFault
                       ? Disposition::HarnessFault
                       : Disposition::NotRun,
                   "the baseline fails on random inputs: " + outcome.reason});
  verdict.baselineNs = nowNs() - start;
  outcome = callOnce(request.candidate, candidate);
  for (size_t k = 0; k < drawn.size() && outcome; ++k)
    if (candidate.inputs[k] != baseline.inputs[k])
      outcome = {Disposition::Incorrect,
                 baseline.inputs[k] == drawn[k]
                     ? "changed argument " + std::to_string(k)
                     : "leaves argument " + std::to_string(k) +
                           " other than the baseline does"};
  if (outcome)
    outcome = compareResults(baseline, candidate, verdict.error);
  if (outcome)
    outcome = timeTwice(verdict);
  return finish(outcome);
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// The manifest of the program at `path`; `why` says why there is none. An
/// error is ours.
static Result<Manifest> readManifest(const CheckerOptions &options,
                                     const std::string &path,
                                     std::string &why) {
  Result<SharedBuffers> buffers = SharedBuffers::create({});
  if (!buffers)
    return buffers.error();
  Result<RunnerProcess> runner =
      RunnerProcess::start(options.runner, *buffers, {path}, false);
  if (!runner)
    return runner.error();
  Manifest manifest;
  if (Outcome loaded = runner->load(0, path, manifest); !loaded)
    why = "cannot load '" + path + "': " + loaded.reason;
  else if (manifest.kind != "program")
    why = "'" + path + "' is a " + manifest.kind + ", expected a program";
  return manifest;
}

static bool sameSignature(const std::vector<Argument> &a,
                          const std::vector<Argument> &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Argument &x, const Argument &y) {
                      return x.type == y.type && x.shape == y.shape &&
                             x.isScalar == y.isScalar;
                    });
}

Result<ProgramReply> comparePrograms(const CheckerOptions &options,
                                     const ProgramRequest &request) {
  int64_t start = nowNs();
  ProgramReply reply;
  Result<Manifest> baseline =
      readManifest(options, request.baseline, reply.unusable);
  if (!baseline)
    return baseline.error();
  if (!reply.unusable.empty())
    return reply;
  std::string missing = "the candidate has no function of that signature";
  std::string unloadable;
  Result<Manifest> candidate =
      readManifest(options, request.candidate, unloadable);
  if (!candidate)
    return candidate.error();
  for (const FunctionSignature &function : baseline->functions) {
    auto found = std::find_if(
        candidate->functions.begin(), candidate->functions.end(),
        [&](const FunctionSignature &f) { return f.name == function.name; });
    if (found == candidate->functions.end() ||
        !sameSignature(function.arguments, found->arguments) ||
        !sameSignature(function.results, found->results)) {
      FunctionVerdict verdict;
      verdict.name = function.name;
      verdict.disposition = Disposition::LaunchFailed;
      verdict.reason = unloadable.empty() ? missing : unloadable;
      reply.functions.push_back(verdict);
      continue;
    }
    FunctionComparison comparison(options, request, function);
    Result<FunctionVerdict> verdict = comparison.compare();
    if (!verdict)
      return verdict.error().withContext("function '" + function.name + "'");
    reply.functions.push_back(*verdict);
  }
  reply.costNs = nowNs() - start;
  return reply;
}

} // namespace kernelbrain::evaluate
