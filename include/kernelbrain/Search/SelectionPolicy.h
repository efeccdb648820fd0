//===- SelectionPolicy.h - Where the tree grows next ------------*- C++ -*-===//

#ifndef KERNELBRAIN_SEARCH_SELECTIONPOLICY_H
#define KERNELBRAIN_SEARCH_SELECTIONPOLICY_H

#include "kernelbrain/Search/SearchTree.h"

namespace kernelbrain::search {

struct Selection {
  uint64_t parent = 0;
  StepKind step = StepKind::Large;
};

/// UCT with an explicit expand arm. From the root down to the child of the best
/// upper confidence bound, until expanding the node promises more. The root
/// takes large steps only; a failed node is repaired; elsewhere a large step is
/// forced after `smallLimit` small children, and has a chance before that which
/// follows the measured gain per cost of both kinds.
class SelectionPolicy {
public:
  explicit SelectionPolicy(const PolicyOptions &options) : options(options) {}

  /// std::nullopt: nothing can grow until pending results are applied, or ever.
  std::optional<Selection> select(const SearchTree &tree, Random &random) const;
  /// Chance of a large step where it is not forced.
  double largeChance(const SearchTree &tree) const;

private:
  double quality(const Node &node) const;
  std::optional<uint64_t> bestChild(const SearchTree &tree, uint64_t ticket,
                                    double &bound) const;
  StepKind stepAt(const SearchTree &tree, uint64_t ticket,
                  Random &random) const;

  PolicyOptions options;
};

} // namespace kernelbrain::search

#endif // KERNELBRAIN_SEARCH_SELECTIONPOLICY_H
