//===- Journal.h - The append-only record of a run --------------*- C++ -*-===//
//
// One file a run, one line an event: 16 hexadecimal digits (contentHash64 of
// the JSON text), a space, the event's JSON. The first line is the journal's
// own: {"type":"journal","version":1}. Whatever kills a process leaves whole
// lines and at most one damaged tail.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_STORE_JOURNAL_H
#define KERNELBRAIN_STORE_JOURNAL_H

#include "kernelbrain/Search/Interfaces.h"
#include "kernelbrain/Support/File.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kernelbrain::store {

constexpr int journalVersion = 1;

/// What a journal file holds.
struct JournalContents {
  std::vector<search::Event> events; ///< without the journal's own first line
  uint64_t intactBytes = 0;          ///< length of the intact prefix
  uint64_t ignoredBytes = 0;         ///< what follows it
  std::string damage; ///< "line 12 is cut short"; empty if nothing is ignored

  /// True if there is nothing left to resume: the run was closed, and none was
  /// started after that.
  bool finished() const;
  /// True if a search has begun.
  bool started() const;
};

/// Reads up to the first damaged or truncated line. An error only if the file
/// cannot be read or is of a newer version.
Result<JournalContents> readJournal(const std::string &path);

/// Appends events to a journal. A write that fails (disk full) is undone, so
/// that the lines before it stay readable and the next event may succeed.
class Journal : public search::Observer {
public:
  /// Makes a new journal; an error if the file is there.
  static Result<std::unique_ptr<Journal>> create(const std::string &path);
  /// Continues the journal that `contents` was read from; cuts off its damaged
  /// end. If that is more than one unfinished line, the file as it was is kept
  /// as `<path>.damaged`.
  static Result<std::unique_ptr<Journal>>
  resume(const std::string &path, const JournalContents &contents);

  /// Returns once the line is with the system; it survives this process. Lines
  /// are with the disk after `accepted`, `rolled_back`, `kernel_finished` and
  /// `run_finished`, and else at most every 250 ms. A resumed run lives through
  /// its recorded events again: those are not written twice.
  Status notify(const search::Event &event) override;
  /// Says that what the run found is safe elsewhere (database, output). Without
  /// this the next run resumes, also after `run_finished`. Does nothing for a
  /// run whose last `run_finished` did not say `complete`.
  Status close();
  const std::string &path() const { return file; }

private:
  Journal(std::string path, FileDescriptor fd, uint64_t size)
      : file(std::move(path)), fd(std::move(fd)), size(size) {}
  Status append(const search::Event &event);
  Status sync();

  std::string file;
  FileDescriptor fd;
  uint64_t size;               ///< bytes of whole lines
  bool complete = false;       ///< as the last `run_finished` said
  std::set<uint64_t> recorded; ///< hashes of events from before a resume
  std::chrono::steady_clock::time_point lastSync;
};

} // namespace kernelbrain::store

#endif // KERNELBRAIN_STORE_JOURNAL_H
