//===- RunRecord.h - A run as its events tell it ----------------*- C++ -*-===//
//
// Everything that is shown of a run is made from this. It is built from events
// only, so that a live run, a resumed one and a journal read later look alike.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_REPORT_RUNRECORD_H
#define KERNELBRAIN_REPORT_RUNRECORD_H

#include "kernelbrain/Search/Interfaces.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kernelbrain::report {

/// Rungs of the ladder, 0 to 6 (docs/Search.md).
constexpr int rungCount = 7;

struct TrialRecord {
  uint64_t ticket = 0, parent = 0;
  std::string step, proposer, rationale;
  std::string fallback; ///< why it is not the answer of the model asked
  Recipe recipe;
  Measurement measurement;
  int64_t wallNs = 0, tokens = 0, microMoney = 0;
};

struct KernelRecord {
  std::string name, kind;                 ///< symbol and class
  double share = 0;                       ///< of the program's time, [0, 1]
  std::map<std::string, Recipe> defaults; ///< by strategy
  double boundNs = 0;
  std::string baselineName; ///< empty: not measured yet
  Recipe baselineRecipe;
  int64_t baselineNs = 0;
  std::map<uint64_t, TrialRecord> trials; ///< by ticket
  uint64_t incumbent = 0;                 ///< 0: the baseline
  bool finished = false;
  std::string stop;      ///< why the search ended: a search::StopReason by name
  std::string message;   ///< details of that
  uint64_t accepted = 0; ///< the winner's ticket; 0: none
  Measurement acceptance;
  std::vector<std::string> rolledBack; ///< "variant 7: <reason>"
  bool fromDatabase = false;           ///< the winner was known before the run

  const TrialRecord *find(uint64_t ticket) const;
  /// The trial that was accepted and not rolled back.
  const TrialRecord *winner() const { return find(accepted); }
  /// True if the winner is faster by more than the margin that a variant needs
  /// to replace another one.
  bool improved() const;
  /// Why a kernel without a winner keeps the stock lowering, as a clause.
  std::string stockReason() const;
  /// Number of trials by the name of their disposition.
  std::map<std::string, int> dispositions() const;
  /// Best speedup over the baseline so far, accepted or not.
  std::optional<Ratio> best() const;
  /// Trials that count as variants: no duplicates, not what was never run or
  /// what our own harness spoiled.
  size_t variants() const;
  /// Number of variants by the highest rung that they reached.
  std::array<int, rungCount> byRung() const;
  /// What the recipe of `ticket` changes against the default of its strategy,
  /// or its rationale where nothing tells.
  std::string changes(const TrialRecord &trial) const;
};

/// Observes a run. Events that it cannot read are left out; it never fails.
class RunRecord : public search::Observer {
public:
  Status notify(const search::Event &event) override;
  /// Adds a kernel that is not searched, of which events do not tell: with the
  /// reason that it stays stock, or with its winner of the database.
  void addStock(const Kernel &kernel, const std::string &reason);
  void addKnown(const Kernel &kernel, const std::vector<SearchSpace> &spaces,
                const Recipe &recipe, const Measurement &measurement,
                int64_t baselineNs);

  const std::string &module() const { return moduleName; }
  /// In the order in which they were announced.
  const std::vector<KernelRecord> &kernels() const { return all; }
  const KernelRecord *find(const std::string &name) const;
  const std::vector<std::string> &warnings() const { return texts; }
  bool finished() const { return isFinished; }
  /// Why the run ended, for people; empty if it came to its own end.
  const std::string &stop() const { return endReason; }
  size_t variants() const;
  /// Elapsed time that the trials account for.
  int64_t wallNs() const;
  /// What the run says it spent of a currency, by its name; 0 before its end.
  int64_t spent(const std::string &currency) const {
    return getIntegerOr(expenses, currency, 0);
  }
  /// A limit of the budget by its currency's name ("wall_ns", "variants");
  /// std::nullopt: not limited.
  std::optional<int64_t> limit(const std::string &currency) const;

private:
  bool notifyRun(const search::Event &event);
  KernelRecord *kernelOf(const Json &data);
  KernelRecord &recordOf(const std::string &name);

  std::string moduleName;
  Json budget = Json::object(), expenses = Json::object();
  std::vector<KernelRecord> all;
  std::map<std::string, size_t> byName;
  std::vector<std::string> texts;
  bool isFinished = false;
  std::string endReason;
};

} // namespace kernelbrain::report

#endif // KERNELBRAIN_REPORT_RUNRECORD_H
