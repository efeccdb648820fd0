//===- RunRecord.cpp - A run as its events tell it ------------------------===//

#include "kernelbrain/Report/RunRecord.h"

#include "Format.h"

#include "kernelbrain/Search/PrintTree.h"
#include "kernelbrain/Search/SearchOptions.h"

using namespace kernelbrain;
using namespace kernelbrain::report;

const TrialRecord *KernelRecord::find(uint64_t ticket) const {
  auto trial = trials.find(ticket);
  return trial == trials.end() ? nullptr : &trial->second;
}

std::optional<Ratio> KernelRecord::best() const {
  if (accepted && acceptance.speedup)
    return acceptance.speedup;
  const TrialRecord *trial = find(incumbent);
  return trial ? trial->measurement.speedup : std::nullopt;
}

static bool isVariant(const TrialRecord &trial) {
  switch (trial.measurement.disposition) {
  case Disposition::Duplicate:
  case Disposition::NotRun:
  case Disposition::HarnessFault:
    return false;
  default:
    return true;
  }
}

size_t KernelRecord::variants() const {
  if (fromDatabase)
    return 0;
  return size_t(
      std::count_if(trials.begin(), trials.end(),
                    [](const auto &trial) { return isVariant(trial.second); }));
}

std::map<std::string, int> KernelRecord::dispositions() const {
  std::map<std::string, int> counts;
  for (const auto &trial : trials)
    if (!fromDatabase)
      ++counts[toString(trial.second.measurement.disposition)];
  return counts;
}

bool KernelRecord::improved() const {
  return winner() && acceptance.speedup &&
         acceptance.speedup->low > 1 + search::LadderOptions().margin;
}

/// The value of the largest count; of equal ones the first.
template <typename Key> static Key mostOften(const std::map<Key, int> &counts) {
  return std::max_element(
             counts.begin(), counts.end(),
             [](const auto &a, const auto &b) { return a.second < b.second; })
      ->first;
}

/// How most of the variants ended, and the most frequent reason for that.
static std::string commonestEnd(const KernelRecord &record) {
  std::map<Disposition, int> ends;
  for (const auto &trial : record.trials)
    if (isVariant(trial.second))
      ++ends[trial.second.measurement.disposition];
  Disposition end = mostOften(ends);
  std::map<std::string, int> reasons;
  for (const auto &trial : record.trials)
    if (trial.second.measurement.disposition == end)
      ++reasons[trial.second.measurement.reason];
  std::string reason = mostOften(reasons);
  return std::to_string(ends[end]) + " " + toString(end) +
         (reason.empty() ? "" : ": " + reason);
}

std::string KernelRecord::stockReason() const {
  if (!rolledBack.empty())
    return "rolled back, " + rolledBack.back();
  std::string reason = stopText(stop, message);
  if (variants()) {
    std::string text = "none of " + countText(variants(), "variant") +
                       " was accepted as faster (" + commonestEnd(*this) + ")";
    return reason.empty() ? text : text + "; " + reason;
  }
  return reason.empty() ? "the run ended before its search" : reason;
}

std::array<int, rungCount> KernelRecord::byRung() const {
  std::array<int, rungCount> counts{};
  for (const auto &trial : trials)
    if (isVariant(trial.second))
      ++counts[std::clamp(trial.second.measurement.rung, 0, rungCount - 1)];
  return counts;
}

