//===- BlockGraphRoles.cpp - What becomes of an operation -----------------===//

#include "BlockGraph.h"

#include "kernelbrain/Dialect/KB/KB.h"
#include "kernelbrain/Transforms/KernelInfo.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace kernelbrain;

/// A constant with more elements than this is data of the program.
static constexpr int64_t maxClonedElements = 64;

/// A loop whose step multiplies more than this is no recurrence but a loop
/// over kernels.
static constexpr double maxRecurrentStepFlops = 1e7;

bool kernelbrain::isRecoverableScalar(Value value) {
  if (matchPattern(value, m_Constant()))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || !value.getType().isIndex())
    return false;
  if (auto dim = dyn_cast<tensor::DimOp>(op))
    return dim.getConstantIndex().has_value();
  return op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         isa<arith::ArithDialect, affine::AffineDialect>(op->getDialect()) &&
         llvm::all_of(op->getOperands(), isRecoverableScalar);
}

static bool isTensorWork(Operation *op) {
  auto isTensor = llvm::IsaPred<TensorType>;
  return llvm::any_of(op->getOperandTypes(), isTensor) ||
         llvm::any_of(op->getResultTypes(), isTensor);
}

/// More elements than any machine holds; their product may overflow.
static bool isTooLarge(TensorType tensor) {
  constexpr int64_t most = int64_t(1) << 40;
  int64_t count = 1;
  for (int64_t extent : tensor.getShape()) {
    if (extent == 0)
      return false;
    if (!ShapedType::isDynamic(extent) &&
        (__builtin_mul_overflow(count, extent, &count) || count > most))
      count = most + 1;
  }
  return count > most;
}

static std::string whyUnknownType(Type type) {
  auto tensor = dyn_cast<TensorType>(type);
  if (!tensor)
    return {};
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (!tensor.hasRank())
    return "holds an unranked tensor";
  if (!coreElementType(tensor.getElementType()))
    stream << "holds elements of type " << tensor.getElementType();
  else if (cast<RankedTensorType>(tensor).getEncoding())
    stream << "holds a tensor with the encoding "
           << cast<RankedTensorType>(tensor).getEncoding();
  else if (isTooLarge(tensor))
    stream << "holds a tensor of more than 2^40 elements";
  else if (tensor.hasStaticShape() && tensor.getNumElements() == 0)
    stream << "holds a tensor without elements";
  return text;
}

std::string kernelbrain::whyUnknown(Operation *root) {
  std::string reason;
  root->walk([&](Operation *op) {
    bool isKnown = isa_and_nonnull<arith::ArithDialect, math::MathDialect,
                                   linalg::LinalgDialect, tensor::TensorDialect,
                                   scf::SCFDialect, affine::AffineDialect,
                                   index::IndexDialect>(op->getDialect()) ||
                   isa<cf::AssertOp>(op);
    if (!isKnown) {
      reason = "holds '" + op->getName().getStringRef().str() +
               "', which a kernel may not hold";
      return WalkResult::interrupt();
    }
    for (TypeRange types :
         {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
      for (Type type : types) {
        if (isa<BaseMemRefType>(type))
          reason = "holds buffers";
        else
          reason = whyUnknownType(type);
        if (!reason.empty())
          return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return reason;
}

/// Scalars from outside `op` that a kernel cannot compute.
static bool capturesScalar(Operation *op) {
  return op
      ->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands()) {
          bool isOutside =
              !op->isAncestor(operand.getParentBlock()->getParentOp());
          if (isOutside && !isa<TensorType>(operand.getType()) &&
              !isRecoverableScalar(operand))
            return WalkResult::interrupt();
        }
        return WalkResult::advance();
      })
      .wasInterrupted();
}

// Values made of iotas and constants alone: masks.
bool BlockGraph::isIndexMath(const Node &node) const {
  if (!isElementwiseLike(node.cls) || node.asserts)
    return false;
  for (auto [index, operand] : llvm::enumerate(node.op->getOperands())) {
    if (!node.facts.reads[index] || !isa<RankedTensorType>(operand.getType()))
      continue;
    Node *producer = nodeOf(rootOf(operand).value);
    if (!producer || producer->role != Role::Free)
      return false;
  }
  return node.facts.gathered.empty();
}

void BlockGraph::classifyLinalg(Node &node, linalg::LinalgOp op) {
  if (capturesScalar(op)) {
    node.stockReason = "captures a scalar that is not a constant";
    return;
  }
  node.facts = analyzeOp(op, dynamicDim);
  node.cls = node.facts.cls;
  node.asserts = node.facts.asserts;
  if (node.cls == OpClass::Other) {
    node.stockReason = "belongs to no known class";
    return;
  }
  bool isFree = node.cls == OpClass::Fill || node.cls == OpClass::Iota ||
                isIndexMath(node);
  node.role = isFree && !node.asserts ? Role::Free : Role::Compute;
}

void BlockGraph::classifyTensorOp(Node &node) {
  Operation *op = node.op;
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp,
          tensor::ExtractSliceOp>(op)) {
    node.role = Role::View;
    return;
  }
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    node.cls = OpClass::Pad;
    Value padding = pad.getConstantPaddingValue();
    if (!padding || !matchPattern(padding, m_Constant()) ||
        !pad.getLow().empty() || !pad.getHigh().empty())
      node.stockReason = "pads by amounts or values that are not constants";
  } else if (isa<tensor::ConcatOp>(op)) {
    node.cls = OpClass::Concat;
  } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    Node *into = nodeOf(rootOf(insert.getDest()).value);
    bool intoFill = into && into->cls == OpClass::Fill;
    bool isStrided = llvm::any_of(insert.getStaticStrides(),
                                  [](int64_t stride) { return stride != 1; });
    node.cls = !intoFill   ? OpClass::Concat
               : isStrided ? OpClass::Dilate
                           : OpClass::Pad;
    if (capturesScalar(op))
      node.stockReason = "captures a scalar that is not a constant";
  } else if (isa<tensor::ExtractOp>(op)) {
    return;
  } else {
    node.stockReason = "is an operation that no kernel is cut from";
  }
  if (node.stockReason.empty())
    node.role = Role::Compute;
}

