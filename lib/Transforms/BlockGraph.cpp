//===- BlockGraph.cpp - The dataflow of one block -------------------------===//

#include "BlockGraph.h"

#include "kernelbrain/Dialect/KB/KB.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace kernelbrain;

BlockGraph::BlockGraph(Block &block, int64_t dynamicDim)
    : block(block), dynamicDim(dynamicDim) {
  for (Operation &op : block) {
    Node &node = nodes.emplace_back();
    node.op = &op;
    node.index = nodes.size() - 1;
    byOp[&op] = &node;
  }
  for (Node &node : nodes) {
    classify(node);
    measure(node);
  }
  markTransparent();
  for (Node &node : nodes)
    if (node.role == Role::Compute && !node.isTransparent)
      computeNodes.push_back(&node);
  for (Node *node : computeNodes)
    connect(*node);
  for (Node &node : nodes)
    if (!isPassThrough(node))
      addSuccessors(node);
  orderEffects();
}

Node *BlockGraph::nodeOf(Value value) const {
  Operation *op = value.getDefiningOp();
  return op ? byOp.lookup(op) : nullptr;
}

Root BlockGraph::rootOf(Value value) const {
  Root root{value};
  while (Node *node = nodeOf(root.value)) {
    if (node->role != Role::View)
      break;
    root.isSliced |= isa<tensor::ExtractSliceOp>(node->op);
    root.value = node->op->getOperand(0);
  }
  return root;
}

void BlockGraph::measure(Node &node) {
  if (node.role != Role::Compute && node.stockReason.empty())
    return;
  auto bytes = [&](Type type) -> int64_t {
    auto shaped = dyn_cast<RankedTensorType>(type);
    return shaped ? countElements(shaped, dynamicDim) *
                        byteSizeOf(shaped.getElementType())
                  : 0;
  };
  for (Value result : node.op->getResults()) {
    node.bytesOut += bytes(result.getType());
    if (auto type = dyn_cast<RankedTensorType>(result.getType()))
      node.points = std::max(node.points, countElements(type, dynamicDim));
  }
  for (auto [index, operand] : llvm::enumerate(node.op->getOperands()))
    if (index >= node.facts.reads.size() || node.facts.reads[index])
      node.bytesIn += bytes(operand.getType());
  for (Value gathered : node.facts.gathered)
    node.bytesIn += std::min(bytes(gathered.getType()), node.bytesOut);
  if (!node.facts.maps.empty()) {
    node.points = node.facts.points;
    node.flops = node.facts.flops;
  }
}

//===----------------------------------------------------------------------===//
// Transparent nodes
//===----------------------------------------------------------------------===//

void BlockGraph::collectUsers(Value value,
                              SmallVectorImpl<Operation *> &users) {
  for (Operation *user : value.getUsers()) {
    Operation *ancestor = block.findAncestorOpInBlock(*user);
    Node *node = ancestor ? byOp.lookup(ancestor) : nullptr;
    if (node && node->role == Role::View)
      collectUsers(ancestor->getResult(0), users);
    else
      users.push_back(ancestor);
  }
}

bool BlockGraph::usersAre(Node &node, function_ref<bool(const Node &)> accept) {
  SmallVector<Operation *> users;
  for (Value result : node.op->getResults())
    collectUsers(result, users);
  return !users.empty() && llvm::all_of(users, [&](Operation *user) {
    Node *other = user ? byOp.lookup(user) : nullptr;
    return other && other->role == Role::Compute && accept(*other);
  });
}

static bool isWidening(const Node &node) {
  auto op = dyn_cast<linalg::LinalgOp>(node.op);
  if (!op || node.cls != OpClass::Cast)
    return false;
  Type from = getElementTypeOrSelf(op->getOperand(0).getType());
  Type to = getElementTypeOrSelf(op->getResult(0).getType());
  return byteSizeOf(from) < byteSizeOf(to);
}

// What composes into the indexing of its users, at no cost worth a pass over
// memory.
bool BlockGraph::mayBeTransparent(Node &node) {
  auto isBig = [](const Node &user) {
    return isProduct(user.cls) || isConvolution(user.cls);
  };
  auto isWindowReader = [](const Node &user) {
    return isConvolution(user.cls) || user.cls == OpClass::Pooling ||
           isElementwiseLike(user.cls);
  };
  switch (node.cls) {
  case OpClass::Transpose:
    return usersAre(node, [&](const Node &user) {
      return isBig(user) ||
             (user.isTransparent &&
              (user.cls == OpClass::Transpose || user.cls == OpClass::Cast));
    });
  case OpClass::Cast:
    return isWidening(node) && usersAre(node, isBig);
  case OpClass::Broadcast:
    return usersAre(node, [](const Node &) { return true; });
  case OpClass::AffineGather:
  case OpClass::Dilate:
    return usersAre(node, [&](const Node &user) {
      return isWindowReader(user) || isProduct(user.cls) || user.isTransparent;
    });
  case OpClass::Pad:
    return usersAre(node, isWindowReader);
  default:
    return false;
  }
}

