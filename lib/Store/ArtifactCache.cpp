//===- ArtifactCache.cpp - Shared objects by content ----------------------===//

#include "kernelbrain/Store/ArtifactCache.h"

#include "kernelbrain/Support/File.h"
#include "kernelbrain/Support/Hash.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace kernelbrain;
using namespace kernelbrain::store;
namespace fs = std::filesystem;

namespace {
struct CachedFile {
  std::string path, hash;
  uint64_t bytes;
  struct timespec used;
};
} // namespace

/// What follows the hash in the name of one of our files: ".so" of an artifact,
/// ".so.tmp-..." while it is written. Empty for all others.
static std::string suffixOf(const std::string &name) {
  constexpr size_t hashDigits = 32;
  if (name.find_first_not_of("0123456789abcdef") != hashDigits ||
      name.compare(hashDigits, 3, ".so") != 0)
    return "";
  return name.substr(hashDigits);
}

/// Adds the artifacts in `folder`. Removes what crashed writers left behind.
static std::error_code scanFolder(const fs::path &folder,
                                  std::vector<CachedFile> &files) {
  constexpr time_t abandonedSeconds = 3600;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    struct stat status;
    std::string path = entry->path(),
                suffix = suffixOf(path.substr(path.rfind('/') + 1));
    // A file that another process has just removed is no error.
    if (suffix.empty() || ::stat(path.c_str(), &status) != 0 ||
        !S_ISREG(status.st_mode))
      continue;
    if (suffix == ".so")
      files.push_back({path, entry->path().stem(), uint64_t(status.st_size),
                       status.st_mtim});
    else if (std::time(nullptr) - status.st_mtim.tv_sec > abandonedSeconds)
      ::unlink(path.c_str());
  }
  return error;
}

/// All artifacts below `folder`. That and the folders in it may be links, to
/// where others keep files as well.
static Result<std::vector<CachedFile>> scan(const std::string &folder) {
  std::vector<CachedFile> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->path().filename().string().size() != 2 ||
        !entry->is_directory(ignored))
      continue;
    if (std::error_code found = scanFolder(entry->path(), files))
      return Error{"cannot list '" + entry->path().string() +
                   "': " + found.message()};
  }
  if (error && error != std::errc::no_such_file_or_directory)
    return Error{"cannot list '" + folder + "': " + error.message()};
  return files;
}

Result<ArtifactCache> ArtifactCache::open(const std::string &store,
                                          const ArtifactCacheOptions &options) {
  ArtifactCache cache(store + "/artifacts", options);
  Result<std::vector<CachedFile>> files = scan(cache.folder);
  if (!files)
    return files.error();
  for (const CachedFile &file : *files)
    cache.total += file.bytes;
  return cache;
}

std::string ArtifactCache::path(const std::string &hash) const {
  return folder + "/" + hash.substr(0, 2) + "/" + hash + ".so";
}

/// Marks a file as used now. A read-only store keeps its order of use.
static void touch(const std::string &path) {
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
}

Result<std::string> ArtifactCache::insert(std::string_view bytes) {
  std::string hash = contentHash(bytes), file = path(hash);
  if (Result<std::string> existing = readFile(file);
      existing && *existing == bytes) {
    touch(file);
    return hash;
  }
  if (Status status = makeDirectories(fs::path(file).parent_path()); !status)
    return status.error();
  // Executable, because dlopen maps it so on file systems that care.
  if (Status status = writeFileAtomically(file, bytes, 0755); !status)
    return status.error();
  total += bytes.size();
  if (total > options.limitBytes) {
    bool added = pinned.insert(hash).second;
    Result<uint64_t> removed = evict();
    if (added)
      pinned.erase(hash);
    if (!removed)
      return removed.error();
  }
  return hash;
}

Result<std::optional<std::string>>
ArtifactCache::find(const std::string &hash) {
  std::string file = path(hash);
  Result<std::string> bytes = readFile(file);
  if (!bytes) {
    if (::access(file.c_str(), F_OK) != 0 && errno == ENOENT)
      return std::optional<std::string>();
    return bytes.error();
  }
  if (contentHash(*bytes) != hash) {
    ::unlink(file.c_str());
    total -= std::min<uint64_t>(total, bytes->size());
    return Error{"the cached artifact '" + file +
                 "' does not match its name; it was removed"};
  }
  touch(file);
  return std::optional<std::string>(file);
}

Result<uint64_t> ArtifactCache::evict() {
  Result<std::vector<CachedFile>> files = scan(folder);
  if (!files)
    return files.error();
  total = 0;
  for (const CachedFile &file : *files)
    total += file.bytes;
  if (total <= options.limitBytes)
    return uint64_t(0);
  std::sort(files->begin(), files->end(),
            [](const CachedFile &a, const CachedFile &b) {
              return std::tie(a.used.tv_sec, a.used.tv_nsec, a.hash) <
                     std::tie(b.used.tv_sec, b.used.tv_nsec, b.hash);
            });
  // Some slack, so that not every insertion scans the folder again.
  uint64_t goal = options.limitBytes - options.limitBytes / 10;
  uint64_t removed = 0;
  time_t now = std::time(nullptr);
  for (const CachedFile &file : *files) {
    if (total <= goal)
      break;
    if (pinned.count(file.hash) ||
        now - file.used.tv_sec < options.graceSeconds)
      continue;
    if (::unlink(file.path.c_str()) != 0 && errno != ENOENT)
      return fileError("remove", file.path);
    total -= file.bytes;
    removed += file.bytes;
  }
  return removed;
}