// A loop over one step of its tensors is one kernel: a scan if the step is
// elementwise, a recurrence if it holds a small product.
void BlockGraph::classifyLoop(Node &node) {
  auto loop = dyn_cast<scf::ForOp>(node.op);
  if (!loop || loop.getNumRegionIterArgs() == 0)
    return;
  bool slices = false, inserts = false, isPlain = true;
  double productFlops = 0, flops = 0;
  loop.getBody()->walk([&](Operation *inner) {
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(inner))
      slices |= llvm::is_contained(slice.getOffsets(), loop.getInductionVar());
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(inner))
      inserts |=
          llvm::is_contained(insert.getOffsets(), loop.getInductionVar());
    if (auto op = dyn_cast<linalg::LinalgOp>(inner)) {
      OpFacts facts = analyzeOp(op, dynamicDim);
      flops += facts.flops;
      if (isProduct(facts.cls))
        productFlops += facts.flops;
      isPlain &= isElementwiseLike(facts.cls) || isProduct(facts.cls) ||
                 facts.readsNothing;
    }
    if (isa<LoopLikeOpInterface>(inner))
      isPlain = false;
  });
  if (!slices || !isPlain || productFlops > maxRecurrentStepFlops ||
      (!inserts && productFlops == 0) || capturesScalar(loop) ||
      !whyUnknown(loop).empty())
    return;
  node.role = Role::Compute;
  node.cls = productFlops > 0 ? OpClass::RecurrentLoop : OpClass::Scan;
  std::optional<APInt> trips = loop.getStaticTripCount();
  node.flops = flops * (trips ? trips->getSExtValue() : dynamicDim);
}

void BlockGraph::classify(Node &node) {
  Operation *op = node.op;
  if (op->hasAttr(kb::KBDialect::getSkipMarkerName()))
    return;
  if (op->hasTrait<OpTrait::ConstantLike>()) {
    auto type = dyn_cast<ShapedType>(op->getResult(0).getType());
    DenseElementsAttr value;
    bool isSmall =
        !type ||
        (type.hasStaticShape() && type.getNumElements() <= maxClonedElements) ||
        (matchPattern(op, m_Constant(&value)) && value.isSplat());
    node.role = isSmall && whyUnknown(op).empty() ? Role::Free : Role::Opaque;
    return;
  }
  if (isa<tensor::EmptyOp, tensor::DimOp>(op)) {
    node.role = Role::Free;
    return;
  }
  if (!isTensorWork(op)) {
    if (op->getNumRegions() == 0 && op->getNumResults() > 0 && isPure(op))
      node.role = Role::Free;
    return;
  }
  if (op->hasTrait<OpTrait::IsTerminator>() || isa<kb::CallOp>(op))
    return;
  if (isa_and_nonnull<scf::SCFDialect>(op->getDialect()))
    return classifyLoop(node);
  node.stockReason = whyUnknown(op);
  if (!node.stockReason.empty())
    return;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return classifyLinalg(node, linalgOp);
  if (isa_and_nonnull<tensor::TensorDialect>(op->getDialect()))
    return classifyTensorOp(node);
  node.stockReason = "is an operation that no kernel is cut from";
}
