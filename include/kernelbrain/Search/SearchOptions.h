//===- SearchOptions.h - Constants and limits of a search -------*- C++ -*-===//

#ifndef KERNELBRAIN_SEARCH_SEARCHOPTIONS_H
#define KERNELBRAIN_SEARCH_SEARCHOPTIONS_H

#include "kernelbrain/Support/Json.h"

#include <cstdint>
#include <optional>

namespace kernelbrain::search {

/// Constants of tree search. "AdaExplore": the published configuration of
/// arXiv 2604.16625; our rewards lie in [0, 1], theirs in [0, 1.6].
struct PolicyOptions {
  double alpha = 0.0;       ///< Q = alpha max + (1 - alpha) mean; AdaExplore
  double exploration = 0.3; ///< c of UCT; AdaExplore
  double expansion = 1.0;   ///< rho of the expand arm; AdaExplore, level 2
  double largeChance = 0.2; ///< p of a large step without evidence; AdaExplore
  int smallLimit = 2;       ///< small children before a large one; AdaExplore
  int repairLimit = 3;      ///< repairs of one failed node, then it is closed
  int deadEnd = 6; ///< losses in a row in a subtree before it is closed
  /// Steps of each kind whose weight equals the prior `largeChance` has.
  double banditPrior = 8;
  int chainLength = 5, poolSize = 5; ///< AdaExplore
  int measuredLength = 64; ///< so that learning from it costs milliseconds
};

/// When a variant climbs the ladder.
struct LadderOptions {
  double margin = 0.01;     ///< a new incumbent is faster by more than this
  int harnessRetries = 2;   ///< of one question to builder or evaluator
  int acceptCandidates = 3; ///< winners tried at rung 6 before giving up
};

/// Why a search ended. Absent limits do not stop it.
struct StopOptions {
  double boundPercent = 5; ///< best time within this of the bound
  int plateau = 64;    ///< tickets in a row without a new incumbent; 0: never
  int faultsInRow = 5; ///< harness faults in a row end the run with an error
};

struct SearchOptions {
  uint64_t seed = 0;
  /// Tickets in flight. Part of the search's definition: the number of build
  /// children changes nothing but the time.
  unsigned window = 4;
  /// Questions that the proposer is told of beyond the tickets of the window,
  /// for proposers that answer slowly. Part of the search's definition too:
  /// such a question is chosen before the results of the tickets in between are
  /// in.
  unsigned askAhead = 0;
  PolicyOptions policy;
  LadderOptions ladder;
  StopOptions stop;
  /// Replaces measured build times, for evaluators that model the device: the
  /// run is then free of any measurement, and reproducible byte for byte.
  std::optional<int64_t> modelledBuildNs;
  /// Kernels below this share of the program's time get the default recipe of
  /// their best strategy, without a search.
  double minimumShare = 0.01;
};

Json toJson(const SearchOptions &options);

} // namespace kernelbrain::search

#endif // KERNELBRAIN_SEARCH_SEARCHOPTIONS_H
