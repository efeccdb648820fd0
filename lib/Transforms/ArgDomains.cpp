//===- ArgDomains.cpp - Which integers an argument may hold ---------------===//

#include "ArgDomains.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace kernelbrain;

namespace {

/// Follows an index of extent `extent` back to the arguments of the kernel.
class IndexTracer {
public:
  IndexTracer(kb::KernelOp kernel, int64_t extent)
      : kernel(kernel), extent(extent) {}

  /// The arguments whose values reach the index.
  llvm::SetVector<BlockArgument> reached;
  /// True if values in [0, extent) of these arguments keep the index there.
  bool isProven = true;

  void traceScalar(Value value);

private:
  void traceTensor(Value tensor);
  void giveUp(ValueRange operands) {
    isProven = false;
    for (Value operand : operands)
      isa<TensorType>(operand.getType()) ? traceTensor(operand)
                                         : traceScalar(operand);
  }

  kb::KernelOp kernel;
  int64_t extent;
  llvm::DenseSet<Value> seen;
};

void IndexTracer::traceScalar(Value value) {
  if (!seen.insert(value).second)
    return;
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    isProven &= constant.isNonNegative() && constant.slt(extent);
    return;
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto op = dyn_cast<linalg::LinalgOp>(argument.getOwner()->getParentOp());
    if (op && argument.getArgNumber() < op->getNumOperands())
      return traceTensor(op.getMatchingOpOperand(argument)->get());
    isProven = false;
    return;
  }
  Operation *op = value.getDefiningOp();
  if (isa<linalg::IndexOp>(op))
    return;
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op))
    return traceScalar(op->getOperand(0));
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    traceScalar(select.getTrueValue());
    return traceScalar(select.getFalseValue());
  }
  giveUp(op->getOperands());
}

void IndexTracer::traceTensor(Value tensor) {
  if (!seen.insert(tensor).second)
    return;
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    if (argument.getOwner() == &kernel.getBody().front())
      reached.insert(argument);
    else
      isProven = false;
    return;
  }
  Operation *op = tensor.getDefiningOp();
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp,
          tensor::ExtractSliceOp>(op))
    return traceTensor(op->getOperand(0));
  DenseElementsAttr constant;
  if (matchPattern(tensor, m_Constant(&constant)) &&
      isa<IntegerType, IndexType>(constant.getElementType())) {
    for (const APInt &value : constant.getValues<APInt>())
      isProven &= value.isNonNegative() && value.slt(extent);
    return;
  }
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (linalgOp && linalgOp.getNumParallelLoops() == linalgOp.getNumLoops())
    return traceScalar(linalgOp.getBlock()->getTerminator()->getOperand(
        cast<OpResult>(tensor).getResultNumber()));
  giveUp(op->getOperands());
}

} // namespace

void kernelbrain::inferArgDomains(kb::KernelOp kernel) {
  llvm::DenseMap<BlockArgument, int64_t> highs;
  llvm::DenseSet<BlockArgument> unproven;
  kernel.getBody().walk([&](tensor::ExtractOp extract) {
    auto type = cast<RankedTensorType>(extract.getTensor().getType());
    for (auto [dim, index] : llvm::enumerate(extract.getIndices())) {
      int64_t extent = type.getDimSize(dim);
      bool isKnown = !ShapedType::isDynamic(extent);
      IndexTracer tracer(kernel, isKnown ? extent : 0);
      tracer.traceScalar(index);
      for (BlockArgument argument : tracer.reached) {
        if (!isKnown || !tracer.isProven)
          unproven.insert(argument);
        auto [entry, isNew] = highs.try_emplace(argument, extent);
        entry->second = std::min(entry->second, extent);
      }
    }
  });
  SmallVector<Attribute> specs;
  bool hasSpec = false;
  Builder builder(kernel.getContext());
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    Type type = cast<RankedTensorType>(argument.getType()).getElementType();
    auto high = highs.find(argument);
    if (high == highs.end() || unproven.contains(argument) ||
        !isa<IntegerType, IndexType>(type) ||
        (!type.isIndex() && type.getIntOrFloatBitWidth() < 64 &&
         high->second >= (int64_t(1) << (type.getIntOrFloatBitWidth() - 1)))) {
      specs.push_back(builder.getUnitAttr());
      continue;
    }
    hasSpec = true;
    specs.push_back(kb::ArgAttr::get(
        kernel.getContext(), cast<TypedAttr>(builder.getIntegerAttr(type, 0)),
        cast<TypedAttr>(builder.getIntegerAttr(type, high->second)), 1,
        DenseI64ArrayAttr()));
  }
  if (hasSpec)
    kernel.setArgSpecsAttr(builder.getArrayAttr(specs));
}
