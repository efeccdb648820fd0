//===- Estimate.cpp - What a run will cost --------------------------------===//

#include "kernelbrain/Report/Estimate.h"

#include "Format.h"

#include <cmath>

using namespace kernelbrain;
using namespace kernelbrain::report;

/// Exact where that is readable.
static std::string sizeText(double count) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), count < 1e6 ? "%.0f" : "%.1e", count);
  return buffer;
}

std::vector<KernelPlan> report::planKernels(const Json &estimate,
                                            const PlanLimits &limits) {
  std::vector<KernelPlan> plans;
  for (const Json &kernel : estimate) {
    KernelPlan &plan = plans.emplace_back();
    plan.name = getStringOr(kernel, "kernel", "");
    plan.kind = getStringOr(kernel, "kind", "");
    plan.share = getNumberOr(kernel, "share", 0);
    plan.recipes = getNumberOr(kernel, "recipes", 0);
    double expected = getNumberOr(kernel, "estimate_ns", 0);
    double bound = getNumberOr(kernel, "bound_ns", 0);
    plan.headroom = bound > 0 ? expected / bound : 0;
    double weight = getNumberOr(kernel, "weight", 0);
    if (!getBoolOr(kernel, "searched", false))
      plan.skipped = plan.recipes > 0
                         ? "its strategy's default is tried, no more"
                         : "no strategy applies";
    if (limits.variants)
      plan.variants = std::min(plan.recipes, weight * *limits.variants);
    if (limits.seconds)
      plan.seconds = weight * *limits.seconds;
  }
  return plans;
}

/// What ends the search of all `recipes`.
static std::string limitsText(const PlanLimits &limits, double recipes) {
  std::string text;
  if (limits.variants)
    text = countText(size_t(std::min(*limits.variants, recipes)), "variant");
  if (limits.seconds)
    text += (text.empty() ? "" : " in ") + timeText(*limits.seconds * 1e9) +
            " of search";
  return text.empty() ? "no limit, each search ends where gains do"
                      : "at most " + text;
}

std::string report::estimateText(const std::vector<KernelPlan> &plans,
                                 const PlanLimits &limits, size_t width) {
  Table table({{"kernel", false, 8},
               {"class", false, 8},
               {"share", true},
               {"recipes", true},
               {"to bound", true},
               {"variants", true},
               {"time", true}});
  double recipes = 0;
  size_t searched = 0;
  for (const KernelPlan &plan : plans) {
    bool skipped = !plan.skipped.empty();
    table.add(
        {plan.name, plan.kind, percentText(plan.share),
         skipped ? "-" : sizeText(plan.recipes),
         skipped || !(plan.headroom > 0) ? "-" : factorText(plan.headroom),
         skipped || !limits.variants
             ? "-"
             : std::to_string(std::llround(plan.variants)),
         skipped ? "-" : timeText(plan.seconds * 1e9)},
        skipped ? "not searched: " + plan.skipped : "");
    if (skipped)
      continue;
    ++searched;
    recipes += plan.recipes;
  }
  std::string total = countText(searched, "kernel") + " to search of " +
                      std::to_string(plans.size());
  if (searched)
    total += "; " + limitsText(limits, recipes);
  return (plans.empty() ? "" : table.render(width) + "\n") +
         wrapText(total, 0, width);
}
