//===- SearchLoop.cpp - The search of one kernel --------------------------===//

#include "kernelbrain/Search/SearchLoop.h"

#include "kernelbrain/Support/Hash.h"

namespace kernelbrain::search {

//===----------------------------------------------------------------------===//
// Beginning
//===----------------------------------------------------------------------===//

SearchLoop::SearchLoop(KernelTask task, SearchContext &context, bool search)
    : work(std::move(task)), context(context), search(search),
      kernelKey(contentHash64(work.kernel.hash)),
      policy(context.options.policy) {
  outcomeValue.kernel = work.kernel.name;
  for (const SearchSpace &space : work.spaces) {
    double bound = work.cost ? work.cost(space.defaultRecipe()).boundNs : 0;
    if (bound > 0 && (modelBoundNs == 0 || bound < modelBoundNs))
      modelBoundNs = bound;
  }
  outcomeValue.boundNs = modelBoundNs;
  for (const Recipe &recipe : work.seeds) {
    Proposal proposal;
    proposal.recipe = recipe;
    proposal.proposer = "database";
    proposal.rationale = "recorded by an earlier run";
    queued.push_back(std::move(proposal));
  }
}

Status SearchLoop::start() {
  Json strategies = Json::array();
  for (const SearchSpace &space : work.spaces)
    strategies.push_back({{"name", space.strategy},
                          {"recipes", space.size()},
                          {"default", toJson(space.defaultRecipe())}});
  Status status = context.notify("kernel_started",
                                 {{"kernel", work.kernel.name},
                                  {"hash", work.kernel.hash},
                                  {"kind", work.kernel.kind},
                                  {"share", jsonNumber(work.kernel.share)},
                                  {"strategies", std::move(strategies)},
                                  {"bound_ns", jsonNumber(modelBoundNs)},
                                  {"searched", search}});
  if (work.spaces.empty())
    outcomeValue.stop = StopReason::NoStrategy;
  return status;
}

Status SearchLoop::prepare() {
  if (prepared)
    return {};
  Result<Preparation> result = context.services.workbench->prepare(work.kernel);
  if (!result)
    return result.error().withContext("cannot prepare kernel '" +
                                      work.kernel.name + "'");
  prepared = std::move(*result);
  if (prepared->evaluator)
    ladder.emplace(*prepared->evaluator, context.builds,
                   context.options.ladder);
  // Setup has a currency of its own.
  context.lap(0);
  return {};
}

/// Measures the baseline, or takes it from the earlier run: its time is the
/// yardstick of every reward, so a resumed run must not measure it anew.
Status SearchLoop::begin() {
  BaselineRecord record;
  const Recording *recording = context.services.recording;
  if (const BaselineRecord *known =
          recording ? recording->baseline(work.kernel.name) : nullptr) {
    record = *known;
  } else {
    if (Status status = prepare(); !status)
      return status;
    record.kernel = work.kernel.name;
    record.recipe = prepared->baselineRecipe;
    record.measurement = prepared->measurement;
    record.artifact = prepared->baseline.path;
    record.setupNs = prepared->setupNs;
    record.skipped = prepared->skipped;
    if (record.skipped.empty() && (record.measurement.timeNs <= 0 || !ladder))
      record.skipped = "the baseline could not be timed";
  }
  context.ledger.spendOnSetup(record.setupNs);
  Status status = context.notify("baseline", toJson(record));
  if (!record.skipped.empty())
    return status ? stop(StopReason::Skipped, record.skipped) : status;
  Trial root;
  root.kernel = work.kernel.name;
  root.recipe = record.recipe;
  root.measurement = record.measurement;
  root.measurement.speedup = Ratio{1, 1, 1};
  root.artifact = record.artifact;
  grown.emplace(root, modelBoundNs, context.options.policy);
  seen.insert(record.recipe.hash());
  outcomeValue.baseline = candidate(0);
  return status;
}

//===----------------------------------------------------------------------===//
// One ticket
//===----------------------------------------------------------------------===//

Status SearchLoop::step() {
  if (context.interrupted())
    return stop(StopReason::Interrupted, "");
  if (!grown) {
    // A kernel that gets no ticket needs no baseline, which takes its time.
    if (!reserve(0))
      return stop(blocked, blockedMessage);
    context.ledger.settle(work.kernel.name, 0, Amounts());
    Status status = begin();
    if (!status && context.interrupted())
      return stop(StopReason::Interrupted, "");
    if (!status || done())
      return status;
  }
  if (Status status = propose(); !status)
    return status;
  if (flights.empty())
    return stop(blocked, blockedMessage);
  if (Status status = submitBuilds(); !status)
    return status;
  if (Status status = evaluate(flights.front()); !status)
    return status;
  Trial trial = std::move(flights.front().trial);
  bool live = !flights.front().recorded;
  flights.pop_front();
  int64_t wall = context.lap(trial.costs.compileNs() + trial.costs.deviceNs());
  if (live)
    trial.costs.wallNs = wall;
  if (Status status = apply(trial); !status)
    return status;
  checkStopRules(trial.ticket);
  return done() ? stop(outcomeValue.stop, outcomeValue.message) : Status();
}

/// Not before all that is known from an earlier run has been applied: that may
/// have been the end.
Status SearchLoop::submitBuilds() {
  if (flights.front().recorded)
    return {};
  for (Flight &flight : flights) {
    if (!flight.wantsBuild || flight.build)
      continue;
    // The builder knows a kernel from its preparation on.
    if (Status status = prepare(); !status)
      return status;
    Result<uint64_t> build =
        context.builds.submit(work.kernel.name, flight.trial.recipe);
    if (!build)
      return build.error();
    flight.build = *build;
  }
  return {};
}

Status SearchLoop::evaluate(Flight &flight) {
  Trial &trial = flight.trial;
  if (flight.recorded) {
    const Trial &known = *flight.recorded;
    trial.measurement = known.measurement;
    trial.incumbent = known.incumbent;
    trial.cell = known.cell;
    trial.features = known.features;
    trial.irHash = known.irHash;
    trial.codeHash = known.codeHash;
    trial.artifact = known.artifact;
    trial.duplicateOf = known.duplicateOf;
    trial.inertKnobs = known.inertKnobs;
    trial.faults = known.faults;
    trial.fallback = known.fallback;
    trial.costs = known.costs;
    if (trial.duplicateOf) // in this tree
      mergeDuplicate(trial);
    return {};
  }
  if (flight.build == 0)
    return {};
  Result<BuildResult> built = context.builds.wait(flight.build, trial.faults);
  if (!built)
    return built.error();
  return evaluateBuilt(trial, *built);
}

Status SearchLoop::evaluateBuilt(Trial &trial, const BuildResult &built) {
  trial.costs.staticNs = built.staticNs;
  trial.costs.buildNs = built.buildNs;
  if (context.options.modelledBuildNs) {
    trial.costs.staticNs = 0;
    trial.costs.buildNs = *context.options.modelledBuildNs;
  }
  trial.measurement.disposition = built.disposition;
  trial.measurement.reason = built.reason;
  if (built.disposition != Disposition::Passed) {
    bool coded = built.disposition == Disposition::BuildFailed ||
                 built.disposition == Disposition::Crashed ||
                 built.disposition == Disposition::TimedOut;
    trial.measurement.rung = coded ? 1 : 0;
    return {};
  }
  const Manifest &manifest = built.artifact.manifest;
  trial.measurement.rung = 1;
  trial.irHash = manifest.irHash;
  trial.codeHash = manifest.codeHash;
  trial.artifact = built.artifact.path;
  trial.features = manifest.features;
  trial.cell = elites.cellOf(trial.features);
  mergeDuplicate(trial);
  if (trial.duplicateOf)
    return {};
  Rivals rivals;
  if (search) {
    Result<Artifact> rival = artifactOf(incumbent);
    if (!rival)
      return rival.error();
    rivals.incumbent = std::move(*rival);
    rivals.incumbentSpeedup = incumbentSpeedup();
    rivals.cellElite = elites.elite(trial.cell);
  }
  artifacts[trial.ticket] = built.artifact;
  return ladder->climb(built.artifact, rivals, /*timed=*/search, trial);
}

void SearchLoop::mergeDuplicate(Trial &trial) const {
  auto find = [&](const std::string &hash, const std::string &key) -> uint64_t {
    auto it = hash.empty() ? firstWithCode.end() : firstWithCode.find(key);
    return it == firstWithCode.end() ? 0 : it->second;
  };
  uint64_t first = find(trial.codeHash, codeKey(trial));
  if (!first)
    first = find(trial.irHash, irKey(trial));
  if (!first)
    return;
  trial.duplicateOf = first;
  trial.inertKnobs.clear();
  trial.measurement.disposition = Disposition::Duplicate;
  trial.measurement.reason = "the same code as ticket " + std::to_string(first);
  const Recipe &other = grown->node(first).trial.recipe;
  if (other.strategy != trial.recipe.strategy ||
      other.payload != trial.recipe.payload)
    return;
  for (const auto &[name, value] : trial.recipe.knobs) {
    auto it = other.knobs.find(name);
    if (it == other.knobs.end() || it->second != value)
      trial.inertKnobs.push_back(name);
  }
}

} // namespace kernelbrain::search
