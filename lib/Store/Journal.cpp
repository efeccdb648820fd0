//===- Journal.cpp - The append-only record of a run ----------------------===//

#include "kernelbrain/Store/Journal.h"

#include "kernelbrain/Support/Hash.h"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

using namespace kernelbrain;
using namespace kernelbrain::store;

static constexpr size_t checksumDigits = 16;

static std::string checksum(std::string_view text) {
  char digits[checksumDigits + 1];
  std::snprintf(digits, sizeof(digits), "%016" PRIx64, contentHash64(text));
  return digits;
}

static std::string encodeLine(const search::Event &event) {
  std::string text = dumpJson(search::toJson(event));
  return checksum(text) + " " + text + "\n";
}

static Result<search::Event> decodeLine(const std::string &line) {
  if (line.size() <= checksumDigits + 1 || line[checksumDigits] != ' ')
    return Error{"has no checksum"};
  std::string text = line.substr(checksumDigits + 1);
  if (line.compare(0, checksumDigits, checksum(text)) != 0)
    return Error{"does not match its checksum"};
  Result<Json> json = parseJson(text);
  if (!json)
    return Error{"is not JSON"};
  Result<search::Event> event = search::eventFromJson(*json);
  if (!event)
    return Error{"is not an event"};
  return event;
}

bool JournalContents::started() const {
  return std::any_of(
      events.begin(), events.end(),
      [](const search::Event &event) { return event.type == "run_started"; });
}

bool JournalContents::finished() const {
  for (auto event = events.rbegin(); event != events.rend(); ++event)
    if (event->type == "run_closed" || event->type == "run_started")
      return event->type == "run_closed";
  return false;
}

Result<JournalContents> store::readJournal(const std::string &path) {
  Result<std::string> text = readFile(path);
  if (!text)
    return text.error();
  JournalContents contents;
  size_t number = 0;
  while (contents.intactBytes < text->size()) {
    std::string place = "line " + std::to_string(++number) + " ";
    size_t end = text->find('\n', contents.intactBytes);
    if (end == std::string::npos) {
      contents.damage = place + "is cut short";
      break;
    }
    Result<search::Event> event = decodeLine(
        text->substr(contents.intactBytes, end - contents.intactBytes));
    if (event && (number == 1) != (event->type == "journal"))
      event = Error{"is out of place"};
    if (!event) {
      contents.damage = place + event.error().message;
      break;
    }
    if (number == 1) {
      int64_t version = getIntegerOr(event->data, "version", 0);
      if (version > journalVersion)
        return Error{"the journal '" + path + "' has version " +
                     std::to_string(version) + ", expected at most " +
                     std::to_string(journalVersion) +
                     " (option 'fresh' begins another one)"};
    } else {
      contents.events.push_back(std::move(*event));
    }
    contents.intactBytes = end + 1;
  }
  contents.ignoredBytes = text->size() - contents.intactBytes;
  return contents;
}

Result<std::unique_ptr<Journal>> Journal::create(const std::string &path) {
  Result<FileDescriptor> fd =
      openFile(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND);
  if (!fd)
    return fd.error();
  std::unique_ptr<Journal> journal(new Journal(path, std::move(*fd), 0));
  if (Status status =
          journal->append({"journal", Json{{"version", journalVersion}}});
      !status) {
    ::unlink(path.c_str());
    return status.error();
  }
  return journal;
}

/// Cuts off what cannot be read. A kill leaves one unfinished line; anything
/// more is kept beside the journal for a person to look at.
static Status cutDamagedEnd(const std::string &path, int fd,
                            const JournalContents &contents) {
  if (!contents.ignoredBytes)
    return {};
  Result<std::string> text = readFile(path);
  if (!text)
    return text.error();
  if (text->find('\n', contents.intactBytes) != std::string::npos)
    if (Status status = writeFileAtomically(path + ".damaged", *text); !status)
      return status;
  if (::ftruncate(fd, contents.intactBytes) != 0)
    return fileError("cut off the damaged end of", path);
  return {};
}

Result<std::unique_ptr<Journal>>
Journal::resume(const std::string &path, const JournalContents &contents) {
  Result<FileDescriptor> fd = openFile(path, O_WRONLY | O_APPEND);
  if (!fd)
    return fd.error();
  if (Status status = cutDamagedEnd(path, fd->get(), contents); !status)
    return status.error();
  std::unique_ptr<Journal> journal(
      new Journal(path, std::move(*fd), contents.intactBytes));
  if (!contents.intactBytes)
    if (Status status =
            journal->append({"journal", Json{{"version", journalVersion}}});
        !status)
      return status.error();
  for (const search::Event &event : contents.events)
    journal->recorded.insert(contentHash64(dumpJson(search::toJson(event))));
  return journal;
}

Status Journal::append(const search::Event &event) {
  std::string line = encodeLine(event);
  Status status = writeAll(fd.get(), line, file);
  if (!status) {
    // Failing here as well leaves a damaged tail, which readers ignore.
    [[maybe_unused]] int ignored = ::ftruncate(fd.get(), size);
    return status;
  }
  size += line.size();
  return {};
}

Status Journal::sync() {
  // EINVAL and EROFS: a file of a kind that has nothing to sync.
  if (::fdatasync(fd.get()) != 0 && errno != EINVAL && errno != EROFS)
    return fileError("write to", file);
  lastSync = std::chrono::steady_clock::now();
  return {};
}

Status Journal::notify(const search::Event &event) {
  if (event.type == "run_finished")
    complete = getBoolOr(event.data, "complete", false);
  if (!recorded.empty() &&
      recorded.count(contentHash64(dumpJson(search::toJson(event)))))
    return {};
  if (Status status = append(event); !status)
    return status.error().withContext("cannot continue the journal");
  static const std::set<std::string> milestones = {
      "accepted", "rolled_back", "kernel_finished", "run_finished"};
  if (milestones.count(event.type) ||
      std::chrono::steady_clock::now() - lastSync >
          std::chrono::milliseconds(250))
    return sync();
  return {};
}

Status Journal::close() {
  if (!complete)
    return {};
  if (Status status = append({"run_closed"}); !status)
    return status.error().withContext("cannot close the journal");
  return sync();
}
