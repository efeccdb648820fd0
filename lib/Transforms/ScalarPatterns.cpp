//===- ScalarPatterns.cpp - Normalisation of scalar code ------------------===//

#include "NormalizePatterns.h"

#include "kernelbrain/Dialect/KB/KB.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace {

/// True if the maps of `op` without that of `without` still determine the
/// extent of every loop.
bool determinesLoops(linalg::LinalgOp op, OpOperand *without) {
  SmallVector<AffineMap> maps;
  for (OpOperand &operand : op->getOpOperands())
    if (&operand != without)
      maps.push_back(op.getMatchingIndexingMap(&operand));
  if (maps.empty())
    return op.getNumLoops() == 0;
  return static_cast<bool>(
      inversePermutation(concatAffineMaps(maps, op.getContext())));
}

/// An input that holds one value everywhere becomes a constant of the body.
struct InlineSplatOperand : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() ||
        op->hasAttr(kernelbrain::kb::KBDialect::getSkipMarkerName()))
      return failure();
    for (OpOperand *operand : op.getDpsInputOperands()) {
      DenseElementsAttr value;
      if (!matchPattern(operand->get(), m_Constant(&value)) ||
          !value.isSplat() || !determinesLoops(op, operand))
        continue;
      auto scalar = dyn_cast<TypedAttr>(value.getSplatValue<Attribute>());
      if (!scalar || !isa<IntegerType, IndexType, FloatType>(scalar.getType()))
        continue;
      rewriter.setInsertionPoint(op);
      Value constant = arith::ConstantOp::create(rewriter, op.getLoc(), scalar);
      erase(op, operand->getOperandNumber(), constant, rewriter);
      return success();
    }
    return failure();
  }

private:
  static void erase(linalg::GenericOp op, unsigned index, Value constant,
                    PatternRewriter &rewriter) {
    rewriter.modifyOpInPlace(op, [&] {
      Block *body = op.getBody();
      rewriter.replaceAllUsesWith(body->getArgument(index), constant);
      body->eraseArgument(index);
      SmallVector<AffineMap> maps = op.getIndexingMapsArray();
      maps.erase(maps.begin() + index);
      op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
      op.getInputsMutable().erase(index);
    });
  }
};

/// truncf of a constant, rounded to nearest even; upstream folds only what
/// loses nothing.
struct TruncateConstant : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    FloatAttr value;
    auto type = dyn_cast<FloatType>(op.getType());
    if (!type || !matchPattern(op.getIn(), m_Constant(&value)) ||
        op.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even) !=
            arith::RoundingMode::to_nearest_even)
      return failure();
    APFloat number = value.getValue();
    bool losesInfo;
    number.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                   &losesInfo);
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(
        op, FloatAttr::get(type, number));
    return success();
  }
};

/// The product of `count` times `base`.
Value multiply(Value base, int64_t count, Operation *op,
               arith::FastMathFlags flags, PatternRewriter &rewriter) {
  Value product = base;
  for (int64_t i = 1; i < count; ++i)
    product =
        arith::MulFOp::create(rewriter, op->getLoc(), product, base, flags);
  return product;
}

struct ExpandIntegerPower : OpRewritePattern<math::FPowIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::FPowIOp op,
                                PatternRewriter &rewriter) const override {
    APInt exponent;
    if (!matchPattern(op.getRhs(), m_ConstantInt(&exponent)) ||
        (exponent != 2 && exponent != 3))
      return failure();
    rewriter.replaceOp(op, multiply(op.getLhs(), exponent.getSExtValue(), op,
                                    op.getFastmath(), rewriter));
    return success();
  }
};

struct ExpandPower : OpRewritePattern<math::PowFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::PowFOp op,
                                PatternRewriter &rewriter) const override {
    APFloat exponent(0.0);
    if (!matchPattern(op.getRhs(), m_ConstantFloat(&exponent)))
      return failure();
    // Not 0.5: the power of -inf is inf and that of -0 is 0, where the square
    // root is NaN and -0.
    for (int64_t count : {2, 3})
      if (exponent.isExactlyValue(count)) {
        rewriter.replaceOp(
            op, multiply(op.getLhs(), count, op, op.getFastmath(), rewriter));
        return success();
      }
    return failure();
  }
};

} // namespace

void kernelbrain::populateScalarPatterns(RewritePatternSet &patterns) {
  patterns.add<InlineSplatOperand, TruncateConstant, ExpandIntegerPower,
               ExpandPower>(patterns.getContext());
}
