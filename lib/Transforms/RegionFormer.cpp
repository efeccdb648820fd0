//===- RegionFormer.cpp - Which operations make a kernel ------------------===//

#include "RegionFormer.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace kernelbrain;

RegionFormer::RegionFormer(BlockGraph &graph) : graph(graph) {
  for (Node &node : graph.all())
    if (!node.isTransparent &&
        (node.role == Role::Compute || node.role == Role::Opaque))
      newRegion(&node);
  ArrayRef<Node *> nodes = graph.computes();
  for (Node *node : nodes)
    for (const Edge &edge : node->edges)
      readers[edge.root].push_back(node);
  for (Node *node : nodes) {
    if (isReduction(node->cls))
      visitReduction(node);
    else if (isElementwiseLike(node->cls) || node->cls == OpClass::Transpose ||
             node->cls == OpClass::Gather || node->cls == OpClass::AffineGather)
      visitElementwise(node);
  }
  for (Node *node : llvm::reverse(nodes))
    giveBackEpilogue(node);
  for (Node *node : llvm::reverse(nodes))
    joinOnlyUser(node);
  for (Node *node : nodes)
    joinConcat(node);
}

std::vector<FormedRegion *> RegionFormer::regions() {
  llvm::SetVector<FormedRegion *> regions;
  for (Node *node : graph.computes())
    regions.insert(node->region);
  for (FormedRegion *region : regions) {
    llvm::sort(region->nodes,
               [](Node *a, Node *b) { return a->index < b->index; });
    region->cls = anchorOf(*region);
    region->isGeneralized = isGeneralized(*region);
  }
  return {regions.begin(), regions.end()};
}

FormedRegion *RegionFormer::newRegion(Node *node) {
  pool.push_back(std::make_unique<FormedRegion>());
  pool.back()->nodes.push_back(node);
  node->region = pool.back().get();
  return node->region;
}

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

/// True if a path leads from `from` to `to` through a third region.
bool RegionFormer::reachesAround(FormedRegion *from, FormedRegion *to) {
  unsigned visit = ++visits;
  from->visit = visit;
  SmallVector<FormedRegion *> worklist;
  auto expand = [&](FormedRegion *region) {
    for (Node *node : region->nodes)
      for (Node *next : node->successors) {
        if (next->region == to) {
          if (region != from)
            return true;
          continue;
        }
        if (next->region->visit != visit) {
          next->region->visit = visit;
          worklist.push_back(next->region);
        }
      }
    return false;
  };
  expand(from);
  while (!worklist.empty())
    if (expand(worklist.pop_back_val()))
      return true;
  return false;
}

bool RegionFormer::isLegal(FormedRegion *a, FormedRegion *b) {
  return !reachesAround(a, b) && !reachesAround(b, a);
}

bool RegionFormer::merge(FormedRegion *into, FormedRegion *from) {
  if (into == from)
    return true;
  if (!isLegal(into, from))
    return false;
  for (Node *node : from->nodes)
    node->region = into;
  into->nodes.append(from->nodes);
  from->nodes.clear();
  return true;
}

/// The one region that uses results of `region`; null if there are several, or
/// none, or if results leave.
FormedRegion *RegionFormer::onlySuccessor(FormedRegion *region) {
  FormedRegion *only = nullptr;
  for (Node *node : region->nodes) {
    if (node->escapes)
      return nullptr;
    for (auto &[user, access] : node->users) {
      if (user->region == region || user->region == only)
        continue;
      if (only)
        return nullptr;
      only = user->region;
    }
  }
  return only;
}

