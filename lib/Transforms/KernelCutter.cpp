//===- KernelCutter.cpp - Finds the border of a region --------------------===//

#include "KernelCutter.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace kernelbrain;

static bool isTensor(Value value) {
  return isa<RankedTensorType>(value.getType());
}

bool KernelCutter::isOnlyMemory(OpOperand &operand) {
  auto op = dyn_cast<linalg::LinalgOp>(operand.getOwner());
  if (!op || !isTensor(operand.get()) || !op.isDpsInit(&operand) ||
      op.payloadUsesValueFromOperand(&operand))
    return false;
  Node *node = graph.nodeOf(operand.get());
  if (isInside(node) || isCarried(node) || (node && node->role == Role::View))
    return false;
  return cast<RankedTensorType>(operand.get().getType()).hasStaticShape() ||
         llvm::is_contained(results, op.getTiedOpResult(&operand));
}

void KernelCutter::forEachRead(Operation *op, function_ref<void(Value)> visit) {
  llvm::SmallPtrSet<OpOperand *, 2> memory;
  for (OpOperand &operand : op->getOpOperands())
    if (isOnlyMemory(operand))
      memory.insert(&operand);
  op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
    for (OpOperand &operand : inner->getOpOperands())
      if (!memory.contains(&operand) &&
          (inner == op ||
           !op->isAncestor(operand.get().getParentBlock()->getParentOp())))
        visit(operand.get());
  });
}

/// True if a kernel can repeat this slice.
static bool isRepeatable(tensor::ExtractSliceOp slice) {
  return llvm::all_of(slice->getOperands().drop_front(), isRecoverableScalar);
}

// Reshapes stay outside, where they cost nothing; slices go inside, for a
// kernel reads dense tensors only.
void KernelCutter::collectBorders(Value value) {
  if (!isTensor(value))
    return;
  Value cut = value, root = value;
  while (Node *node = graph.nodeOf(root)) {
    if (isInside(node) || node->role != Role::View)
      break;
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(node->op)) {
      if (!isRepeatable(slice))
        break;
      cut = slice.getSource();
    }
    root = node->op->getOperand(0);
  }
  Node *node = graph.nodeOf(root);
  if (isInside(node))
    return;
  if (!isCarried(node)) {
    borders[root].insert(cut);
    return;
  }
  forEachRead(node->op, [&](Value operand) { collectBorders(operand); });
}

void KernelCutter::need(Value value) {
  if (border.contains(value)) {
    inputs.insert(value);
    return;
  }
  Node *node = graph.nodeOf(value);
  // Scalars from outside are cloned where they are used.
  if (isTensor(value) || isInside(node))
    need(node->op);
}

void KernelCutter::need(Operation *op) {
  if (ops.contains(op))
    return;
  forEachRead(op, [&](Value operand) { need(operand); });
  ops.insert(op);
}

bool KernelCutter::isUsedOutside(Value value) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    Operation *ancestor = graph.getBlock().findAncestorOpInBlock(*user);
    if (!ancestor || ancestor->getNumResults() == 0)
      return true;
    Node *node = graph.nodeOf(ancestor->getResult(0));
    if (isInside(node))
      return false;
    if (node && (isCarried(node) || node->role == Role::View))
      return llvm::any_of(ancestor->getResults(),
                          [&](Value result) { return isUsedOutside(result); });
    return true;
  });
}

std::optional<KernelCutter::DimKey>
KernelCutter::argumentWithExtent(unsigned extentClass) {
  for (ArrayRef<Value> values : {getInputs(), getResults()})
    for (Value value : values) {
      auto type = cast<RankedTensorType>(value.getType());
      for (int64_t dim : llvm::seq(type.getRank()))
        if (type.isDynamicDim(dim) && dims.of(value, dim) == extentClass)
          return DimKey(value, dim);
    }
  return std::nullopt;
}

bool KernelCutter::canRecover(Value scalar) {
  if (matchPattern(scalar, m_Constant()) || isInside(graph.nodeOf(scalar)))
    return true;
  if (scalar.getType().isIndex() && argumentWithExtent(dims.of(scalar)))
    return true;
  if (!isRecoverableScalar(scalar))
    return false;
  if (auto dim = scalar.getDefiningOp<tensor::DimOp>())
    return inputs.contains(dim.getSource());
  return llvm::all_of(scalar.getDefiningOp()->getOperands(),
                      [&](Value operand) { return canRecover(operand); });
}

std::string KernelCutter::planScalars() {
  bool areRecoverable = true;
  for (Operation *op : ops)
    forEachRead(op, [&](Value operand) {
      if (!isTensor(operand))
        areRecoverable &= canRecover(operand);
    });
  return areRecoverable ? "" : "captures a scalar that is not a constant";
}

/// The extent that the program gave the destination of `result`, if it does not
/// depend on the region.
Value KernelCutter::sizeFromInit(Value result, int64_t dim) {
  auto op = result.getDefiningOp<DestinationStyleOpInterface>();
  if (!op)
    return {};
  Value init = op.getTiedOpOperand(cast<OpResult>(result))->get();
  while (auto fill = init.getDefiningOp<linalg::FillOp>())
    init = fill.getDpsInits()[0];
  auto empty = init.getDefiningOp<tensor::EmptyOp>();
  if (!empty)
    return {};
  Value size = empty.getDynamicSize(dim);
  SmallVector<Value> worklist = {size};
  while (!worklist.empty()) {
    Operation *producer = worklist.pop_back_val().getDefiningOp();
    if (!producer)
      continue;
    if (producer->getNumResults() > 0 &&
        isInside(graph.nodeOf(producer->getResult(0))))
      return {};
    llvm::append_range(worklist, producer->getOperands());
  }
  return size;
}

