//===- ProgramComparison.cpp - Two programs, all their results ------------===//

#include "kernelbrain/Evaluate/Device/ProgramComparison.h"

#include "FunctionRun.h"

#include "kernelbrain/Evaluate/Device/Clock.h"
#include "kernelbrain/Evaluate/Device/Numbers.h"
#include "kernelbrain/Evaluate/Device/Timing.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kernelbrain::evaluate {

/// Of one call of a baseline program: stock lowerings of whole models take
/// seconds.
static constexpr int64_t baselineDeadlineMs = 120000;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// A call of this length is not repeated to measure it.
static constexpr int64_t slowNs = 1000000000;

/// How far the floats of two programs may be apart, in units of the largest
/// magnitude of a result, where nothing else is known: both round each
/// intermediate result, in another order or to another type.
static double toleranceOf(ElementType type) {
  return std::max(1e-4, std::ldexp(8.0, -formatOf(type).mantissaBits));
}

/// 0: finite, 1: NaN, 2: +Inf, 3: -Inf; as the program's type would have it.
static int classOf(const ProgramValue &value, int64_t element) {
  double real = value.real(element);
  if (value.stored != value.type)
    real = roundTo(value.type, real);
  if (std::isfinite(real))
    return 0;
  return std::isnan(real) ? 1 : real > 0 ? 2 : 3;
}

/// Largest difference of finite elements relative to the largest magnitude of
/// `expected`; infinite where `found` is NaN or infinite unlike `expected` and
/// `also`.
static double difference(const ProgramValue &found,
                         const ProgramValue &expected,
                         const ProgramValue &also) {
  double difference = 0, magnitude = 0;
  for (int64_t k = 0; k < found.count(); ++k) {
    double x = found.real(k), y = expected.real(k);
    int foundClass = classOf(found, k), expectedClass = classOf(expected, k);
    if (foundClass != expectedClass && foundClass != classOf(also, k))
      return std::numeric_limits<double>::infinity();
    if (expectedClass == 0)
      magnitude = std::max(magnitude, std::fabs(y));
    if (foundClass == 0 && expectedClass == 0)
      difference = std::max(difference, std::fabs(x - y));
  }
  return difference == 0 ? 0 : difference / (magnitude + 1e-30);
}

/// Whether `found` is right. `reference` may be null; where it is not, what the
/// baseline gets wrong is no measure: `found` may be as far from it as the
/// baseline is, twice. `error` is raised to the difference from the baseline.
static Outcome compareValue(const ProgramValue &found,
                            const ProgramValue &baseline,
                            const ProgramValue *reference, double &error) {
  if (found.shape != baseline.shape)
    return {Disposition::Incorrect, found.name + " has another shape"};
  if (!isFloat(found.type)) {
    for (int64_t k = 0; k < found.count(); ++k)
      if (found.integer(k) != baseline.integer(k) &&
          !(reference && found.integer(k) == reference->integer(k)))
        return {Disposition::Incorrect, found.name + " differs"};
    return {};
  }
  double apart = difference(found, baseline, baseline);
  double tolerance = toleranceOf(found.type);
  error = std::max(error, apart);
  if (apart <= tolerance)
    return {};
  std::string reason = found.name + " differs by " + std::to_string(apart) +
                       " of its largest magnitude";
  if (!reference)
    return {Disposition::Incorrect, reason};
  double own = difference(baseline, *reference, baseline);
  double wrong = difference(found, *reference, baseline);
  if (wrong <= std::max(tolerance, 2 * own))
    return {};
  return {Disposition::Incorrect,
          reason + ", and by " + std::to_string(wrong) +
              " from the reference, the baseline's by " + std::to_string(own)};
}

static const ProgramValue *named(const CallValues &values,
                                 const std::string &name) {
  for (const ProgramValue &value : values.values)
    if (value.name == name)
      return &value;
  return nullptr;
}

