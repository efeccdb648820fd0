//===- RunStore.h - What a run keeps on disk --------------------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_DRIVER_RUNSTORE_H
#define KERNELBRAIN_LIB_DRIVER_RUNSTORE_H

#include "kernelbrain/Driver/SessionOptions.h"
#include "kernelbrain/Search/Trial.h"
#include "kernelbrain/Store/ArtifactCache.h"
#include "kernelbrain/Store/RunDirectory.h"
#include "kernelbrain/Store/TuningDatabase.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kernelbrain {

/// Journal, artifacts and tuning database of one run.
class RunStore {
public:
  /// Opens the store of `options`. `runHash` names module, options and
  /// versions. A store that cannot be written is an error that names it.
  static Result<std::unique_ptr<RunStore>> open(const SessionOptions &options,
                                                const std::string &runHash);

  /// Null while another process holds the run; see notes().
  search::Observer *journal() { return run->journal(); }
  /// Call last, when winners are in database and output: a run that was
  /// complete is not resumed any more.
  Status close() {
    return run->isLocked() ? run->journal()->close() : Status();
  }
  /// The folder of runs with this hash.
  const std::string &runFolder() const { return run->path(); }
  /// True if another process began this run and did not come to its end.
  bool isResumed() const { return run->isResumed(); }
  /// What an unfinished run of the same hash left.
  const search::Recording &recording() const { return recorded; }
  store::ArtifactCache &artifacts() { return *cache; }
  /// Null in a dry run, which neither reads nor writes it.
  store::TuningDatabase *database() { return tuning ? &*tuning : nullptr; }
  /// What a person should know, one sentence each.
  const std::vector<std::string> &notes() const { return remarks; }

private:
  Status readRecording();

  std::optional<store::RunDirectory> run;
  std::optional<store::ArtifactCache> cache;
  std::optional<store::TuningDatabase> tuning;
  search::Recording recorded;
  std::vector<std::string> remarks;
};

} // namespace kernelbrain

#endif // KERNELBRAIN_LIB_DRIVER_RUNSTORE_H
