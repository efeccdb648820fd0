//===- BuildQueue.h - Builds of several kernels on one builder --*- C++ -*-===//

#ifndef KERNELBRAIN_SEARCH_BUILDQUEUE_H
#define KERNELBRAIN_SEARCH_BUILDQUEUE_H

#include "kernelbrain/Search/Interfaces.h"

#include <map>
#include <set>

namespace kernelbrain::search {

/// Gives each request an id and keeps results that nobody has asked for yet, so
/// that callers may wait for their own build while others finish. Asks again,
/// up to `retries` times, where the harness failed.
class BuildQueue {
public:
  BuildQueue(Builder &builder, int retries)
      : builder(builder), retries(retries) {}

  /// Queues a build and returns its id.
  Result<uint64_t> submit(const std::string &kernel, const Recipe &recipe,
                          BuildOutput output = BuildOutput::Artifact);
  /// Blocks until build `id` is done. `faults` gets the reason of each harness
  /// fault that was retried.
  Result<BuildResult> wait(uint64_t id, std::vector<std::string> &faults);
  /// The result of `id` will not be asked for.
  void forget(uint64_t id);
  Status setPaused(bool paused) { return builder.setPaused(paused); }

private:
  struct Pending {
    BuildRequest request;
    int retriesLeft = 0;
    std::vector<std::string> faults;
  };
  Builder &builder;
  int retries;
  uint64_t nextId = 1;
  std::map<uint64_t, Pending> pending;
  std::map<uint64_t, BuildResult> finished;
  std::map<uint64_t, std::vector<std::string>> faultsOf;
  std::set<uint64_t> unwanted;
};

} // namespace kernelbrain::search

#endif // KERNELBRAIN_SEARCH_BUILDQUEUE_H
