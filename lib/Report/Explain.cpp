//===- Explain.cpp - From the baseline to the winner ----------------------===//

#include "Format.h"
#include "kernelbrain/Report/Summary.h"
#include "kernelbrain/Search/PrintTree.h"

#include <cmath>

using namespace kernelbrain;
using namespace kernelbrain::report;

/// From the first step to `ticket`.
static std::vector<const TrialRecord *> chainTo(const KernelRecord &kernel,
                                                uint64_t ticket) {
  std::vector<const TrialRecord *> chain;
  // A parent is older than its child; anything else would be a cycle.
  for (const TrialRecord *trial = kernel.find(ticket); trial;) {
    chain.push_back(trial);
    trial =
        trial->parent < trial->ticket ? kernel.find(trial->parent) : nullptr;
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

/// "+110%" over what came before; empty if either was not timed.
static std::string gain(double before, const TrialRecord &trial) {
  if (!trial.measurement.speedup || !(before > 0))
    return "-";
  double percent = (trial.measurement.speedup->middle / before - 1) * 100;
  std::string digits = std::to_string(std::llround(std::fabs(percent)));
  return (percent < 0 ? "-" : "+") + digits + "%";
}

std::string report::explainText(const KernelRecord &kernel, size_t width) {
  uint64_t last = kernel.accepted ? kernel.accepted : kernel.incumbent;
  std::vector<const TrialRecord *> chain = chainTo(kernel, last);
  std::string name = "kernel '" + plainText(kernel.name) + "'";
  if (chain.empty())
    return wrapText(name + ": no variant was faster than the baseline", 0,
                    width);
  std::string head =
      name + ": from " + timeText(double(kernel.baselineNs)) + " (" +
      plainText(kernel.baselineName) + ") to " +
      timeText(double(kernel.accepted ? kernel.acceptance.timeNs
                                      : chain.back()->measurement.timeNs));
  if (std::optional<Ratio> best = kernel.best())
    head += ", " + ratioText(*best);
  if (!kernel.accepted)
    head += ", not accepted";
  Table table({{"variant", true},
               {"step", false},
               {"proposer", false, 8},
               {"speedup", true},
               {"gain", true}});
  double before = 1;
  const TrialRecord *parent = nullptr;
  for (const TrialRecord *trial : chain) {
    const std::optional<Ratio> &speedup = trial->measurement.speedup;
    std::string note =
        parent ? search::describeChange(parent->recipe, trial->recipe)
               : kernel.changes(*trial);
    if (!trial->rationale.empty() && trial->rationale != note)
      note += " (" + trial->rationale + ")";
    table.add({std::to_string(trial->ticket), trial->step, trial->proposer,
               speedup ? factorText(speedup->middle) : "-",
               gain(before, *trial)},
              note);
    if (speedup)
      before = speedup->middle;
    parent = trial;
  }
  std::string text = wrapText(head, 0, width) + table.render(width);
  if (const std::optional<Profile> &profile = chain.back()->measurement.profile)
    text += wrapText("bound by " + plainText(describe(diagnose(*profile))), 0,
                     width);
  return text;
}
