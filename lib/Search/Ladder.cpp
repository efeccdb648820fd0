//===- Ladder.cpp - Coarse to fine evaluation -----------------------------===//

#include "kernelbrain/Search/Ladder.h"

namespace kernelbrain::search {

namespace {
/// Stops builds for as long as something is timed.
class PausedBuilds {
public:
  explicit PausedBuilds(BuildQueue &builds)
      : builds(builds), started(builds.setPaused(true)) {}
  PausedBuilds(const PausedBuilds &) = delete;
  PausedBuilds &operator=(const PausedBuilds &) = delete;
  ~PausedBuilds() {
    // An error shows at the next request, where it can be told.
    if (!resumed)
      (void)builds.setPaused(false);
  }
  const Status &status() const { return started; }
  Status resume() {
    resumed = true;
    return builds.setPaused(false);
  }

private:
  BuildQueue &builds;
  Status started;
  bool resumed = false;
};

Ratio scaled(const Ratio &ratio, double factor) {
  return {ratio.low * factor, ratio.middle * factor, ratio.high * factor};
}
} // namespace

bool Ladder::worthFullTiming(const Ratio &overIncumbent, const Rivals &rivals,
                             const LadderOptions &options) {
  if (overIncumbent.high > 1 + options.margin || !rivals.cellElite)
    return true;
  return overIncumbent.high * rivals.incumbentSpeedup > *rivals.cellElite;
}

template <typename Question>
Result<Measurement> Ladder::ask(Question question, int64_t &cost,
                                std::vector<std::string> &faults) {
  for (int retries = options.harnessRetries;; --retries) {
    Result<Measurement> answer = question();
    if (!answer)
      return answer;
    cost += answer->costNs;
    bool fault = answer->disposition == Disposition::HarnessFault;
    if (fault)
      faults.push_back(answer->reason);
    // A noisy answer is not believed either.
    if ((!fault && answer->disposition != Disposition::Unstable) ||
        retries <= 0)
      return answer;
  }
}

Status Ladder::time(const Artifact &artifact, const Rivals &rivals,
                    Trial &trial) {
  PausedBuilds paused(builds);
  if (!paused.status())
    return paused.status();
  Measurement checked = trial.measurement;
  for (Effort effort : {Effort::Quick, Effort::Full}) {
    bool quick = effort == Effort::Quick;
    Result<Measurement> timed =
        ask([&] { return evaluator.time(artifact, rivals.incumbent, effort); },
            quick ? trial.costs.quickNs : trial.costs.fullNs, trial.faults);
    if (!timed)
      return timed.error();
    // The evidence of the check stays with the variant.
    timed->error = std::max(timed->error, checked.error);
    if (!checked.details.is_null())
      timed->details = {{"check", checked.details}, {"time", timed->details}};
    timed->rung = quick ? 3 : 4;
    trial.measurement = std::move(*timed);
    Measurement &measurement = trial.measurement;
    std::optional<Ratio> ratio = measurement.speedup;
    if (ratio)
      measurement.speedup = scaled(*ratio, rivals.incumbentSpeedup);
    bool counts = measurement.disposition == Disposition::Passed ||
                  measurement.disposition == Disposition::Slower;
    if (!ratio || !counts)
      return paused.resume();
    // To the evaluator "slower" is said of the incumbent, here of the baseline.
    measurement.disposition = measurement.speedup->middle > 1
                                  ? Disposition::Passed
                                  : Disposition::Slower;
    trial.incumbent = !quick && ratio->low > 1 + options.margin &&
                      measurement.speedup->low > 1;
    if (quick && !worthFullTiming(*ratio, rivals, options))
      return paused.resume();
  }
  if (trial.incumbent)
    if (Status status = profile(artifact, trial); !status)
      return status;
  return paused.resume();
}

Status Ladder::profile(const Artifact &artifact, Trial &trial) {
  Result<std::optional<Profile>> profile = evaluator.profile(
      artifact, trial.measurement.timeNs, trial.costs.profileNs);
  if (!profile)
    return profile.error();
  if (*profile && (*profile)->refused.empty())
    trial.measurement.rung = 5;
  trial.measurement.profile = std::move(*profile);
  return {};
}

Status Ladder::climb(const Artifact &artifact, const Rivals &rivals, bool timed,
                     Trial &trial) {
  Result<Measurement> checked = ask([&] { return evaluator.check(artifact); },
                                    trial.costs.checkNs, trial.faults);
  if (!checked)
    return checked.error();
  trial.measurement = std::move(*checked);
  trial.measurement.rung = 2;
  if (!timed || trial.measurement.disposition != Disposition::Passed)
    return {};
  return time(artifact, rivals, trial);
}

Result<Measurement> Ladder::accept(const Artifact &artifact,
                                   const Artifact &baseline) {
  PausedBuilds paused(builds);
  if (!paused.status())
    return paused.status().error();
  int64_t cost = 0;
  std::vector<std::string> faults;
  Result<Measurement> answer =
      ask([&] { return evaluator.accept(artifact, baseline); }, cost, faults);
  if (!answer)
    return answer;
  answer->costNs = cost;
  answer->rung = 6;
  // Passed means better as well; take no one's word for it.
  if (answer->disposition == Disposition::Passed &&
      !(answer->speedup && answer->speedup->low > 1)) {
    answer->disposition = Disposition::Slower;
    answer->reason = "not better than the baseline beyond noise";
  }
  if (Status status = paused.resume(); !status)
    return status.error();
  return answer;
}

} // namespace kernelbrain::search
