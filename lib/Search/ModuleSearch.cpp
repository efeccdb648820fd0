//===- ModuleSearch.cpp - Several kernels on one budget -------------------===//

#include "kernelbrain/Search/ModuleSearch.h"

namespace kernelbrain::search {

/// True if any share is known; else all kernels count alike.
static bool sharesKnown(const std::vector<KernelTask> &tasks) {
  for (const KernelTask &task : tasks)
    if (task.kernel.share > 0)
      return true;
  return false;
}

static bool worthSearching(const KernelTask &task, bool known,
                           const SearchOptions &options) {
  return !known || task.kernel.share >= options.minimumShare;
}

ModuleSearch::ModuleSearch(std::vector<KernelTask> tasks,
                           const Services &services,
                           const SearchOptions &options, const Budget &budget,
                           Json info)
    : context(services, options, budget), info(std::move(info)) {
  bool known = sharesKnown(tasks);
  for (KernelTask &task : tasks) {
    bool search = worthSearching(task, known, options);
    if (!known)
      task.kernel.share = 1.0 / static_cast<double>(tasks.size());
    loops.push_back(
        std::make_unique<SearchLoop>(std::move(task), context, search));
  }
}

/// The kernel that has had the least for its weight, by recorded costs. The
/// first proposal brings most of the gain, so each kernel gets one before any
/// gets a second.
SearchLoop *ModuleSearch::next() const {
  // Keeps kernels without headroom and tickets without cost comparable.
  constexpr double leastWeight = 1e-6, ticketNs = 1e6;
  SearchLoop *best = nullptr;
  bool bestIsNew = false;
  double bestTurn = 0, bestWeight = 0;
  for (const std::unique_ptr<SearchLoop> &loop : loops) {
    if (loop->done())
      continue;
    double weight = std::max(leastWeight, loop->headroom());
    Amounts spent = context.ledger.spent(loop->outcome().kernel);
    double turn = (static_cast<double>(spent[Currency::Compile] +
                                       spent[Currency::Device]) +
                   ticketNs * static_cast<double>(loop->outcome().trials)) /
                  weight;
    bool isNew = loop->outcome().trials == 0;
    if (best &&
        (isNew != bestIsNew
             ? bestIsNew
             : turn > bestTurn || (turn == bestTurn && weight <= bestWeight)))
      continue;
    best = loop.get();
    bestIsNew = isNew;
    bestTurn = turn;
    bestWeight = weight;
  }
  return best;
}

Status ModuleSearch::runSearches() {
  for (const std::unique_ptr<SearchLoop> &loop : loops) {
    if (Status status = loop->start(); !status)
      return status;
    if (loop->done())
      if (Status status = loop->finish(); !status)
        return status;
  }
  while (SearchLoop *loop = next()) {
    if (Status status = loop->step(); !status)
      return status;
    if (!loop->done())
      continue;
    if (Status status = loop->finish(); !status)
      return status;
    StopReason reason = loop->outcome().stop;
    if (reason == StopReason::Interrupted ||
        (reason == StopReason::Budget && stop == StopReason::Running))
      stop = reason;
  }
  return {};
}

ModuleOutcome ModuleSearch::run() {
  ModuleOutcome outcome;
  Json started = info;
  started["options"] = toJson(context.options);
  started["budget"] = toJson(context.ledger.limits());
  Json names = Json::array();
  for (const std::unique_ptr<SearchLoop> &loop : loops)
    names.push_back(loop->outcome().kernel);
  started["kernels"] = std::move(names);
  Status status = context.notify("run_started", std::move(started));
  if (status)
    status = runSearches();
  if (!status) {
    stop = StopReason::Failed;
    outcome.error = status.error();
    // Says what was reached; an observer that fails again adds nothing.
    for (const std::unique_ptr<SearchLoop> &loop : loops)
      if (!loop->done()) {
        (void)loop->stop(StopReason::Failed, status.error().message);
        (void)loop->finish();
      }
  }
  outcome.stop = stop;
  outcome.spent = context.ledger.spent();
  outcome.setupNs = context.ledger.setupNs();
  int accepted = 0;
  for (const std::unique_ptr<SearchLoop> &loop : loops) {
    outcome.kernels.push_back(loop->outcome());
    accepted += loop->outcome().winner.has_value();
  }
  bool complete = stop != StopReason::Failed && stop != StopReason::Interrupted;
  Status last = context.notify(
      "run_finished",
      {{"stop", stop == StopReason::Running ? "finished" : toString(stop)},
       {"complete", complete},
       {"accepted", accepted},
       {"spent", toJson(outcome.spent)},
       {"setup_ns", outcome.setupNs},
       {"message", outcome.error ? outcome.error->message : ""}});
  if (!last && !outcome.error)
    outcome.error = last.error();
  return outcome;
}

Json estimateRun(const std::vector<KernelTask> &tasks,
                 const SearchOptions &options) {
  struct Row {
    double weight = 0;
    Json json;
  };
  std::vector<Row> rows;
  bool known = sharesKnown(tasks);
  double sum = 0;
  for (const KernelTask &task : tasks) {
    Row row;
    double estimate = 0, bound = 0, recipes = 0;
    Json strategies = Json::array();
    for (const SearchSpace &space : task.spaces) {
      strategies.push_back(space.strategy);
      recipes += static_cast<double>(space.size());
      Estimate each = task.cost ? task.cost(space.defaultRecipe()) : Estimate();
      if (each.timeNs > 0 && (estimate == 0 || each.timeNs < estimate))
        estimate = each.timeNs;
      if (each.boundNs > 0 && (bound == 0 || each.boundNs < bound))
        bound = each.boundNs;
    }
    bool searched =
        !task.spaces.empty() && worthSearching(task, known, options);
    row.weight = searched ? known ? task.kernel.share : 1 : 0;
    sum += row.weight;
    row.json = {{"kernel", task.kernel.name}, {"kind", task.kernel.kind},
                {"strategies", strategies},   {"recipes", recipes},
                {"share", task.kernel.share}, {"estimate_ns", estimate},
                {"bound_ns", bound},          {"searched", searched}};
    rows.push_back(std::move(row));
  }
  std::sort(rows.begin(), rows.end(), [](const Row &a, const Row &b) {
    return a.weight != b.weight ? a.weight > b.weight
                                : a.json["kernel"] < b.json["kernel"];
  });
  Json result = Json::array();
  for (Row &row : rows) {
    row.json["weight"] = sum > 0 ? row.weight / sum : 0;
    result.push_back(std::move(row.json));
  }
  return result;
}

} // namespace kernelbrain::search
