//===- Trial.h - What became of one ticket ----------------------*- C++ -*-===//
//
// A trial is the whole outcome of one ticket. It is the data of the `trial`
// event, and what a resumed run reads back instead of building and evaluating.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_SEARCH_TRIAL_H
#define KERNELBRAIN_SEARCH_TRIAL_H

#include "kernelbrain/Search/Interfaces.h"

#include <map>
#include <utility>

namespace kernelbrain::search {

/// What a ticket cost, by stage.
struct TrialCosts {
  int64_t staticNs = 0, buildNs = 0;            ///< rungs 0 and 1
  int64_t checkNs = 0, quickNs = 0, fullNs = 0; ///< rungs 2, 3 and 4
  int64_t profileNs = 0;                        ///< rung 5
  int64_t wallNs = 0; ///< elapsed time of the run that this ticket took
  int64_t tokens = 0, microMoney = 0;

  int64_t compileNs() const { return staticNs + buildNs; }
  int64_t deviceNs() const { return checkNs + quickNs + fullNs + profileNs; }
};

struct Trial {
  std::string kernel;
  uint64_t ticket = 0; ///< from 1 a kernel; 0 is the baseline
  uint64_t parent = 0;
  StepKind step = StepKind::Seed;
  std::string proposer, rationale;
  std::string fallback; ///< why it is not the answer of the model asked
  Recipe recipe;
  Measurement measurement; ///< the speedup is over the baseline
  bool incumbent = false;  ///< it beat the best so far
  std::string cell;        ///< empty if it was never built
  Json features = Json::object();
  std::string irHash, codeHash, artifact; ///< artifact: path, may be gone
  uint64_t duplicateOf = 0;               ///< for Disposition::Duplicate
  std::vector<std::string> inertKnobs;    ///< that differ from duplicateOf
  /// Of the harness and of the model's service, before this outcome.
  std::vector<std::string> faults;
  TrialCosts costs;
};

Json toJson(const Trial &trial);
Result<Trial> trialFromJson(const Json &json);

/// A baseline, as the `baseline` event has it.
struct BaselineRecord {
  std::string kernel;
  Recipe recipe;
  Measurement measurement;
  std::string artifact;
  int64_t setupNs = 0;
  std::string skipped; ///< why the kernel is left alone; else empty
};

Json toJson(const BaselineRecord &record);
Result<BaselineRecord> baselineFromJson(const Json &json);

/// The verdict of rung 6, as the `accepted` and `rolled_back` events have it.
struct AcceptanceRecord {
  std::string kernel;
  uint64_t ticket = 0;
  Recipe recipe;
  Measurement measurement; ///< Passed: accepted
  std::string artifact;
  int64_t wallNs = 0;
};

Json toJson(const AcceptanceRecord &record);
Result<AcceptanceRecord> acceptanceFromJson(const Json &json);

/// The events of an earlier run that a resumed one need not live through again.
/// Of several trials of one kernel and ticket the last counts; one that was not
/// run is forgotten.
class Recording {
public:
  /// Takes one event of a journal, in order. The error says what is wrong with
  /// the event's data; events of other types are ignored.
  Status add(const Event &event);

  const BaselineRecord *baseline(const std::string &kernel) const;
  /// Only if it is of `recipe`.
  const Trial *trial(const std::string &kernel, uint64_t ticket,
                     const Recipe &recipe) const;
  const AcceptanceRecord *acceptance(const std::string &kernel,
                                     uint64_t ticket) const;
  size_t trials() const { return byTicket.size(); }

private:
  using Key = std::pair<std::string, uint64_t>;
  std::map<std::string, BaselineRecord> baselines;
  std::map<Key, Trial> byTicket;
  std::map<Key, AcceptanceRecord> acceptances;
};

} // namespace kernelbrain::search

#endif // KERNELBRAIN_SEARCH_TRIAL_H