static int64_t maxPoints(const FormedRegion &region) {
  int64_t points = 0;
  for (const Node *node : region.nodes)
    points = std::max(points, node->points);
  return points;
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

// A reduction takes reductions of its space that it depends on, elementwise
// producers of at most its space, and siblings that read what it reads.
void RegionFormer::visitReduction(Node *node) {
  Space space(node->facts.rows, node->facts.columns);
  for (const Edge &edge : node->edges) {
    if (!edge.producer)
      continue;
    FormedRegion *region = edge.producer->region;
    Group group = groupOf(*region);
    if (group == Group::Reduction && spaceOf(*region) == space)
      merge(region, node->region);
    else if (group == Group::Elementwise &&
             isElementwiseLike(edge.producer->cls) &&
             (edge.access == Access::Identity ||
              edge.access == Access::Broadcast) &&
             maxPoints(*region) <= node->points)
      merge(region, node->region);
  }
  joinSiblings(node);
}

void RegionFormer::joinSiblings(Node *node) {
  Space space(node->facts.rows, node->facts.columns);
  llvm::SmallSetVector<FormedRegion *, 4> candidates;
  for (const Edge &edge : node->edges)
    for (Node *reader : readers[edge.root])
      candidates.insert(reader->region);
  for (FormedRegion *region : candidates) {
    bool isSibling = llvm::any_of(region->nodes, [&](Node *other) {
      return isReduction(other->cls) && other->index < node->index &&
             Space(other->facts.rows, other->facts.columns) == space;
    });
    if (isSibling)
      merge(region, node->region);
  }
}

void RegionFormer::visitElementwise(Node *node) {
  if (node->cls != OpClass::Transpose)
    for (const Edge &edge : node->edges) {
      if (!edge.producer ||
          (edge.access != Access::Identity &&
           edge.access != Access::Broadcast && edge.access != Access::Gather))
        continue;
      FormedRegion *region = edge.producer->region;
      if (groupOf(*region) != Group::Reduction)
        continue;
      auto [rows, columns] = *spaceOf(*region);
      if (node->points == rows * columns || node->points == rows)
        merge(region, node->region);
    }
  if (node->cls == OpClass::Gather)
    return;
  if (node->region->nodes.size() == 1)
    joinEpilogue(node);
  if (groupOf(*node->region) != Group::Elementwise)
    return;
  for (const Edge &edge : node->edges) {
    if (!edge.producer || edge.producer->cls == OpClass::Gather ||
        edge.producer->points != node->points ||
        (edge.access != Access::Identity && edge.access != Access::Permuted))
      continue;
    FormedRegion *region = edge.producer->region;
    if (groupOf(*region) == Group::Elementwise)
      merge(region, node->region);
  }
}

// Of several products the last one takes the operation.
void RegionFormer::joinEpilogue(Node *node) {
  for (const Edge &edge : llvm::reverse(node->edges)) {
    if (!edge.producer ||
        (edge.access != Access::Identity && edge.access != Access::Permuted))
      continue;
    FormedRegion *region = edge.producer->region;
    Group group = groupOf(*region);
    if ((group == Group::Product || group == Group::Convolution ||
         group == Group::Pooling) &&
        mainPoints(*region) == node->points && merge(region, node->region))
      return;
  }
}

// The last operations of an epilogue go to the one reduction DAG that reads
// them if no more bytes cross (the extf before softmax, the square in a norm).
void RegionFormer::giveBackEpilogue(Node *node) {
  FormedRegion *region = node->region;
  if (!isElementwiseLike(node->cls) || node->escapes || node->users.empty())
    return;
  Group group = groupOf(*region);
  if (group != Group::Product && group != Group::Convolution &&
      group != Group::Pooling)
    return;
  FormedRegion *to = node->users.front().first->region;
  if (to == region || groupOf(*to) != Group::Reduction ||
      llvm::any_of(node->users,
                   [&](const auto &user) { return user.first->region != to; }))
    return;
  auto [rows, columns] = *spaceOf(*to);
  if (node->points != rows * columns)
    return;
  int64_t cost = 0;
  for (const Edge &edge : node->edges)
    if (edge.producer && edge.producer->region == region &&
        llvm::none_of(edge.producer->users, [&](const auto &user) {
          return user.first->region == to;
        }))
      cost += edge.producer->bytesOut;
  if (cost > node->bytesOut)
    return;
  llvm::erase(region->nodes, node);
  if (!merge(to, newRegion(node))) {
    node->region = region;
    region->nodes.push_back(node);
  }
}

/// True if all of `region` may move into `user`, the only region that uses it.
bool RegionFormer::mayJoinUser(FormedRegion *region, FormedRegion *user) {
  bool slices = false, windows = false, permutes = false, gathers = false;
  bool feedsProduct = false;
  for (Node *node : region->nodes)
    for (auto &[other, access] : node->users) {
      if (other->region != user)
        continue;
      slices |= access == Access::Slice;
      windows |= access == Access::Window;
      permutes |= access == Access::Permuted;
      gathers |= access == Access::Gather;
      feedsProduct |= isProduct(other->cls) || isConvolution(other->cls) ||
                      other->cls == OpClass::Pooling;
    }
  Group group = groupOf(*user);
  int64_t mine = maxPoints(*region), theirs = maxPoints(*user);
  OpClass anchor = anchorOf(*region);
  switch (group) {
  case Group::Elementwise:
    return anchorOf(*user) == OpClass::Concat ||
           (mine <= theirs && !slices && !windows);
  case Group::Reduction:
    return mine <= theirs && !slices && !windows && !permutes &&
           (anchor == OpClass::Elementwise || anchor == OpClass::Gather);
  case Group::Product:
  case Group::Convolution:
    if (llvm::all_of(region->nodes, [](Node *node) {
          return node->cls == OpClass::Cast || node->cls == OpClass::Broadcast;
        }))
      return true;
    [[fallthrough]];
  case Group::Pooling:
    return mine * 4 <= theirs && !slices && !windows && !gathers &&
           !feedsProduct;
  case Group::Other:
    return false;
  }
}

void RegionFormer::joinOnlyUser(Node *node) {
  FormedRegion *region = node->region;
  if (groupOf(*region) != Group::Elementwise &&
      anchorOf(*region) != OpClass::Pad)
    return;
  FormedRegion *user = onlySuccessor(region);
  if (user && mayJoinUser(region, user))
    merge(user, region);
}

void RegionFormer::joinConcat(Node *node) {
  if (node->cls != OpClass::Concat)
    return;
  for (const Edge &edge : node->edges)
    if (edge.producer &&
        groupOf(*edge.producer->region) == Group::Elementwise &&
        onlySuccessor(edge.producer->region) == node->region)
      merge(node->region, edge.producer->region);
}
