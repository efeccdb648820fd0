//===- CuptiMetrics.cpp - What is counted of an NVIDIA GPU ----------------===//

#include "CuptiMetrics.h"

#include "kernelbrain/Evaluate/Device/Cupti.h"

namespace kernelbrain::evaluate {

namespace {
/// A value of a profile (Core/Profile.h) and CUPTI's names of it, which differ
/// between chips: the first that a chip has is taken. Names that begin with a
/// colon are no values themselves.
struct Counter {
  const char *name;
  std::vector<const char *> metrics;
};
} // namespace

static const std::vector<Counter> &counters() {
  static const std::vector<Counter> all = {
      {counter::profiledTime, {"gpu__time_duration.sum"}},
      {counter::dramReadBytes,
       {"dram__bytes_read.sum", "dram__bytes_op_read.sum"}},
      {counter::dramWriteBytes,
       {"dram__bytes_write.sum", "dram__bytes_op_write.sum"}},
      {counter::memoryPercent,
       {"dram__throughput.avg.pct_of_peak_sustained_elapsed"}},
      {counter::computePercent,
       {"sm__instruction_throughput.avg.pct_of_peak_sustained_elapsed"}},
      {counter::l2HitPercent, {"lts__t_sector_hit_rate.pct"}},
      {counter::occupancyPercent,
       {"sm__warps_active.avg.pct_of_peak_sustained_active"}},
      {counter::tensorPercent,
       {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"}},
      {counter::issuePercent,
       {"smsp__issue_active.avg.pct_of_peak_sustained_active"}},
      {counter::loadSectors,
       {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld."
        "ratio"}},
      {counter::storeSectors,
       {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st."
        "ratio"}},
      {":conflicts", {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"}},
      {":wavefronts", {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"}},
  };
  return all;
}

static const char *const stallReasons[] = {"barrier",
                                           "branch_resolving",
                                           "dispatch_stall",
                                           "drain",
                                           "gmma",
                                           "lg_throttle",
                                           "long_scoreboard",
                                           "math_pipe_throttle",
                                           "membar",
                                           "mio_throttle",
                                           "no_instruction",
                                           "short_scoreboard",
                                           "sleeping",
                                           "tex_throttle",
                                           "wait"};

static std::string stallMetric(const char *reason) {
  return std::string("smsp__average_warps_issue_stalled_") + reason +
         "_per_issue_active.ratio";
}

std::vector<std::vector<std::string>> cupti::metricChoices() {
  std::vector<std::vector<std::string>> choices;
  for (const Counter &counter : counters())
    choices.emplace_back(counter.metrics.begin(), counter.metrics.end());
  for (const char *reason : stallReasons)
    choices.push_back({stallMetric(reason)});
  return choices;
}

Profile profileOf(const std::vector<std::string> &metrics,
                  const std::vector<double> &values) {
  std::map<std::string, double> found;
  for (size_t k = 0; k < metrics.size() && k < values.size(); ++k)
    found[metrics[k]] = values[k];
  Profile profile;
  for (const Counter &counter : counters())
    for (const char *metric : counter.metrics)
      if (auto value = found.find(metric); value != found.end())
        profile.values[counter.name] = value->second;
  auto conflicts = profile.values.find(":conflicts"),
       wavefronts = profile.values.find(":wavefronts");
  if (conflicts != profile.values.end() && wavefronts != profile.values.end() &&
      wavefronts->second > 0)
    profile.values[counter::conflictPercent] =
        100 * conflicts->second / wavefronts->second;
  profile.values.erase(":conflicts");
  profile.values.erase(":wavefronts");
  for (const char *reason : stallReasons)
    if (auto value = found.find(stallMetric(reason)); value != found.end())
      profile.stalls[reason] = value->second;
  return profile;
}

} // namespace kernelbrain::evaluate
