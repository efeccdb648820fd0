//===- RunStore.cpp - What a run keeps on disk ----------------------------===//

#include "RunStore.h"

#include "kernelbrain/Store/Location.h"

#include <filesystem>

using namespace kernelbrain;

/// How long to wait for another process with the same module and options: it is
/// doing the very work that this one is asked for.
constexpr int lockWaitMilliseconds = 2000;

/// Programs that a run was comparing when it was killed.
static void removeLeftovers(const std::string &folder) {
  std::error_code ignored; // What cannot be removed only takes room.
  for (std::filesystem::directory_iterator entry(folder, ignored), end;
       !ignored && entry != end; entry.increment(ignored))
    if (entry->path().filename().string().rfind("program-", 0) == 0)
      std::filesystem::remove_all(entry->path(), ignored);
}

Result<std::unique_ptr<RunStore>> RunStore::open(const SessionOptions &options,
                                                 const std::string &runHash) {
  auto path = store::findStore(options.store);
  if (!path)
    return path.error();
  if (Status ok = store::prepareStore(*path); !ok)
    return ok.error();
  auto result = std::make_unique<RunStore>();

  auto run = store::RunDirectory::open(*path, runHash,
                                       {options.fresh, lockWaitMilliseconds});
  if (!run)
    return run.error();
  result->run.emplace(std::move(*run));
  if (result->run->isLocked())
    removeLeftovers(result->run->path());
  // A worker may be started in another folder, as ssh does.
  auto cache = store::ArtifactCache::open(std::filesystem::absolute(*path));
  if (!cache)
    return cache.error();
  result->cache.emplace(std::move(*cache));
  if (!options.isDryRun()) {
    auto database = store::TuningDatabase::open(
        store::databasePath(*path), store::TuningDatabase::Mode::ReadWrite);
    if (!database)
      return database.error();
    result->tuning.emplace(std::move(*database));
    if (result->tuning->isReadOnly())
      result->remarks.push_back("the tuning database '" +
                                result->tuning->path() +
                                "' is read-only: winners are not recorded");
  }
  if (Status ok = result->readRecording(); !ok)
    return ok.error();
  return result;
}

Status RunStore::readRecording() {
  if (!run->isLocked()) {
    remarks.push_back("process " + std::to_string(run->holder()) +
                      " is running the same search in '" + run->path() +
                      "': this one goes on without a journal");
    return {};
  }
  const store::JournalContents &contents = run->recorded();
  for (const search::Event &event : contents.events)
    if (Status ok = recorded.add(event); !ok)
      return ok.error().withContext("cannot resume from '" + run->path() +
                                    "' (option 'fresh' starts over)");
  if (run->isResumed())
    remarks.push_back("resuming an unfinished run with " +
                      std::to_string(recorded.trials()) + " trials from '" +
                      run->path() + "'");
  if (!contents.damage.empty())
    remarks.push_back("the journal's damaged end was cut off: " +
                      contents.damage);
  return {};
}
