//===- Events.h - A run for tests -------------------------------*- C++ -*-===//

#ifndef KERNELBRAIN_UNITTESTS_REPORT_EVENTS_H
#define KERNELBRAIN_UNITTESTS_REPORT_EVENTS_H

#include "kernelbrain/Report/RunRecord.h"
#include "kernelbrain/Search/Trial.h"

namespace kernelbrain::report {

inline Recipe rows(int64_t unroll, int64_t vector) {
  Recipe recipe;
  recipe.strategy = "row-reduction";
  recipe.strategyHash = "v1";
  recipe.knobs = {{"unroll", unroll}, {"vector", vector}};
  return recipe;
}

inline search::Event startRun(Json budget = Json::object()) {
  return {"run_started",
          Json{{"module", "softmax.mlir"}, {"budget", std::move(budget)}}};
}

inline search::Event startKernel(const std::string &name, double share) {
  return {"kernel_started",
          Json{{"kernel", name},
               {"kind", "row-reduction"},
               {"share", share},
               {"bound_ns", 4000.0},
               {"strategies",
                Json::array({Json{{"name", "row-reduction"},
                                  {"recipes", 12},
                                  {"default", toJson(rows(2, 8))}}})}}};
}

inline search::Event baseline(const std::string &name) {
  search::BaselineRecord record;
  record.kernel = name;
  record.recipe.strategy = "stock";
  record.recipe.knobs = {{"fuse", int64_t(1)}};
  record.measurement.timeNs = 12300;
  return {"baseline", toJson(record)};
}

/// A trial; with a speedup it was timed in full and is correct.
inline search::Event trial(const std::string &name, uint64_t ticket,
                           uint64_t parent, const Recipe &recipe,
                           double speedup,
                           Disposition disposition = Disposition::Passed,
                           int rung = 4) {
  search::Trial trial;
  trial.kernel = name;
  trial.ticket = ticket;
  trial.parent = parent;
  trial.step = parent ? search::StepKind::Small : search::StepKind::Seed;
  trial.proposer = "builtin";
  trial.rationale = "because";
  trial.recipe = recipe;
  trial.measurement.disposition = disposition;
  trial.measurement.rung = rung;
  if (speedup > 0) {
    trial.measurement.speedup = Ratio{speedup - 0.05, speedup, speedup + 0.05};
    trial.measurement.timeNs = int64_t(12300 / speedup);
  }
  trial.costs.wallNs = 250000000;
  return {"trial", toJson(trial)};
}

inline search::Event incumbent(const std::string &name, uint64_t ticket) {
  return {"incumbent", Json{{"kernel", name}, {"ticket", ticket}}};
}

/// The verdict of rung 6.
inline search::Event verdict(const std::string &name, uint64_t ticket,
                             double speedup, const std::string &reason = "") {
  search::AcceptanceRecord record;
  record.kernel = name;
  record.ticket = ticket;
  record.measurement.disposition =
      reason.empty() ? Disposition::Passed : Disposition::Incorrect;
  record.measurement.reason = reason;
  record.measurement.rung = 6;
  record.measurement.timeNs = int64_t(12300 / speedup);
  record.measurement.speedup = Ratio{speedup - 0.06, speedup, speedup + 0.05};
  return {reason.empty() ? "accepted" : "rolled_back", toJson(record)};
}

inline search::Event finishKernel(const std::string &name,
                                  const std::string &stop,
                                  const std::string &message = "") {
  return {"kernel_finished",
          Json{{"kernel", name}, {"stop", stop}, {"message", message}}};
}

inline search::Event finishRun(const std::string &stop = "finished") {
  return {"run_finished", Json{{"stop", stop}, {"message", ""}}};
}

/// One kernel with a winner over two steps, one without strategy, one whose
/// winner was rolled back.
inline std::vector<search::Event> wholeRun() {
  return {
      startRun(Json{{"wall_ns", 60000000000}, {"variants", 10}}),
      startKernel("softmax_0", 0.62),
      startKernel("matmul_1", 0.2),
      startKernel("gelu_2", 0.1),
      finishKernel("matmul_1", "no_strategy"),
      baseline("softmax_0"),
      baseline("gelu_2"),
      trial("softmax_0", 1, 0, rows(2, 8), 2.1),
      incumbent("softmax_0", 1),
      trial("softmax_0", 2, 1, rows(3, 8), 0, Disposition::InvalidRecipe, 0),
      trial("gelu_2", 1, 0, rows(2, 8), 1.2),
      incumbent("gelu_2", 1),
      trial("softmax_0", 3, 1, rows(4, 8), 2.31),
      incumbent("softmax_0", 3),
      trial("softmax_0", 4, 3, rows(4, 16), 2.2, Disposition::Slower, 3),
      verdict("softmax_0", 3, 2.31),
      finishKernel("softmax_0", "plateau"),
      verdict("gelu_2", 1, 1.2, "output 0 differs at [3, 4]"),
      finishKernel("gelu_2", "exhausted"),
      finishRun()};
}

inline RunRecord record(const std::vector<search::Event> &events) {
  RunRecord run;
  for (const search::Event &event : events)
    if (Status status = run.notify(event); !status)
      std::abort();
  return run;
}

} // namespace kernelbrain::report

#endif // KERNELBRAIN_UNITTESTS_REPORT_EVENTS_H
