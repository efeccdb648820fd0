//===- Ladder.h - Coarse to fine evaluation ---------------------*- C++ -*-===//

#ifndef KERNELBRAIN_SEARCH_LADDER_H
#define KERNELBRAIN_SEARCH_LADDER_H

#include "kernelbrain/Search/BuildQueue.h"
#include "kernelbrain/Search/SearchOptions.h"
#include "kernelbrain/Search/Trial.h"

namespace kernelbrain::search {

/// What a variant is measured against.
struct Rivals {
  Artifact incumbent;
  double incumbentSpeedup = 1;     ///< over the baseline
  std::optional<double> cellElite; ///< its speedup; absent: an empty cell
};

/// Rungs 2 to 6 for variants of one kernel. Builds stand still while
/// something is timed. A question whose answer is a harness fault or unstable
/// is asked again, `harnessRetries` times.
class Ladder {
public:
  Ladder(Evaluator &evaluator, BuildQueue &builds, const LadderOptions &options)
      : evaluator(evaluator), builds(builds), options(options) {}

  /// Checks and times `artifact` as far as it is worth it, and writes
  /// measurement, incumbent, faults and device costs of `trial`. With
  /// `timed` false it stops after the check (rung 2).
  Status climb(const Artifact &artifact, const Rivals &rivals, bool timed,
               Trial &trial);
  /// Rung 6. Disposition::Passed: accepted; else why not.
  Result<Measurement> accept(const Artifact &artifact,
                             const Artifact &baseline);

  /// Rung 3 to 4: the upper end of the speedup beats the incumbent by the
  /// margin or the elite of the cell; an empty cell promotes its first variant.
  static bool worthFullTiming(const Ratio &overIncumbent, const Rivals &rivals,
                              const LadderOptions &options);

private:
  template <typename Question>
  Result<Measurement> ask(Question question, int64_t &cost,
                          std::vector<std::string> &faults);
  Status time(const Artifact &artifact, const Rivals &rivals, Trial &trial);
  /// What bounds the new incumbent; nothing is decided by it.
  Status profile(const Artifact &artifact, Trial &trial);

  Evaluator &evaluator;
  BuildQueue &builds;
  LadderOptions options;
};

} // namespace kernelbrain::search

#endif // KERNELBRAIN_SEARCH_LADDER_H
