//===- Estimate.h - What a run will cost ------------------------*- C++ -*-===//

#ifndef KERNELBRAIN_REPORT_ESTIMATE_H
#define KERNELBRAIN_REPORT_ESTIMATE_H

#include "kernelbrain/Support/Json.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernelbrain::report {

/// What is expected of one kernel before a run.
struct KernelPlan {
  std::string name, kind;
  double share = 0;    ///< of the program's time
  double recipes = 0;  ///< in all its search spaces
  double variants = 0; ///< its part of the limit
  double seconds = 0;  ///< its part of the limit
  double headroom = 0; ///< expected time of the default / bound; 0: not known
  std::string skipped; ///< not empty: it will not be searched, and why
};

/// The budget of the whole run.
struct PlanLimits {
  std::optional<double> seconds;
  std::optional<double> variants;
};

/// Plans from search::estimateRun: each kernel gets the part of the budget that
/// it starts with (what one leaves, others get), and no more variants than it
/// has recipes.
std::vector<KernelPlan> planKernels(const Json &estimate,
                                    const PlanLimits &limits);

/// The text of option `estimate`, at most `width` wide.
std::string estimateText(const std::vector<KernelPlan> &plans,
                         const PlanLimits &limits, size_t width = 80);

} // namespace kernelbrain::report

#endif // KERNELBRAIN_REPORT_ESTIMATE_H
