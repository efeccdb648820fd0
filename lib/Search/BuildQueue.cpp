//===- BuildQueue.cpp - Builds of several kernels on one builder ----------===//

#include "kernelbrain/Search/BuildQueue.h"

namespace kernelbrain::search {

Result<uint64_t> BuildQueue::submit(const std::string &kernel,
                                    const Recipe &recipe, BuildOutput output) {
  BuildRequest request;
  request.id = nextId++;
  request.kernel = kernel;
  request.recipe = recipe;
  request.output = output;
  if (Status status = builder.submit(request); !status)
    return status.error().withContext("cannot build a variant of '" + kernel +
                                      "'");
  pending[request.id] = Pending{request, retries, {}};
  return request.id;
}

Result<BuildResult> BuildQueue::wait(uint64_t id,
                                     std::vector<std::string> &faults) {
  for (;;) {
    auto done = finished.find(id);
    if (done != finished.end()) {
      BuildResult result = std::move(done->second);
      finished.erase(done);
      faults.insert(faults.end(), faultsOf[id].begin(), faultsOf[id].end());
      faultsOf.erase(id);
      return result;
    }
    if (!pending.count(id))
      return Error{"build " + std::to_string(id) + " was never asked for"};
    Result<BuildResult> next = builder.wait();
    if (!next)
      return next.error().withContext("cannot build");
    auto entry = pending.find(next->id);
    if (entry == pending.end())
      return Error{"the builder answered a request that it was not given"};
    Pending &asked = entry->second;
    bool wanted = !unwanted.count(next->id);
    if (wanted && next->disposition == Disposition::HarnessFault) {
      asked.faults.push_back(next->reason);
      if (asked.retriesLeft-- > 0) {
        if (Status status = builder.submit(asked.request); !status)
          return status.error();
        continue;
      }
    }
    uint64_t finishedId = next->id;
    if (wanted) {
      faultsOf[finishedId] = std::move(asked.faults);
      finished[finishedId] = std::move(*next);
    }
    unwanted.erase(finishedId);
    pending.erase(entry);
  }
}

void BuildQueue::forget(uint64_t id) {
  finished.erase(id);
  faultsOf.erase(id);
  if (pending.count(id))
    unwanted.insert(id);
}

} // namespace kernelbrain::search
