//===- SelectionPolicy.cpp - Where the tree grows next --------------------===//

#include "kernelbrain/Search/SelectionPolicy.h"

#include <cmath>
#include <limits>

namespace kernelbrain::search {

double SelectionPolicy::quality(const Node &node) const {
  if (node.visits == 0)
    return 0;
  double mean = node.total / node.visits;
  return options.alpha * node.best + (1 - options.alpha) * mean;
}

/// Visits, with proposals in flight counted as if they had been made: the next
/// ticket of the window then looks elsewhere.
static double visits(const Node &node) {
  return node.visits + node.pendingBelow + (node.pending ? 1 : 0);
}

std::optional<uint64_t> SelectionPolicy::bestChild(const SearchTree &tree,
                                                   uint64_t ticket,
                                                   double &bound) const {
  std::optional<uint64_t> best;
  double logVisits = std::log(std::max(1.0, visits(tree.node(ticket))));
  for (uint64_t child : tree.node(ticket).children) {
    const Node &node = tree.node(child);
    if (node.pending || !tree.alive(child))
      continue;
    double value =
        quality(node) + options.exploration *
                            std::sqrt(logVisits / std::max(1.0, visits(node)));
    // Of equals the older one, so that the choice has one meaning.
    if (!best || value > bound) {
      best = child;
      bound = value;
    }
  }
  return best;
}

double SelectionPolicy::largeChance(const SearchTree &tree) const {
  struct Arm {
    double gain = 0, cost = 0, steps = 0;
  } small, large;
  for (uint64_t ticket = 1; ticket < tree.size(); ++ticket) {
    const Node &node = tree.node(ticket);
    if (!node.judged() || node.trial.parent == 0)
      continue;
    StepKind step = node.trial.step;
    if (step != StepKind::Small && step != StepKind::Large)
      continue;
    Arm &arm = step == StepKind::Small ? small : large;
    double before = tree.reward(tree.node(node.trial.parent));
    arm.gain += std::max(0.0, tree.reward(node) - before);
    arm.cost += static_cast<double>(node.trial.costs.compileNs() +
                                    node.trial.costs.deviceNs());
    arm.steps += 1;
  }
  double evidence = std::min(small.steps, large.steps);
  double smallRate = small.cost > 0 ? small.gain / small.cost : 0;
  double largeRate = large.cost > 0 ? large.gain / large.cost : 0;
  if (!(smallRate + largeRate > 0))
    return options.largeChance;
  // Neither kind is ever given up: what gains nothing now may gain later.
  double measured =
      std::min(0.8, std::max(0.05, largeRate / (smallRate + largeRate)));
  return (options.banditPrior * options.largeChance + evidence * measured) /
         (options.banditPrior + evidence);
}

StepKind SelectionPolicy::stepAt(const SearchTree &tree, uint64_t ticket,
                                 Random &random) const {
  const Node &node = tree.node(ticket);
  // Drawn always, so that the stream does not depend on the branch taken.
  bool wantsLarge = random.chance(largeChance(tree));
  if (ticket == 0)
    return StepKind::Large;
  if (node.failed())
    return StepKind::Repair;
  if (node.smallDone)
    return StepKind::Large;
  if (node.largeDone)
    return StepKind::Small;
  bool forced = tree.count(ticket, StepKind::Small) >= options.smallLimit;
  return forced || wantsLarge ? StepKind::Large : StepKind::Small;
}

std::optional<Selection> SelectionPolicy::select(const SearchTree &tree,
                                                 Random &random) const {
  if (!tree.alive(0))
    return std::nullopt;
  uint64_t at = 0;
  for (;;) {
    const Node &node = tree.node(at);
    double childBound = -std::numeric_limits<double>::infinity();
    std::optional<uint64_t> child = bestChild(tree, at, childBound);
    bool expand = tree.expandable(at);
    if (expand && child) {
      double best = 0;
      for (uint64_t each : node.children)
        best = std::max(best, quality(tree.node(each)));
      double children = static_cast<double>(node.children.size());
      double bound =
          best + options.exploration * options.expansion *
                     std::sqrt(std::log(std::max(1.0, visits(node)))) /
                     children;
      expand = bound > childBound;
    }
    if (expand)
      return Selection{at, stepAt(tree, at, random)};
    if (!child)
      return std::nullopt;
    at = *child;
  }
}

} // namespace kernelbrain::search
