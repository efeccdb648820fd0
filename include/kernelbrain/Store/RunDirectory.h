//===- RunDirectory.h - The folder of a run ---------------------*- C++ -*-===//

#ifndef KERNELBRAIN_STORE_RUNDIRECTORY_H
#define KERNELBRAIN_STORE_RUNDIRECTORY_H

#include "kernelbrain/Store/Journal.h"

#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

namespace kernelbrain::store {

struct RunOptions {
  bool fresh = false;       ///< start over instead of resuming
  int waitMilliseconds = 0; ///< how long to wait for another process
};

/// `<store>/runs/<hash>`: a lock and the journals of all runs with that hash,
/// `journal-0001.log` and up. Holds the lock while it lives.
class RunDirectory {
public:
  /// Takes the lock, then resumes the last journal if its run did not come to
  /// its end, else starts a new one. `hash` names module, options and versions.
  /// A directory that another process has locked is no error: see isLocked().
  static Result<RunDirectory> open(const std::string &store,
                                   const std::string &hash,
                                   const RunOptions &options);

  /// False: another process has it; there is no journal, and holder() is its
  /// process id, 0 if it did not say.
  bool isLocked() const { return static_cast<bool>(lock); }
  pid_t holder() const { return lockHolder; }

  const std::string &path() const { return folder; }
  /// Not null if isLocked().
  Journal *journal() { return log.get(); }
  /// True if the journal was begun by an earlier process.
  bool isResumed() const { return resumed; }
  /// The events of the journal that is resumed, and what was cut off.
  const JournalContents &recorded() const { return contents; }

private:
  explicit RunDirectory(std::string folder) : folder(std::move(folder)) {}
  Status takeLock(int waitMilliseconds);
  Status openJournal(bool fresh);

  std::string folder;
  FileDescriptor lock;
  pid_t lockHolder = 0;
  std::unique_ptr<Journal> log;
  bool resumed = false;
  JournalContents contents;
};

} // namespace kernelbrain::store

#endif // KERNELBRAIN_STORE_RUNDIRECTORY_H
