//===- SearchContext.cpp - What the searches of a module share -----------===//

#include "kernelbrain/Search/SearchLoop.h"

namespace kernelbrain::search {

const char *toString(StopReason reason) {
  switch (reason) {
  case StopReason::Running:
    return "running";
  case StopReason::NoStrategy:
    return "no_strategy";
  case StopReason::Skipped:
    return "skipped";
  case StopReason::Exhausted:
    return "exhausted";
  case StopReason::Budget:
    return "budget";
  case StopReason::Bound:
    return "bound";
  case StopReason::Plateau:
    return "plateau";
  case StopReason::DefaultOnly:
    return "default_only";
  case StopReason::Interrupted:
    return "interrupted";
  case StopReason::Failed:
    return "failed";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// SearchContext
//===----------------------------------------------------------------------===//

SearchContext::SearchContext(const Services &services,
                             const SearchOptions &options, const Budget &budget)
    : services(services), options(options), ledger(budget),
      builds(*services.builder, options.ladder.harnessRetries) {
  lap(0);
}

Status SearchContext::notify(const std::string &type, Json data) {
  Event event{type, std::move(data)};
  for (Observer *observer : services.observers)
    if (Status status = observer->notify(event); !status)
      return status;
  return {};
}

bool SearchContext::interrupted() const {
  return services.interrupted && services.interrupted();
}

int64_t SearchContext::lap(int64_t modelledNs) {
  if (!services.clock)
    return modelledNs;
  int64_t now = services.clock();
  return now - std::exchange(lapStart, now);
}

} // namespace kernelbrain::search
