//===- DeviceMath.cpp - Approximate mathematics of the GPU ----------------===//

#include "Device.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kernelbrain::compile {

static Value constantF32(OpBuilder &builder, Location loc, float value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getF32FloatAttr(value));
}

static Value callIntrinsic(OpBuilder &builder, Location loc, StringRef name,
                           ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(builder, loc, builder.getF32Type(),
                                       builder.getStringAttr(name), operands)
      .getResult(0);
}

// Each is one instruction, two for the natural bases. Results of ex2 that are
// no normal numbers become zero; other instructions take and give them.
static Value approximate(OpBuilder &builder, Operation *op,
                         ValueRange operands) {
  Location loc = op->getLoc();
  auto call = [&](StringRef name, ValueRange values) {
    return callIntrinsic(builder, loc, name, values);
  };
  auto scaled = [&](Value value, float factor) -> Value {
    return arith::MulFOp::create(builder, loc, value,
                                 constantF32(builder, loc, factor));
  };
  constexpr float log2OfE = 1.44269504f, logOf2 = 0.693147182f;
  constexpr const char *ex2 = "llvm.nvvm.ex2.approx.ftz.f";
  constexpr const char *lg2 = "llvm.nvvm.lg2.approx.f";
  if (isa<math::Exp2Op>(op))
    return call(ex2, operands);
  if (isa<math::ExpOp>(op))
    return call(ex2, scaled(operands[0], log2OfE));
  if (isa<math::Log2Op>(op))
    return call(lg2, operands);
  if (isa<math::LogOp>(op))
    return scaled(call(lg2, operands), logOf2);
  if (isa<math::SqrtOp>(op))
    return call("llvm.nvvm.sqrt.approx.f", operands);
  if (isa<math::RsqrtOp>(op))
    return call("llvm.nvvm.rsqrt.approx.f", operands);
  if (isa<math::TanhOp>(op))
    return LLVM::CallIntrinsicOp::create(
               builder, loc, builder.getF32Type(),
               builder.getStringAttr("llvm.tanh"), operands,
               LLVM::FastmathFlagsAttr::get(builder.getContext(),
                                            LLVM::FastmathFlags::afn))
        .getResult(0);
  return {};
}

static bool hasApproximation(Operation *op) {
  if (!isa<math::Exp2Op, math::ExpOp, math::Log2Op, math::LogOp, math::SqrtOp,
           math::RsqrtOp, math::TanhOp>(op) ||
      !getElementTypeOrSelf(op->getResult(0)).isF32())
    return false;
  auto flags = cast<arith::ArithFastMathInterface>(op).getFastMathFlagsAttr();
  return bitEnumContainsAll(flags.getValue(), arith::FastMathFlags::afn);
}

LogicalResult lowerApproximateMath(Operation *root) {
  SmallVector<Operation *> found;
  root->walk([&](Operation *op) {
    if (hasApproximation(op))
      found.push_back(op);
  });
  for (Operation *op : found) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    auto type = dyn_cast<VectorType>(op->getResult(0).getType());
    if (!type) {
      op->replaceAllUsesWith(
          ValueRange{approximate(builder, op, op->getOperands())});
      op->erase();
      continue;
    }
    if (type.getRank() != 1 || type.isScalable())
      return op->emitOpError("expected a vector of one dimension, found ")
             << type;
    SmallVector<Value> elements;
    for (int64_t lane = 0; lane < type.getDimSize(0); ++lane) {
      SmallVector<Value> operands;
      for (Value operand : op->getOperands())
        operands.push_back(
            vector::ExtractOp::create(builder, loc, operand, lane));
      elements.push_back(approximate(builder, op, operands));
    }
    op->replaceAllUsesWith(ValueRange{
        vector::FromElementsOp::create(builder, loc, type, elements)});
    op->erase();
  }
  return success();
}

} // namespace kernelbrain::compile