/// `reference` may be null.
static Outcome compareValues(const CallValues &found,
                             const CallValues &baseline,
                             const CallValues *reference, double &error) {
  for (const ProgramValue &value : found.values)
    if (!named(baseline, value.name))
      return {Disposition::Incorrect, "changed " + value.name};
  for (const ProgramValue &value : baseline.values) {
    const ProgramValue *other = named(found, value.name);
    if (!other && value.mayStay)
      continue;
    if (!other)
      return {Disposition::Incorrect,
              "leaves " + value.name + " other than the baseline does"};
    const ProgramValue *right =
        reference ? named(*reference, value.name) : nullptr;
    if (right && right->shape != value.shape)
      right = nullptr;
    if (Outcome outcome = compareValue(*other, value, right, error); !outcome)
      return outcome;
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

namespace {

/// A function in which nothing was replaced is as fast as before, not slower:
/// noise of equal programs stays above this ratio of baseline to candidate.
constexpr double slowerRatio = 0.97;

class FunctionComparison {
public:
  FunctionComparison(const CheckerOptions &options,
                     const ProgramRequest &request,
                     const FunctionSignature &function)
      : options(options), request(request), function(function),
        run(options, request, function, /*promoted=*/false) {}
  FunctionVerdict compare();

private:
  Outcome compareCalls(const CallValues &baseline);
  Outcome time();
  Outcome timeOnce();
  /// Of one call of the candidate: one that takes this much longer is of no
  /// use.
  int64_t deadlineMs() const {
    return options.callDeadlineMs ? options.callDeadlineMs
                                  : 3000 + 20 * verdict.baselineNs / 1000000;
  }

  const CheckerOptions &options;
  const ProgramRequest &request;
  const FunctionSignature &function;
  FunctionRun run;
  FunctionVerdict verdict;
  int64_t candidateNs = 0; ///< of the first call
};

} // namespace

Outcome FunctionComparison::compareCalls(const CallValues &baseline) {
  CallValues candidate, reference;
  Outcome outcome = run.callOnce(request.candidate, deadlineMs(), candidate);
  if (!outcome)
    return outcome;
  candidateNs = candidate.ns;
  outcome = compareValues(candidate, baseline, nullptr, verdict.error);
  if (outcome || request.reference.empty())
    return outcome;
  FunctionRun promoted(options, request, function, /*promoted=*/true);
  if (!promoted.createBuffers() ||
      !promoted.callOnce(request.reference, baselineDeadlineMs, reference))
    return outcome;
  return compareValues(candidate, baseline, &reference, verdict.error);
}

Outcome FunctionComparison::time() {
  std::optional<RunnerProcess> runner;
  if (Outcome started =
          run.start({request.baseline, request.candidate}, runner);
      !started)
    return started;
  TimingPlan plan;
  plan.full = true;
  plan.callDeadlineMs = deadlineMs();
  plan.leaseFile = options.leaseFile;
  plan.seed = request.seed;
  plan.expectedNs = verdict.baselineNs;
  TimingSummary summary;
  if (Outcome timed = timeSlots(*runner, run.describeCall(), plan, summary);
      !timed)
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

/// Programs that take seconds are not called a dozen times for the sake of
/// percents: the first calls tell, and half as much again is noise.
Outcome FunctionComparison::timeOnce() {
  constexpr double noise = 1.5;
  double ratio =
      double(verdict.baselineNs) / double(std::max<int64_t>(1, candidateNs));
  verdict.candidateNs = candidateNs;
  verdict.speedup = Ratio{ratio / noise, ratio, ratio * noise};
  if (ratio * noise < 1)
    return {Disposition::Slower, "the first call was slower"};
  return {};
}

FunctionVerdict FunctionComparison::compare() {
  verdict.name = function.name;
  auto finish = [&](const Outcome &outcome) {
    verdict.disposition = outcome.disposition;
    verdict.reason = outcome.reason;
    return verdict;
  };
  if (Status status = run.createBuffers(); !status)
    return finish({Disposition::NotRun, status.error().message});
  CallValues baseline;
  Outcome outcome =
      run.callOnce(request.baseline, baselineDeadlineMs, baseline);
  if (!outcome)
    return finish({outcome.disposition == Disposition::HarnessFault
                       ? Disposition::HarnessFault
                       : Disposition::NotRun,
                   "the baseline fails on random inputs: " + outcome.reason});
  verdict.baselineNs = baseline.ns;
  outcome = compareCalls(baseline);
  if (outcome && baseline.ns >= slowNs)
    return finish(timeOnce());
  if (outcome)
    outcome = time();
  // Where buffers happen to lie makes equal programs differ by a few percent in
  // one process, so a loss counts only if another process shows it too.
  if (outcome.disposition == Disposition::Slower)
    outcome = time();
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
                             x.layout == y.layout && x.isScalar == y.isScalar;
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
    reply.functions.push_back(comparison.compare());
  }
  reply.costNs = nowNs() - start;
  return reply;
}

} // namespace kernelbrain::evaluate
