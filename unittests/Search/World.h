//===- World.h - One search over the fakes ----------------------*- C++ -*-===//

#ifndef KERNELBRAIN_UNITTESTS_SEARCH_WORLD_H
#define KERNELBRAIN_UNITTESTS_SEARCH_WORLD_H

#include "Testing/Fakes.h"
#include "kernelbrain/Propose/BuiltinProposer.h"
#include "kernelbrain/Search/PrintTree.h"

#include <gtest/gtest.h>

namespace kernelbrain::testing {

/// A search of one or more kernels, with everything that a test may turn.
struct World {
  explicit World(Landscape landscape = {}, uint64_t shuffle = 0)
      : builder(landscape, shuffle), workbench(landscape) {
    tasks = {task("k", 1, landscape)};
    services.builder = &builder;
    services.workbench = &workbench;
    services.proposer = &proposer;
    services.observers = {&events};
    budget[Currency::Variants] = 40;
  }

  ModuleOutcome run() {
    search = std::make_unique<ModuleSearch>(tasks, services, options, budget);
    return search->run();
  }
  std::string tree(size_t index = 0) const {
    const SearchLoop &loop = *search->searches()[index];
    return loop.tree()
               ? printTree(loop.outcome().kernel, *loop.tree(),
                           loop.outcome().winner ? loop.outcome().winner->ticket
                                                 : 0)
               : "";
  }

  FakeBuilder builder;
  FakeWorkbench workbench;
  propose::BuiltinProposer proposer;
  Collector events;
  std::vector<KernelTask> tasks;
  Services services;
  SearchOptions options;
  Budget budget;
  std::unique_ptr<ModuleSearch> search;
};

} // namespace kernelbrain::testing

#endif // KERNELBRAIN_UNITTESTS_SEARCH_WORLD_H
