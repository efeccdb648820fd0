//===- SearchOptions.cpp - Constants and limits of a search ---------------===//

#include "kernelbrain/Search/SearchOptions.h"

namespace kernelbrain::search {

Json toJson(const SearchOptions &options) {
  const PolicyOptions &policy = options.policy;
  const LadderOptions &ladder = options.ladder;
  const StopOptions &stop = options.stop;
  Json json = {{"seed", options.seed},
               {"window", options.window},
               {"ask_ahead", options.askAhead},
               {"minimum_share", options.minimumShare},
               {"policy",
                {{"alpha", policy.alpha},
                 {"exploration", policy.exploration},
                 {"expansion", policy.expansion},
                 {"large_chance", policy.largeChance},
                 {"small_limit", policy.smallLimit},
                 {"repair_limit", policy.repairLimit},
                 {"dead_end", policy.deadEnd},
                 {"bandit_prior", policy.banditPrior},
                 {"chain_length", policy.chainLength},
                 {"pool_size", policy.poolSize},
                 {"measured_length", policy.measuredLength}}},
               {"ladder",
                {{"margin", ladder.margin},
                 {"harness_retries", ladder.harnessRetries},
                 {"accept_candidates", ladder.acceptCandidates}}},
               {"stop",
                {{"bound_percent", stop.boundPercent},
                 {"plateau", stop.plateau},
                 {"faults_in_row", stop.faultsInRow}}}};
  if (options.modelledBuildNs)
    json["modelled_build_ns"] = *options.modelledBuildNs;
  return json;
}

} // namespace kernelbrain::search