/// What the program gave the operation to write its result to, if the kernel
/// can write there as well.
Value KernelCutter::givenDestination(Value result) {
  auto op = result.getDefiningOp<DestinationStyleOpInterface>();
  if (!op)
    return {};
  OpOperand *init = op.getTiedOpOperand(cast<OpResult>(result));
  return isOnlyMemory(*init) ? init->get() : Value();
}

std::string KernelCutter::planSizes() {
  Builder builder(graph.getBlock().getParentOp()->getContext());
  for (Value result : results) {
    SmallVector<OpFoldResult> &extents = sizes.emplace_back();
    if (givenDestination(result))
      continue;
    auto type = cast<RankedTensorType>(result.getType());
    for (int64_t dim : llvm::seq(type.getRank())) {
      if (!type.isDynamicDim(dim)) {
        extents.push_back(builder.getIndexAttr(type.getDimSize(dim)));
        continue;
      }
      std::optional<DimKey> same = argumentWithExtent(dims.of(result, dim));
      if (same && inputs.contains(same->first)) {
        extents.push_back(Value()); // tensor.dim of an input, made later
        continue;
      }
      Value size = sizeFromInit(result, dim);
      if (!size)
        return "has a result whose extent is not known before it runs";
      extents.push_back(size);
    }
  }
  return "";
}

std::string KernelCutter::plan() {
  for (Node *node : region.nodes)
    for (Value result : node->op->getResults())
      if (isUsedOutside(result)) {
        if (!isTensor(result))
          return "computes a scalar that the program uses";
        results.push_back(result);
      }
  if (results.empty())
    return "has no result that is used";
  for (Node *node : region.nodes)
    forEachRead(node->op, [&](Value operand) { collectBorders(operand); });
  for (auto &[root, forms] : borders)
    border.insert(forms.size() == 1 ? forms.front() : root);
  // In the order in which the results need them, not in that of the program:
  // kernels that compute the same are then equal.
  for (Node *node : region.nodes)
    if (node->asserts || !isMemoryEffectFree(node->op))
      need(node->op);
  for (Value result : results)
    need(result.getDefiningOp());
  std::string reason = planScalars();
  return reason.empty() ? planSizes() : reason;
}

//===----------------------------------------------------------------------===//
// Order of a block
//===----------------------------------------------------------------------===//

namespace {

/// Puts operations in an order in which regions are together: a topological
/// order of regions and single operations, by the place of the last operation.
class BlockSorter {
public:
  BlockSorter(BlockGraph &graph, ArrayRef<FormedRegion *> regions)
      : graph(graph) {
    for (FormedRegion *region : regions)
      for (Node *node : region->nodes)
        regionOf[node] = region;
  }

  void run();

private:
  bool isItem(const Node &node) const {
    return !node.isTransparent &&
           (node.role == Role::Compute || node.role == Role::Opaque);
  }
  /// The first node of the region, or the node itself.
  Node *leaderOf(Node *node) const {
    FormedRegion *region = regionOf.lookup(node);
    return region ? region->nodes.front() : node;
  }
  ArrayRef<Node *> membersOf(Node *const &leader) const {
    FormedRegion *region = regionOf.lookup(leader);
    return region ? ArrayRef<Node *>(region->nodes) : ArrayRef<Node *>(leader);
  }
  void emit(Node *node);

  BlockGraph &graph;
  llvm::DenseMap<Node *, FormedRegion *> regionOf;
  llvm::DenseSet<Node *> emitted;
  SmallVector<Operation *> order;
};

// Whatever the operation uses comes first; compute nodes that it uses are there
// already.
void BlockSorter::emit(Node *node) {
  if (!emitted.insert(node).second)
    return;
  node->op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (Node *producer = graph.nodeOf(operand))
        emit(producer);
  });
  order.push_back(node->op);
}

void BlockSorter::run() {
  llvm::DenseMap<Node *, unsigned> missing;
  for (Node &node : graph.all())
    if (isItem(node))
      for (Node *next : node.successors)
        if (leaderOf(next) != leaderOf(&node))
          ++missing[leaderOf(next)];
  auto priority = [&](Node *leader) { return membersOf(leader).back()->index; };
  std::set<std::pair<unsigned, Node *>> ready;
  for (Node &node : graph.all())
    if (isItem(node) && leaderOf(&node) == &node && !missing.lookup(&node))
      ready.insert({priority(&node), &node});
  Operation *last = &graph.getBlock().back();
  while (!ready.empty()) {
    Node *leader = ready.begin()->second;
    ready.erase(ready.begin());
    for (Node *node : membersOf(leader)) {
      if (node->op != last)
        emit(node);
      for (Node *next : node->successors) {
        Node *other = leaderOf(next);
        if (other != leader && --missing[other] == 0)
          ready.insert({priority(other), other});
      }
    }
  }
  for (Node &node : graph.all())
    emit(&node);
  for (Operation *op : order)
    if (op != last)
      op->moveBefore(last);
}

} // namespace

void kernelbrain::gatherRegions(BlockGraph &graph,
                                ArrayRef<FormedRegion *> regions) {
  BlockSorter(graph, regions).run();
}
