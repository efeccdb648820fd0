//===- PrintTree.h - The tree as text ---------------------------*- C++ -*-===//

#ifndef KERNELBRAIN_SEARCH_PRINTTREE_H
#define KERNELBRAIN_SEARCH_PRINTTREE_H

#include "kernelbrain/Search/SearchTree.h"

namespace kernelbrain::search {

/// Renders the tree, a node a line, children indented below their parent:
/// ticket, step, proposer, disposition, speedup, and what changed against the
/// parent. `winner` (0: none) is marked with '*'.
std::string printTree(const std::string &kernel, const SearchTree &tree,
                      uint64_t winner);

/// What `recipe` changes against `parent`: "unroll 2 -> 4, vector 8 -> 16", or
/// the strategy with all its knobs where the strategy differs.
std::string describeChange(const Recipe &parent, const Recipe &recipe);

} // namespace kernelbrain::search

#endif // KERNELBRAIN_SEARCH_PRINTTREE_H
