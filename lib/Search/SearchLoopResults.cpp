//===- SearchLoopResults.cpp - What a measured trial changes --------------===//

#include "kernelbrain/Search/SearchLoop.h"

namespace kernelbrain::search {

double SearchLoop::incumbentSpeedup() const {
  const std::optional<Ratio> &speedup =
      grown->node(incumbent).trial.measurement.speedup;
  return speedup ? speedup->middle : 1;
}

void SearchLoop::settle(const Trial &trial) {
  Disposition disposition = trial.measurement.disposition;
  Amounts spent;
  spent[Currency::Wall] = trial.costs.wallNs;
  spent[Currency::Compile] = trial.costs.compileNs();
  spent[Currency::Device] = trial.costs.deviceNs();
  spent[Currency::Tokens] = trial.costs.tokens;
  spent[Currency::Money] = trial.costs.microMoney;
  spent[Currency::Variants] = disposition != Disposition::Duplicate &&
                              disposition != Disposition::NotRun &&
                              disposition != Disposition::HarnessFault;
  context.ledger.settle(work.kernel.name, trial.ticket, spent);
}

/// What later tickets are told of this one.
void SearchLoop::remember(const Trial &trial) {
  const Measurement &measurement = trial.measurement;
  for (const std::string &knob : trial.inertKnobs)
    if (trial.inertKnobs.size() == 1)
      inert.insert(trial.recipe.strategy + "." + knob);
  if (measurement.disposition == Disposition::HarnessFault) {
    std::string hash = trial.recipe.hash();
    seen.erase(hash); // our fault: it may be proposed again
    if (requeued.insert(hash).second) {
      Proposal again;
      again.recipe = trial.recipe;
      again.proposer = trial.proposer;
      again.rationale = "again, after a fault of the harness";
      queued.push_back(std::move(again));
    }
  }
  if (!grown->node(trial.ticket).judged())
    return;
  if (!trial.irHash.empty())
    firstWithCode.emplace(irKey(trial), trial.ticket);
  if (!trial.codeHash.empty())
    firstWithCode.emplace(codeKey(trial), trial.ticket);
  if (measurement.speedup && isCorrect(measurement.disposition) &&
      measurement.disposition != Disposition::Unstable)
    elites.offer(trial.cell, trial.features,
                 {trial.ticket, measurement.speedup->middle,
                  grown->node(trial.ticket).lineage});
}

Status SearchLoop::apply(const Trial &trial) {
  settle(trial);
  grown->apply(trial);
  remember(trial);
  const Measurement &measurement = trial.measurement;
  ++outcomeValue.trials;
  ++outcomeValue.dispositions[toString(measurement.disposition)];
  for (const std::string &fault : trial.faults)
    if (Status status = context.notify("warning", {{"kernel", trial.kernel},
                                                   {"ticket", trial.ticket},
                                                   {"message", fault}});
        !status)
      return status;
  const std::optional<Profile> &profile = measurement.profile;
  if (profile && !profile->refused.empty() && !context.saidNoCounters) {
    context.saidNoCounters = true;
    if (Status status = context.notify(
            "warning", {{"kernel", trial.kernel},
                        {"ticket", trial.ticket},
                        {"message", "no hardware counters, profiles are by the "
                                    "model: " +
                                        profile->refused}});
        !status)
      return status;
  }
  if (Status status = context.notify("trial", toJson(trial)); !status)
    return status;
  // Without a search nothing is timed: the first correct one goes to rung 6.
  bool untimed = !search && incumbent == 0 &&
                 measurement.disposition == Disposition::Passed;
  if (trial.incumbent || untimed) {
    incumbent = lastImprovement = trial.ticket;
    outcomeValue.best = candidate(incumbent);
  }
  if (trial.incumbent)
    if (Status status = context.notify(
            "incumbent", {{"kernel", trial.kernel},
                          {"ticket", trial.ticket},
                          {"time_ns", measurement.timeNs},
                          {"speedup", toJson(*measurement.speedup)}});
        !status)
      return status;
  if (measurement.disposition != Disposition::HarnessFault) {
    if (measurement.rung > 0)
      context.faultsInRow = 0;
  } else if (++context.faultsInRow >= context.options.stop.faultsInRow) {
    return Error{"the harness failed " + std::to_string(context.faultsInRow) +
                 " times in a row: " + measurement.reason};
  }
  return {};
}

void SearchLoop::checkStopRules(uint64_t ticket) {
  const StopOptions &rules = context.options.stop;
  outcomeValue.boundNs = grown->boundNs();
  double time = grown->baselineNs() / incumbentSpeedup();
  // A bound that was beaten was no bound: there may be more to win.
  bool trusted = modelBoundNs > 0 && grown->boundNs() == modelBoundNs;
  if (search && trusted && incumbent != 0 &&
      time <= modelBoundNs * (1 + rules.boundPercent / 100)) {
    outcomeValue.stop = StopReason::Bound;
    outcomeValue.message =
        "within " + dumpJson(rules.boundPercent) + "% of the analytic bound";
  } else if (rules.plateau > 0 &&
             ticket - lastImprovement >= static_cast<uint64_t>(rules.plateau)) {
    outcomeValue.stop = StopReason::Plateau;
    outcomeValue.message =
        "no new best in " + std::to_string(rules.plateau) + " tickets";
  }
}

Status SearchLoop::stop(StopReason reason, const std::string &message) {
  outcomeValue.stop = reason;
  outcomeValue.message = message;
  forgetQuestions();
  Status first;
  while (!flights.empty()) {
    Flight flight = std::move(flights.front());
    flights.pop_front();
    if (flight.build)
      context.builds.forget(flight.build);
    Trial &trial = flight.trial;
    trial.measurement = Measurement();
    trial.measurement.reason = "the search ended first";
    Status status = apply(trial);
    if (!status && first)
      first = status;
  }
  return first;
}

double SearchLoop::headroom() const {
  // Before anything is measured the whole share could be won.
  if (!grown)
    return work.kernel.share;
  double best = 1 / incumbentSpeedup();
  double bound = grown->boundNs() / grown->baselineNs();
  // Without a usable bound, AdaExplore's cap on speedups stands in.
  if (!(bound > 0) || bound >= 1)
    bound = 0.1;
  return work.kernel.share * std::max(0.0, best - bound);
}

} // namespace kernelbrain::search