void BlockGraph::markTransparent() {
  for (Node &node : llvm::reverse(nodes))
    if (node.role == Role::Compute && !node.asserts)
      node.isTransparent = mayBeTransparent(node);
}

//===----------------------------------------------------------------------===//
// Edges
//===----------------------------------------------------------------------===//

Access BlockGraph::accessOf(const Node &node, unsigned operand) const {
  auto op = dyn_cast<linalg::LinalgOp>(node.op);
  if (!op || op.getNumDpsInits() == 0)
    return Access::Identity;
  const ReducedMap &map = node.facts.maps[operand];
  const ReducedMap &output =
      node.facts.maps[op.getDpsInitOperand(0)->getOperandNumber()];
  if (map.isWindowed)
    return Access::Window;
  // The points of a reduction are those of its inputs.
  if (node.facts.columns > 1 || output.isWindowed || map.dims == output.dims)
    return Access::Identity;
  SmallVector<unsigned> kept = llvm::filter_to_vector(
      output.dims, [&](unsigned dim) { return map.used.test(dim); });
  return kept == map.dims ? Access::Broadcast : Access::Permuted;
}

void BlockGraph::addEdge(Node &node, Value value, Access access) {
  Root root = rootOf(value);
  if (root.isSliced && access != Access::Window && access != Access::Gather)
    access = Access::Slice;
  Node *producer = nodeOf(root.value);
  if (!producer || producer->role == Role::Opaque) {
    node.edges.push_back({nullptr, access, root.value});
    return;
  }
  if (producer->role == Role::Free)
    return; // Recomputed in every kernel.
  if (!producer->isTransparent) {
    node.edges.push_back({producer, access, root.value});
    return;
  }
  Access through = producer->cls == OpClass::Transpose   ? Access::Permuted
                   : producer->cls == OpClass::Broadcast ? Access::Broadcast
                   : producer->cls == OpClass::Cast      ? access
                                                         : Access::Window;
  for (Value operand : producer->op->getOperands())
    if (isa<RankedTensorType>(operand.getType()))
      addEdge(node, operand, through);
  for (Value gathered : producer->facts.gathered)
    addEdge(node, gathered, through);
}

void BlockGraph::connect(Node &node) {
  if (auto op = dyn_cast<linalg::LinalgOp>(node.op)) {
    for (OpOperand &operand : node.op->getOpOperands())
      if (isa<RankedTensorType>(operand.get().getType()) &&
          node.facts.reads[operand.getOperandNumber()])
        addEdge(node, operand.get(),
                op.isDpsInit(&operand)
                    ? Access::Identity
                    : accessOf(node, operand.getOperandNumber()));
    for (Value gathered : node.facts.gathered)
      addEdge(node, gathered, Access::Gather);
  } else {
    llvm::SetVector<Value> read;
    node.op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (isa<RankedTensorType>(operand.getType()) &&
            !node.op->isAncestor(operand.getParentBlock()->getParentOp()))
          read.insert(operand);
    });
    for (Value value : read)
      addEdge(node, value, Access::Identity);
  }
  for (const Edge &edge : node.edges)
    if (edge.producer)
      edge.producer->users.push_back({&node, edge.access});
}

// Paths through nodes that are cloned or cheap count as direct.
void BlockGraph::addSuccessors(Node &node) {
  llvm::SmallPtrSet<Operation *, 8> seen;
  SmallVector<Operation *> worklist = {node.op};
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    for (Operation *user : op->getUsers()) {
      Operation *ancestor = block.findAncestorOpInBlock(*user);
      if (!ancestor) {
        node.escapes = true;
        continue;
      }
      if (!seen.insert(ancestor).second)
        continue;
      Node *other = byOp.lookup(ancestor);
      if (isPassThrough(*other)) {
        worklist.push_back(ancestor);
        continue;
      }
      node.successors.push_back(other);
      node.escapes |= other->role == Role::Opaque;
    }
  }
}

// Operations with effects keep their order, assertions theirs among them.
void BlockGraph::orderEffects() {
  Node *last = nullptr;
  SmallVector<Node *> assertions;
  for (Node &node : nodes) {
    bool hasEffect = node.role == Role::Opaque && !isMemoryEffectFree(node.op);
    if (!hasEffect && !node.asserts)
      continue;
    if (last)
      last->successors.push_back(&node);
    if (!hasEffect) {
      assertions.push_back(&node);
      continue;
    }
    for (Node *assertion : assertions)
      assertion->successors.push_back(&node);
    assertions.clear();
    last = &node;
  }
}
