//===- SearchTree.h - The variants of a kernel and their origin -*- C++ -*-===//

#ifndef KERNELBRAIN_SEARCH_SEARCHTREE_H
#define KERNELBRAIN_SEARCH_SEARCHTREE_H

#include "kernelbrain/Search/SearchOptions.h"
#include "kernelbrain/Search/Trial.h"

#include <vector>

namespace kernelbrain::search {

/// One variant. Nodes are named by their tickets.
struct Node {
  Trial trial;
  uint64_t lineage = 0; ///< the ancestor that is a child of the root
  bool pending = true;  ///< proposed, no result applied yet
  bool closed = false;  ///< nothing grows here any more
  bool smallDone = false, largeDone = false; ///< the proposer has nothing left
  std::vector<uint64_t> children;            ///< pending ones as well
  // Over this node and everything below it, applied and judged nodes only.
  int visits = 0;
  double total = 0, best = 0;
  int pendingBelow = 0;
  int lossesInRow = 0; ///< results below since the last one that improved best

  /// The result says something about the variant: it was run, is no duplicate
  /// and was not spoiled by our own harness.
  bool judged() const;
  /// Judged and wrong in some way; a repair is what it needs.
  bool failed() const;
};

/// Owns the nodes; node 0 is the baseline. Rewards are functions of the nodes'
/// times and of the bound, which moves when a measurement beats it.
class SearchTree {
public:
  SearchTree(const Trial &baseline, double boundNs,
             const PolicyOptions &options);

  /// Adds the node of a proposed ticket, which must be the next one.
  void propose(const Trial &proposed);
  /// Writes the result of a pending ticket. Closes nodes whose repairs or
  /// patience are used up.
  void apply(const Trial &result);
  /// The proposer has no step of this kind left at `ticket`.
  void exhaust(uint64_t ticket, StepKind step);

  const Node &node(uint64_t ticket) const { return nodes[ticket]; }
  /// Number of nodes, the root included; tickets are 0 .. size() - 1.
  size_t size() const { return nodes.size(); }
  double baselineNs() const;
  double boundNs() const { return bound; }
  /// 0 for a failed variant, 0.05 for a correct one that is not faster than the
  /// baseline, else the share of logarithmic headroom that it closed.
  double reward(const Node &node) const;
  /// Tickets from the root's child to `ticket`, at most the last `length`.
  std::vector<uint64_t> chain(uint64_t ticket, size_t length) const;
  VariantView view(uint64_t ticket) const;
  /// True if steps of some kind may still grow at the node itself.
  bool expandable(uint64_t ticket) const;
  /// True if the node or something below it is expandable.
  bool alive(uint64_t ticket) const;
  int count(uint64_t ticket, StepKind step) const;

private:
  void account(uint64_t ticket);
  void recount();
  void close(uint64_t ticket);

  std::vector<Node> nodes;
  double bound;
  PolicyOptions options;
};

} // namespace kernelbrain::search

#endif // KERNELBRAIN_SEARCH_SEARCHTREE_H
