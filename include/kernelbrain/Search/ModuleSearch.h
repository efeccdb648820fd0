//===- ModuleSearch.h - Several kernels on one budget -----------*- C++ -*-===//

#ifndef KERNELBRAIN_SEARCH_MODULESEARCH_H
#define KERNELBRAIN_SEARCH_MODULESEARCH_H

#include "kernelbrain/Search/SearchLoop.h"

namespace kernelbrain::search {

struct ModuleOutcome {
  std::vector<KernelOutcome> kernels;    ///< in the order of the tasks
  StopReason stop = StopReason::Running; ///< Running: every kernel was finished
  /// An error of our own world that ended the run. Outcomes hold what had been
  /// reached; winners are those that were accepted before.
  std::optional<Error> error;
  Amounts spent;
  int64_t setupNs = 0;
};

/// Searches the kernels of a module side by side on one budget. The next ticket
/// goes to the kernel that has had the least for its weight: the share of the
/// program's time that it could still save (share x headroom), re-weighed with
/// every result. Kernels below SearchOptions::minimumShare are not searched.
class ModuleSearch {
public:
  /// `info`: further members of the run_started event (input, versions, ...).
  ModuleSearch(std::vector<KernelTask> tasks, const Services &services,
               const SearchOptions &options, const Budget &budget,
               Json info = Json::object());

  ModuleOutcome run();
  /// The searches, for print-tree.
  const std::vector<std::unique_ptr<SearchLoop>> &searches() const {
    return loops;
  }

private:
  Status runSearches();
  SearchLoop *next() const;

  SearchContext context;
  std::vector<std::unique_ptr<SearchLoop>> loops;
  Json info;
  StopReason stop = StopReason::Running;
};

/// What a run would do and may cost, for the option `estimate`: no kernel is
/// built. An array in the order of weight: {"kernel", "kind", "strategies",
/// "recipes", "share", "weight", "estimate_ns", "bound_ns", "searched"}; a
/// weight is the part of the budget that the kernel would start with.
Json estimateRun(const std::vector<KernelTask> &tasks,
                 const SearchOptions &options);

} // namespace kernelbrain::search

#endif // KERNELBRAIN_SEARCH_MODULESEARCH_H
