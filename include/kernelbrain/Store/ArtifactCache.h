//===- ArtifactCache.h - Shared objects by content --------------*- C++ -*-===//

#ifndef KERNELBRAIN_STORE_ARTIFACTCACHE_H
#define KERNELBRAIN_STORE_ARTIFACTCACHE_H

#include "kernelbrain/Support/Result.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace kernelbrain::store {

struct ArtifactCacheOptions {
  uint64_t limitBytes = uint64_t(1) << 30; ///< of all artifacts together
  /// Younger files are never evicted: another process may be about to load
  /// them.
  int64_t graceSeconds = 600;
};

/// `<store>/artifacts/<hh>/<hash>.so`, named by contentHash of the bytes. Any
/// number of processes may use it at once. Over the limit, those used longest
/// ago go first.
class ArtifactCache {
public:
  static Result<ArtifactCache> open(const std::string &store,
                                    const ArtifactCacheOptions &options = {});

  /// Stores `bytes` and returns their hash. What is there already is kept.
  Result<std::string> insert(std::string_view bytes);
  /// The path of an artifact whose content was checked; std::nullopt if it is
  /// not there. A damaged file is an error and is removed.
  Result<std::optional<std::string>> find(const std::string &hash);
  /// Where the artifact with this hash is or would be.
  std::string path(const std::string &hash) const;

  /// The folder that all artifacts are below.
  const std::string &location() const { return folder; }

  /// A pinned artifact is not evicted by this process.
  void pin(const std::string &hash) { pinned.insert(hash); }
  void unpin(const std::string &hash) { pinned.erase(hash); }

  /// Brings the cache to nine tenths of its limit if it is above it; returns
  /// the bytes removed. insert() does this by itself.
  Result<uint64_t> evict();
  /// Bytes of all artifacts, as far as this process knows.
  uint64_t totalBytes() const { return total; }

private:
  ArtifactCache(std::string folder, ArtifactCacheOptions options)
      : folder(std::move(folder)), options(options) {}

  std::string folder;
  ArtifactCacheOptions options;
  std::set<std::string> pinned;
  uint64_t total = 0;
};

} // namespace kernelbrain::store

#endif // KERNELBRAIN_STORE_ARTIFACTCACHE_H
