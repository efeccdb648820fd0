//===- RunDirectory.cpp - The folder of a run -----------------------------===//

#include "kernelbrain/Store/RunDirectory.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

using namespace kernelbrain;
using namespace kernelbrain::store;

Result<RunDirectory> RunDirectory::open(const std::string &store,
                                        const std::string &hash,
                                        const RunOptions &options) {
  RunDirectory directory(store + "/runs/" + hash);
  if (Status status = makeDirectories(directory.folder); !status)
    return status.error();
  if (Status status = directory.takeLock(options.waitMilliseconds); !status)
    return status.error();
  if (directory.isLocked())
    if (Status status = directory.openJournal(options.fresh); !status)
      return status.error();
  return directory;
}

Status RunDirectory::takeLock(int waitMilliseconds) {
  std::string path = folder + "/lock";
  Result<FileDescriptor> file = openFile(path, O_RDWR | O_CREAT);
  if (!file)
    return file.error();
  auto deadline = std::chrono::steady_clock::now() +
                  std::chrono::milliseconds(waitMilliseconds);
  while (::flock(file->get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR)
      continue;
    if (errno != EWOULDBLOCK)
      return fileError("lock", path);
    if (std::chrono::steady_clock::now() >= deadline) {
      if (Result<std::string> text = readFile(path))
        lockHolder = std::atoi(text->c_str());
      return {};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  // Only a courtesy to the process that finds the lock taken: the lock itself
  // is the descriptor's.
  if (::ftruncate(file->get(), 0) == 0)
    if (Status status =
            writeAll(file->get(), std::to_string(::getpid()) + "\n", path);
        !status)
      return status;
  lock = std::move(*file);
  return {};
}

/// The number of the last journal in `folder`, 0 if there is none.
static Result<int> lastJournal(const std::string &folder) {
  std::error_code error;
  int last = 0;
  for (std::filesystem::directory_iterator entry(folder, error), end;
       !error && entry != end; entry.increment(error)) {
    int number = 0, length = 0;
    std::string name = entry->path().filename();
    if (std::sscanf(name.c_str(), "journal-%d.log%n", &number, &length) == 1 &&
        size_t(length) == name.size())
      last = std::max(last, number);
  }
  if (error)
    return Error{"cannot list '" + folder + "': " + error.message()};
  return last;
}

static std::string journalPath(const std::string &folder, int number) {
  char name[32];
  std::snprintf(name, sizeof(name), "/journal-%04d.log", number);
  return folder + name;
}

Status RunDirectory::openJournal(bool fresh) {
  Result<int> last = lastJournal(folder);
  if (!last)
    return last.error();
  if (*last && !fresh) {
    std::string path = journalPath(folder, *last);
    Result<JournalContents> read = readJournal(path);
    if (!read)
      return read.error();
    if (!read->finished()) {
      Result<std::unique_ptr<Journal>> journal = Journal::resume(path, *read);
      if (!journal)
        return journal.error();
      log = std::move(*journal);
      // One that found nothing to search has left nothing to go on with.
      resumed = read->started();
      contents = std::move(*read);
      return {};
    }
  }
  Result<std::unique_ptr<Journal>> journal =
      Journal::create(journalPath(folder, *last + 1));
  if (!journal)
    return journal.error();
  log = std::move(*journal);
  return {};
}
