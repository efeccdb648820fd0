//===- SearchLoopAcceptance.cpp - The end of a kernel's search ------------===//

#include "kernelbrain/Search/SearchLoop.h"

namespace kernelbrain::search {

Candidate SearchLoop::candidate(uint64_t ticket) const {
  const Trial &trial = grown->node(ticket).trial;
  Candidate candidate;
  candidate.ticket = ticket;
  candidate.recipe = trial.recipe;
  candidate.measurement = trial.measurement;
  candidate.cell = trial.cell;
  candidate.proposer = trial.proposer;
  candidate.artifact.path = trial.artifact;
  candidate.artifact.manifest.irHash = trial.irHash;
  candidate.artifact.manifest.codeHash = trial.codeHash;
  auto built = artifacts.find(ticket);
  if (built != artifacts.end())
    candidate.artifact = built->second;
  else if (ticket == 0 && prepared)
    candidate.artifact = prepared->baseline;
  return candidate;
}

/// Builds a variant outside of its ticket.
Result<BuildResult> SearchLoop::rebuild(uint64_t ticket, BuildOutput output) {
  Result<uint64_t> id = context.builds.submit(
      work.kernel.name, grown->node(ticket).trial.recipe, output);
  if (!id)
    return id.error();
  std::vector<std::string> faults;
  return context.builds.wait(*id, faults);
}

/// The artifact of a variant, built again if another process had built it.
Result<Artifact> SearchLoop::artifactOf(uint64_t ticket) {
  if (Status status = prepare(); !status)
    return status.error();
  if (!prepared->skipped.empty())
    return Error{"kernel '" + work.kernel.name +
                 "' can no longer be evaluated: " + prepared->skipped};
  if (ticket == 0)
    return prepared->baseline;
  auto built = artifacts.find(ticket);
  if (built != artifacts.end())
    return built->second;
  Result<BuildResult> result = rebuild(ticket, BuildOutput::Artifact);
  if (!result)
    return result.error();
  if (result->disposition != Disposition::Passed)
    return Error{"variant " + std::to_string(ticket) + " of '" +
                 work.kernel.name +
                 "' was built before and is not now: " + result->reason};
  artifacts[ticket] = result->artifact;
  return result->artifact;
}

/// Builds `artifact` once more with checks of its memory accesses. A variant
/// that grows too large by them is accepted without.
Status SearchLoop::addVerified(uint64_t ticket, Artifact &artifact) {
  Result<BuildResult> result = rebuild(ticket, BuildOutput::Verified);
  if (!result)
    return result.error();
  if (result->disposition == Disposition::Passed)
    artifact.verifiedPath = result->artifact.path;
  return {};
}

/// Rung 6 for one variant. True: it is the winner.
Result<bool> SearchLoop::accept(uint64_t ticket) {
  const Trial &trial = grown->node(ticket).trial;
  AcceptanceRecord record;
  const Recording *recording = context.services.recording;
  const AcceptanceRecord *known =
      recording ? recording->acceptance(work.kernel.name, ticket) : nullptr;
  if (known && known->recipe == trial.recipe &&
      known->measurement.disposition != Disposition::HarnessFault) {
    record = *known;
    context.lap(0);
  } else {
    Result<Artifact> artifact = artifactOf(ticket);
    if (!artifact)
      return artifact.error();
    if (Status status = addVerified(ticket, *artifact); !status)
      return status.error();
    Result<Measurement> verdict = ladder->accept(*artifact, prepared->baseline);
    if (!verdict)
      return verdict.error();
    if (verdict->disposition == Disposition::NotRun) {
      outcomeValue.stop = StopReason::Interrupted;
      return false;
    }
    record.kernel = work.kernel.name;
    record.ticket = ticket;
    record.recipe = trial.recipe;
    record.measurement = std::move(*verdict);
    record.artifact = artifact->path;
    record.wallNs = context.lap(record.measurement.costNs);
  }
  Amounts spent;
  spent[Currency::Wall] = record.wallNs;
  spent[Currency::Device] = record.measurement.costNs;
  context.ledger.spendOnAcceptance(work.kernel.name, spent);
  bool accepted = record.measurement.disposition == Disposition::Passed;
  if (accepted) {
    outcomeValue.winner = candidate(ticket);
    outcomeValue.winner->measurement = record.measurement;
  }
  if (Status status =
          context.notify(accepted ? "accepted" : "rolled_back", toJson(record));
      !status)
    return status.error();
  return accepted;
}

Status SearchLoop::finish() {
  std::vector<uint64_t> candidates;
  if (incumbent != 0)
    candidates.push_back(incumbent);
  for (uint64_t ticket : elites.ranking()) {
    const std::optional<Ratio> &speedup =
        grown->node(ticket).trial.measurement.speedup;
    if (ticket != incumbent && speedup && speedup->low > 1)
      candidates.push_back(ticket);
  }
  size_t tried = 0;
  if (outcomeValue.stop == StopReason::Failed)
    candidates.clear();
  for (uint64_t ticket : candidates) {
    // The best is validated whatever it takes; the next ones if there is time.
    Amounts expected;
    expected[Currency::Wall] = 1;
    if (tried > 0 && (tried >= static_cast<size_t>(
                                   context.options.ladder.acceptCandidates) ||
                      !context.ledger.affordsAcceptance(expected)))
      break;
    ++tried;
    Result<bool> accepted = accept(ticket);
    if (!accepted) {
      outcomeValue.stop = StopReason::Failed;
      outcomeValue.message = accepted.error().message;
      (void)announceEnd(); // the first error is the one to tell
      return accepted.error();
    }
    if (*accepted || outcomeValue.stop == StopReason::Interrupted)
      break;
  }
  uint64_t winner = outcomeValue.winner ? outcomeValue.winner->ticket : 0;
  for (uint64_t ticket : candidates)
    if (ticket != winner && ticket != 0)
      outcomeValue.runnersUp.push_back(candidate(ticket));
  return announceEnd();
}

Status SearchLoop::announceEnd() {
  const KernelOutcome &outcome = outcomeValue;
  Json best, winner;
  if (outcome.best) {
    best = {{"ticket", outcome.best->ticket}};
    if (outcome.best->measurement.speedup)
      best["speedup"] = toJson(*outcome.best->measurement.speedup);
  }
  if (outcome.winner)
    winner = {{"ticket", outcome.winner->ticket},
              {"speedup", toJson(*outcome.winner->measurement.speedup)}};
  return context.notify(
      "kernel_finished",
      {{"kernel", outcome.kernel},
       {"stop", toString(outcome.stop)},
       {"message", outcome.message},
       {"trials", outcome.trials},
       {"dispositions", outcome.dispositions},
       {"cells", elites.cells().size()},
       {"best", std::move(best)},
       {"winner", std::move(winner)},
       {"baseline_ns", grown ? grown->node(0).trial.measurement.timeNs : 0},
       {"bound_ns", jsonNumber(outcome.boundNs)},
       {"spent", toJson(context.ledger.spent(outcome.kernel))}});
}

} // namespace kernelbrain::search
