//===- OpClass.cpp - Classes of operations and what they cost -------------===//

#include "OpClass.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kernelbrain;

StringRef kernelbrain::toString(OpClass cls) {
  switch (cls) {
  case OpClass::Fill:
    return "fill";
  case OpClass::Iota:
    return "iota";
  case OpClass::Copy:
  case OpClass::Broadcast:
  case OpClass::Cast:
  case OpClass::Elementwise:
  case OpClass::SliceCopy:
    return "elementwise";
  case OpClass::PermutingElementwise:
  case OpClass::Transpose:
    return "transpose";
  case OpClass::Stencil:
    return "stencil";
  case OpClass::Gather:
    return "gather";
  case OpClass::AffineGather:
    return "affine-gather";
  case OpClass::Contraction:
    return "contraction";
  case OpClass::Matvec:
    return "matvec";
  case OpClass::Dot:
  case OpClass::TwoOperandReduction:
    return "two-operand-reduction";
  case OpClass::Convolution:
    return "convolution";
  case OpClass::GroupedConvolution:
    return "grouped-convolution";
  case OpClass::DepthwiseConvolution:
    return "depthwise-convolution";
  case OpClass::Pooling:
    return "pooling";
  case OpClass::RowReduction:
    return "row-reduction";
  case OpClass::ColumnReduction:
    return "column-reduction";
  case OpClass::MultiAxisReduction:
    return "multi-axis-reduction";
  case OpClass::FullReduction:
    return "full-reduction";
  case OpClass::Concat:
    return "concat";
  case OpClass::Pad:
    return "pad";
  case OpClass::Dilate:
    return "dilate";
  case OpClass::Scan:
    return "scan";
  case OpClass::RecurrentLoop:
    return "recurrent-loop";
  case OpClass::Other:
    return "other";
  }
}

bool kernelbrain::isElementwiseLike(OpClass cls) {
  return cls >= OpClass::Copy && cls <= OpClass::Stencil;
}

bool kernelbrain::isReduction(OpClass cls) {
  return cls == OpClass::Dot || cls == OpClass::TwoOperandReduction ||
         (cls >= OpClass::RowReduction && cls <= OpClass::FullReduction);
}

bool kernelbrain::isProduct(OpClass cls) {
  return cls == OpClass::Contraction || cls == OpClass::Matvec;
}

bool kernelbrain::isConvolution(OpClass cls) {
  return cls >= OpClass::Convolution && cls <= OpClass::DepthwiseConvolution;
}

int64_t kernelbrain::countElements(ShapedType type, int64_t dynamicDim) {
  int64_t count = 1;
  for (int64_t extent : type.getShape())
    count *= ShapedType::isDynamic(extent) ? dynamicDim : extent;
  return count;
}

int64_t kernelbrain::byteSizeOf(Type elementType) {
  if (elementType.isIndex())
    return 8;
  if (elementType.isIntOrFloat())
    return llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8);
  return 8;
}

/// In multiples of an addition, as the spike's tables measured them.
static double operationCost(Operation &op) {
  return llvm::TypeSwitch<Operation *, double>(&op)
      .Case<linalg::YieldOp, linalg::IndexOp, arith::IndexCastOp,
            arith::ConstantOp, cf::AssertOp>([](auto) { return 0; })
      .Case<math::ExpOp, math::LogOp>([](auto) { return 8; })
      .Case<math::TanhOp, math::SinOp, math::CosOp>([](auto) { return 12; })
      .Case([](math::ErfOp) { return 16; })
      .Case<math::Log1pOp, math::ExpM1Op>([](auto) { return 10; })
      .Case<math::RsqrtOp, math::SqrtOp, arith::DivFOp, math::FPowIOp>(
          [](auto) { return 4; })
      .Case([](math::PowFOp) { return 20; })
      .Case([](math::Exp2Op) { return 6; })
      .Default([](auto) { return 1; });
}

double kernelbrain::scalarFlops(Block &block) {
  double flops = 0;
  for (Operation &op : block)
    flops += operationCost(op);
  return flops;
}
