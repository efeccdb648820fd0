//===- Summary.h - What a run came to ---------------------------*- C++ -*-===//

#ifndef KERNELBRAIN_REPORT_SUMMARY_H
#define KERNELBRAIN_REPORT_SUMMARY_H

#include "kernelbrain/Report/RunRecord.h"

#include <string>

namespace kernelbrain::report {

/// The closing table, in ASCII and at most `width` wide: kernels by share of
/// the program with class, baseline, winner, speedup with its interval and what
/// was changed; then the kernels that stay stock, by reason.
std::string summaryText(const RunRecord &run, size_t width = 80);

/// The same as data: {module, stop, variants, wall_ns, estimated_speedup,
/// kernels: [{name, class, share, baseline, winner or null, improved,
/// from_database, left_stock, changed, variants, dispositions, rolled_back}],
/// proposers: {name: {proposals, winners, tokens, micro_money, dispositions}},
/// fallbacks (counts by reason), tokens, micro_money, model_gain (or null),
/// warnings}.
Json summaryJson(const RunRecord &run);

/// Who proposed what and what became of it: proposals by proposer with their
/// dispositions, winners and tokens; how often the model's answer was of no
/// use, and why; and what it gained over the built-in policy. Empty if no model
/// was asked.
std::string proposersText(const RunRecord &run, size_t width = 80);

/// Speedup of the whole program by Amdahl's law from the kernels' estimated
/// shares: an estimate, never a measurement.
double estimatedSpeedup(const RunRecord &run);

/// The way from the baseline to the winner (without one, to the best variant):
/// a line a step with what it changed and gained. One line if there is none.
std::string explainText(const KernelRecord &kernel, size_t width = 80);

} // namespace kernelbrain::report

#endif // KERNELBRAIN_REPORT_SUMMARY_H