std::string KernelRecord::changes(const TrialRecord &trial) const {
  auto otherwise = defaults.find(trial.recipe.strategy);
  if (otherwise != defaults.end()) {
    const Recipe &base = otherwise->second;
    bool same = base.knobs == trial.recipe.knobs &&
                base.payload == trial.recipe.payload;
    return trial.recipe.strategy + ": " +
           (same ? "all knobs at their defaults"
                 : search::describeChange(base, trial.recipe));
  }
  if (!trial.rationale.empty())
    return trial.rationale;
  return search::describeChange(baselineRecipe, trial.recipe);
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

static Measurement measurementOf(const Json &data) {
  if (Result<Json> json = getObject(data, "measurement"))
    if (Result<Measurement> measurement = measurementFromJson(*json))
      return std::move(*measurement);
  return {};
}

static Recipe recipeOf(const Json &data) {
  if (Result<Json> json = getObject(data, "recipe"))
    if (Result<Recipe> recipe = recipeFromJson(*json))
      return std::move(*recipe);
  return {};
}

/// "stock-fused" and "stock-unfused" of the reserved strategy, else its name.
static std::string baselineNameOf(const Recipe &recipe) {
  auto fuse = recipe.knobs.find("fuse");
  if (fuse == recipe.knobs.end())
    return recipe.strategy;
  bool fused = fuse->second == KnobValue(int64_t(1));
  return recipe.strategy + (fused ? "-fused" : "-unfused");
}

static void readStart(const Json &data, KernelRecord &record) {
  record.kind = getStringOr(data, "kind", "");
  record.share = getNumberOr(data, "share", 0);
  record.boundNs = getNumberOr(data, "bound_ns", 0);
  if (Result<Json> strategies = getArray(data, "strategies"))
    for (const Json &strategy : *strategies)
      if (Result<Json> json = getObject(strategy, "default"))
        if (Result<Recipe> recipe = recipeFromJson(*json))
          record.defaults[recipe->strategy] = std::move(*recipe);
}

static void readBaseline(const Json &data, KernelRecord &record) {
  std::string skipped = getStringOr(data, "skipped", "");
  if (!skipped.empty()) {
    record.stop = "skipped";
    record.message = skipped;
    return;
  }
  record.baselineRecipe = recipeOf(data);
  record.baselineName = baselineNameOf(record.baselineRecipe);
  record.baselineNs = measurementOf(data).timeNs;
}

static void readTrial(const Json &data, KernelRecord &record) {
  TrialRecord trial;
  trial.ticket = uint64_t(getIntegerOr(data, "ticket", 0));
  trial.parent = uint64_t(getIntegerOr(data, "parent", 0));
  trial.step = getStringOr(data, "step", "");
  trial.proposer = getStringOr(data, "proposer", "");
  trial.rationale = getStringOr(data, "rationale", "");
  trial.fallback = getStringOr(data, "fallback", "");
  trial.recipe = recipeOf(data);
  trial.measurement = measurementOf(data);
  if (Result<Json> costs = getObject(data, "costs")) {
    trial.wallNs = getIntegerOr(*costs, "wall_ns", 0);
    trial.tokens = getIntegerOr(*costs, "tokens", 0);
    trial.microMoney = getIntegerOr(*costs, "micro_money", 0);
  }
  if (trial.ticket)
    record.trials[trial.ticket] = std::move(trial);
}

static void readRollback(const Json &data, KernelRecord &record) {
  uint64_t ticket = uint64_t(getIntegerOr(data, "ticket", 0));
  std::string reason = getStringOr(data, "reason", measurementOf(data).reason);
  record.rolledBack.push_back("variant " + std::to_string(ticket) + ": " +
                              (reason.empty() ? "no reason given" : reason));
  if (record.accepted == ticket || record.fromDatabase)
    record.accepted = 0;
}

static void readEnd(const Json &data, KernelRecord &record) {
  record.finished = true;
  record.stop = getStringOr(data, "stop", "");
  std::string message = getStringOr(data, "message", "");
  if (!message.empty())
    record.message = std::move(message);
}

KernelRecord *RunRecord::kernelOf(const Json &data) {
  auto known = byName.find(getStringOr(data, "kernel", ""));
  return known == byName.end() ? nullptr : &all[known->second];
}

/// Events of the whole run. False: it is not one.
bool RunRecord::notifyRun(const search::Event &event) {
  const Json &data = event.data;
  if (event.type == "run_started") {
    moduleName = getStringOr(data, "module", "");
    if (Result<Json> limits = getObject(data, "budget"))
      budget = std::move(*limits);
    isFinished = false;
  } else if (event.type == "run_finished") {
    isFinished = true;
    endReason = "";
    std::string stop = getStringOr(data, "stop", "");
    if (Result<Json> spent = getObject(data, "spent"))
      expenses = std::move(*spent);
    if (stop != "finished")
      endReason = stopText(stop, getStringOr(data, "message", ""));
  } else if (event.type == "warning") {
    texts.push_back(getStringOr(data, "message", ""));
  } else {
    return false;
  }
  return true;
}

Status RunRecord::notify(const search::Event &event) {
  if (notifyRun(event))
    return {};
  const Json &data = event.data;
  if (event.type == "kernel_started") {
    readStart(data, recordOf(getStringOr(data, "kernel", "")));
    return {};
  }
  KernelRecord *record = kernelOf(data);
  if (!record)
    return {};
  if (event.type == "baseline") {
    readBaseline(data, *record);
  } else if (event.type == "trial") {
    readTrial(data, *record);
  } else if (event.type == "incumbent") {
    record->incumbent = uint64_t(getIntegerOr(data, "ticket", 0));
  } else if (event.type == "kernel_finished") {
    readEnd(data, *record);
  } else if (event.type == "accepted") {
    record->accepted = uint64_t(getIntegerOr(data, "ticket", 0));
    record->acceptance = measurementOf(data);
  } else if (event.type == "rolled_back") {
    readRollback(data, *record);
  }
  return {};
}

KernelRecord &RunRecord::recordOf(const std::string &name) {
  auto [known, isNew] = byName.emplace(name, all.size());
  if (isNew)
    all.emplace_back().name = name;
  return all[known->second];
}

void RunRecord::addStock(const Kernel &kernel, const std::string &reason) {
  KernelRecord &record = recordOf(kernel.name);
  record.kind = kernel.kind;
  record.share = kernel.share;
  record.finished = true;
  record.stop = "skipped";
  record.message = reason;
}

void RunRecord::addKnown(const Kernel &kernel,
                         const std::vector<SearchSpace> &spaces,
                         const Recipe &recipe, const Measurement &measurement,
                         int64_t baselineNs) {
  KernelRecord &record = recordOf(kernel.name);
  record.kind = kernel.kind;
  record.share = kernel.share;
  for (const SearchSpace &space : spaces)
    record.defaults[space.strategy] = space.defaultRecipe();
  record.baselineNs = baselineNs;
  record.finished = record.fromDatabase = true;
  record.accepted = 1;
  record.acceptance = measurement;
  TrialRecord &trial = record.trials[1];
  trial.ticket = 1;
  trial.recipe = recipe;
  trial.measurement = measurement;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

const KernelRecord *RunRecord::find(const std::string &name) const {
  auto known = byName.find(name);
  return known == byName.end() ? nullptr : &all[known->second];
}

size_t RunRecord::variants() const {
  size_t count = 0;
  for (const KernelRecord &record : all)
    count += record.variants();
  return count;
}

int64_t RunRecord::wallNs() const {
  int64_t sum = 0;
  for (const KernelRecord &record : all)
    for (const auto &trial : record.trials)
      sum += trial.second.wallNs;
  return sum;
}

std::optional<int64_t> RunRecord::limit(const std::string &currency) const {
  int64_t amount = getIntegerOr(budget, currency, 0);
  return amount > 0 ? std::optional<int64_t>(amount) : std::nullopt;
}
