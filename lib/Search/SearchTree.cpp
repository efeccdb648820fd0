//===- SearchTree.cpp - The variants of a kernel and their origin ---------===//

#include "kernelbrain/Search/SearchTree.h"

#include <cmath>

namespace kernelbrain::search {

bool Node::judged() const {
  Disposition disposition = trial.measurement.disposition;
  return !pending && disposition != Disposition::Duplicate &&
         disposition != Disposition::NotRun &&
         disposition != Disposition::HarnessFault;
}

bool Node::failed() const {
  return judged() && !isCorrect(trial.measurement.disposition);
}

SearchTree::SearchTree(const Trial &baseline, double boundNs,
                       const PolicyOptions &options)
    : bound(boundNs), options(options) {
  Node root;
  root.trial = baseline;
  root.pending = false;
  // Small steps and repairs need a variant to start from.
  root.smallDone = true;
  nodes.push_back(std::move(root));
}

double SearchTree::baselineNs() const {
  return static_cast<double>(nodes.front().trial.measurement.timeNs);
}

//===----------------------------------------------------------------------===//
// Rewards
//===----------------------------------------------------------------------===//

/// AdaExplore's cap on speedups stands in where no usable bound is known.
static constexpr double unknownHeadroom = 10;
/// What a correct variant gets at least (AdaExplore: 0.05).
static constexpr double correctReward = 0.05;

double SearchTree::reward(const Node &node) const {
  const Measurement &measurement = node.trial.measurement;
  if (!node.judged() || !isCorrect(measurement.disposition))
    return 0;
  if (!measurement.speedup || !(measurement.speedup->middle > 1) ||
      measurement.disposition == Disposition::Unstable)
    return correctReward;
  double headroom = bound > 0 ? baselineNs() / bound : unknownHeadroom;
  if (!(headroom > 1))
    headroom = unknownHeadroom;
  double share = std::log(measurement.speedup->middle) / std::log(headroom);
  return std::min(1.0, std::max(correctReward, share));
}

/// Adds a judged node to itself and everything above it.
void SearchTree::account(uint64_t ticket) {
  double gain = reward(nodes[ticket]);
  for (uint64_t at = ticket;; at = nodes[at].trial.parent) {
    Node &node = nodes[at];
    ++node.visits;
    node.total += gain;
    node.best = std::max(node.best, gain);
    if (at == 0)
      return;
  }
}

void SearchTree::recount() {
  for (Node &node : nodes) {
    node.visits = 0;
    node.total = node.best = 0;
  }
  for (uint64_t ticket = 1; ticket < nodes.size(); ++ticket)
    if (nodes[ticket].judged())
      account(ticket);
}

//===----------------------------------------------------------------------===//
// Growth
//===----------------------------------------------------------------------===//

void SearchTree::propose(const Trial &proposed) {
  Node node;
  node.trial = proposed;
  uint64_t parent = proposed.parent;
  node.lineage = parent == 0 ? proposed.ticket : nodes[parent].lineage;
  nodes[parent].children.push_back(proposed.ticket);
  nodes.push_back(std::move(node));
  for (uint64_t at = parent;; at = nodes[at].trial.parent) {
    ++nodes[at].pendingBelow;
    if (at == 0)
      return;
  }
}

void SearchTree::close(uint64_t ticket) {
  if (ticket != 0)
    nodes[ticket].closed = true;
}

void SearchTree::apply(const Trial &result) {
  uint64_t ticket = result.ticket;
  Node &node = nodes[ticket];
  node.trial = result;
  node.pending = false;
  for (uint64_t at = result.parent;; at = nodes[at].trial.parent) {
    --nodes[at].pendingBelow;
    if (at == 0)
      break;
  }
  double before = nodes[result.parent].best;
  if (node.judged()) {
    double speedup =
        result.measurement.speedup && isCorrect(result.measurement.disposition)
            ? result.measurement.speedup->middle
            : 0;
    double time = speedup > 0 ? baselineNs() / speedup : 0;
    if (time > 0 && bound > 0 && time < bound) {
      bound = time;
      recount();
    } else {
      account(ticket);
    }
  } else {
    // A duplicate grows at its first node; what was not judged grows nowhere.
    close(ticket);
  }
  // An edit that changed nothing is no evidence against a variant, but many in
  // a row say that nothing is left to change.
  bool neutral = result.measurement.disposition == Disposition::NotRun ||
                 result.measurement.disposition == Disposition::HarnessFault;
  bool improved = node.judged() && reward(node) > before;
  for (uint64_t at = result.parent; at != 0 && !neutral;
       at = nodes[at].trial.parent) {
    nodes[at].lossesInRow = improved ? 0 : nodes[at].lossesInRow + 1;
    if (nodes[at].lossesInRow >= options.deadEnd)
      close(at);
  }
}

void SearchTree::exhaust(uint64_t ticket, StepKind step) {
  if (step == StepKind::Large)
    nodes[ticket].largeDone = true;
  else
    nodes[ticket].smallDone = true;
}

int SearchTree::count(uint64_t ticket, StepKind step) const {
  int count = 0;
  for (uint64_t child : nodes[ticket].children)
    // An edit that changed nothing was free.
    count += nodes[child].trial.step == step &&
             (nodes[child].pending || nodes[child].judged());
  return count;
}

bool SearchTree::expandable(uint64_t ticket) const {
  const Node &node = nodes[ticket];
  if (node.pending || node.closed)
    return false;
  if (node.failed())
    return !node.smallDone &&
           count(ticket, StepKind::Repair) < options.repairLimit;
  return !node.smallDone || !node.largeDone;
}

bool SearchTree::alive(uint64_t ticket) const {
  if (expandable(ticket))
    return true;
  if (nodes[ticket].closed)
    return false;
  for (uint64_t child : nodes[ticket].children)
    if (alive(child))
      return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

std::vector<uint64_t> SearchTree::chain(uint64_t ticket, size_t length) const {
  std::vector<uint64_t> tickets;
  for (; ticket != 0 && tickets.size() < length;
       ticket = nodes[ticket].trial.parent)
    tickets.push_back(ticket);
  std::reverse(tickets.begin(), tickets.end());
  return tickets;
}

VariantView SearchTree::view(uint64_t ticket) const {
  const Node &node = nodes[ticket];
  VariantView view;
  view.ticket = ticket;
  view.recipe = node.trial.recipe;
  view.measurement = node.trial.measurement;
  view.cell = node.trial.cell;
  view.reward = ticket == 0 ? 0 : reward(node);
  return view;
}

} // namespace kernelbrain::search
