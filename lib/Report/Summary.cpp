//===- Summary.cpp - What a run came to -----------------------------------===//

#include "kernelbrain/Report/Summary.h"

#include "Format.h"
#include "Proposers.h"

using namespace kernelbrain;
using namespace kernelbrain::report;

/// The most important kernels first; equal ones as they were announced.
static std::vector<const KernelRecord *> byShare(const RunRecord &run) {
  std::vector<const KernelRecord *> kernels;
  for (const KernelRecord &record : run.kernels())
    kernels.push_back(&record);
  std::sort(kernels.begin(), kernels.end(),
            [](const KernelRecord *a, const KernelRecord *b) {
              if (a->share != b->share)
                return a->share > b->share;
              return a < b; // both point into one vector
            });
  return kernels;
}

double report::estimatedSpeedup(const RunRecord &run) {
  double time = 1;
  for (const KernelRecord &record : run.kernels())
    if (record.improved())
      time -= record.share * (1 - 1 / record.acceptance.speedup->middle);
  return time > 0 ? 1 / time : 1;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// A winner within the margin counts as no improvement, whatever its middle
/// says.
static std::string speedupText(const KernelRecord &record) {
  if (!record.acceptance.speedup)
    return "-";
  std::string text = ratioText(*record.acceptance.speedup);
  return record.improved() ? text : "slight" + text.substr(text.find(" ["));
}

static std::string winnerTable(const std::vector<const KernelRecord *> &kernels,
                               size_t width) {
  Table table({{"kernel", false, 8},
               {"class", false, 8},
               {"baseline", true},
               {"winner", true},
               {"speedup", false},
               {"share", true}});
  for (const KernelRecord *record : kernels) {
    const Measurement &acceptance = record->acceptance;
    table.add({record->name, record->kind, timeText(record->baselineNs),
               timeText(acceptance.timeNs), speedupText(*record),
               percentText(record->share)},
              record->changes(*record->winner()) +
                  (record->fromDatabase ? " (known from the database)" : ""));
  }
  return table.render(width);
}

/// Kernels with the same reason share a paragraph: there may be hundreds.
static std::string stockNotes(const std::vector<const KernelRecord *> &kernels,
                              size_t width) {
  constexpr size_t namedAtMost = 8;
  std::vector<std::string> order;
  std::map<std::string, std::vector<const KernelRecord *>> groups;
  for (const KernelRecord *record : kernels) {
    std::string reason = record->stockReason();
    std::vector<const KernelRecord *> &group = groups[reason];
    if (group.empty())
      order.push_back(reason);
    group.push_back(record);
  }
  std::string out;
  for (const std::string &reason : order) {
    const std::vector<const KernelRecord *> &group = groups[reason];
    std::string text;
    for (size_t i = 0; i < std::min(group.size(), namedAtMost); ++i)
      text += (i ? ", " : "") + group[i]->name;
    if (group.size() > namedAtMost)
      text += " and " + std::to_string(group.size() - namedAtMost) + " more";
    out += wrapText(plainText(text + ": " + reason), 2, width);
  }
  return out;
}

static std::string totals(const RunRecord &run, size_t width) {
  size_t improved = 0;
  for (const KernelRecord &record : run.kernels())
    improved += record.improved();
  std::string text = std::to_string(improved) + " of " +
                     countText(run.kernels().size(), "kernel") + " improved";
  if (improved)
    text += "; estimated speedup of the program " +
            factorText(estimatedSpeedup(run));
  std::string out = wrapText(text, 0, width);
  if (run.variants()) {
    std::map<std::string, int> counts;
    for (const KernelRecord &record : run.kernels())
      for (const auto &[name, count] : record.dispositions())
        counts[name] += count;
    text = countText(run.variants(), "variant") + " in " +
           timeText(double(run.wallNs())) + ":";
    for (const auto &[name, count] : counts)
      text += (text.back() == ':' ? " " : ", ") + std::to_string(count) + " " +
              name;
    out += wrapText(text, 0, width);
  }
  if (!run.stop().empty())
    out += wrapText("stopped: " + plainText(run.stop()), 0, width);
  return out;
}

std::string report::summaryText(const RunRecord &run, size_t width) {
  std::vector<const KernelRecord *> winners, stock;
  for (const KernelRecord *record : byShare(run))
    (record->winner() ? winners : stock).push_back(record);
  std::string out;
  if (!winners.empty())
    out += winnerTable(winners, width) + "\n";
  if (!stock.empty())
    out += "left stock:\n" + stockNotes(stock, width) + "\n";
  if (std::string proposers = proposersText(run, width); !proposers.empty())
    out += proposers + "\n";
  return out + totals(run, width);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static Json kernelJson(const KernelRecord &record) {
  Json json = {
      {"name", record.name},
      {"class", record.kind},
      {"share", record.share},
      {"baseline",
       {{"name", record.baselineName}, {"time_ns", record.baselineNs}}},
      {"variants", record.variants()},
      {"dispositions", record.dispositions()},
      {"improved", record.improved()},
      {"from_database", record.fromDatabase},
      {"rolled_back", record.rolledBack},
      {"winner", nullptr},
      {"left_stock", nullptr},
      {"changed", nullptr}};
  const TrialRecord *winner = record.winner();
  if (!winner) {
    json["left_stock"] = record.stockReason();
    return json;
  }
  json["winner"] = {{"ticket", winner->ticket},
                    {"recipe", toJson(winner->recipe)},
                    {"measurement", toJson(record.acceptance)}};
  json["changed"] = record.changes(*winner);
  return json;
}

Json report::summaryJson(const RunRecord &run) {
  Json kernels = Json::array();
  for (const KernelRecord *record : byShare(run))
    kernels.push_back(kernelJson(*record));
  Json json = proposersJson(run);
  json["module"] = run.module();
  json["stop"] = run.stop();
  json["variants"] = run.variants();
  json["wall_ns"] = run.wallNs();
  json["estimated_speedup"] = estimatedSpeedup(run);
  json["kernels"] = std::move(kernels);
  json["warnings"] = run.warnings();
  return json;
}
