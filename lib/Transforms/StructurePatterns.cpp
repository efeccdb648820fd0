//===- StructurePatterns.cpp - Normalisation of linalg structure ----------===//

#include "NormalizePatterns.h"

#include "kernelbrain/Dialect/KB/KB.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace {

bool isSkipped(Operation *op) {
  return op->hasAttr(kernelbrain::kb::KBDialect::getSkipMarkerName());
}

/// Products, convolutions and pooling keep their names: strategies know them.
struct GeneralizeOthers : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    if (isa<linalg::GenericOp, linalg::FillOp>(op) || isSkipped(op) ||
        !op.hasPureTensorSemantics())
      return failure();
    if (op.getNumParallelLoops() != op.getNumLoops() &&
        !isa<linalg::ReduceOp>(op))
      return failure();
    return linalg::generalizeNamedOp(rewriter, op);
  }
};

/// If `op` only copies its one input, broadcast or permuted, returns the map
/// from points of its result to points of the input.
AffineMap copyMap(linalg::GenericOp op) {
  if (!op || !op.hasPureTensorSemantics() || op.getNumDpsInputs() != 1 ||
      op->getNumResults() != 1 || op.getNumParallelLoops() != op.getNumLoops())
    return {};
  auto yielded =
      dyn_cast<BlockArgument>(op.getBody()->getTerminator()->getOperand(0));
  if (!yielded || yielded.getOwner() != op.getBody() ||
      yielded.getArgNumber() != 0 || op.getBody()->getOperations().size() != 1)
    return {};
  AffineMap inverse = inversePermutation(op.getIndexingMapsArray()[1]);
  if (!inverse || !op.getIndexingMapsArray()[1].isPermutation())
    return {};
  return op.getIndexingMapsArray()[0].compose(inverse);
}

/// Reads the source of a broadcast instead of its result. Permutations stay:
/// moving them into a user would hide a transposition from its strategy.
struct ComposeBroadcast : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || isSkipped(op))
      return failure();
    for (OpOperand *operand : op.getDpsInputOperands()) {
      auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
      AffineMap copy = copyMap(producer);
      if (!copy ||
          (copy.getNumResults() == copy.getNumDims() && !copy.isIdentity()))
        continue;
      // A copy that has an extent of its own is no copy.
      if (copy.isIdentity() &&
          producer->getOperand(0).getType() != producer->getResult(0).getType())
        continue;
      SmallVector<AffineMap> maps = op.getIndexingMapsArray();
      unsigned index = operand->getOperandNumber();
      maps[index] = copy.compose(maps[index]);
      if (!inversePermutation(concatAffineMaps(maps, op.getContext())))
        continue;
      rewriter.modifyOpInPlace(op, [&] {
        operand->set(producer->getOperand(0));
        op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
      });
      return success();
    }
    return failure();
  }
};

/// A destination whose value nobody reads need not be filled.
struct DropUnreadFill : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || isSkipped(op))
      return failure();
    bool changed = false;
    for (OpOperand &init : op.getDpsInitsMutable()) {
      auto fill = init.get().getDefiningOp<linalg::FillOp>();
      if (!fill || op.payloadUsesValueFromOperand(&init) ||
          !fill.getOutputs()[0].getDefiningOp<tensor::EmptyOp>())
        continue;
      rewriter.modifyOpInPlace(op, [&] { init.set(fill.getOutputs()[0]); });
      changed = true;
    }
    return success(changed);
  }
};

/// The numerics policy that holds for `op`: that of the nearest parent.
bool mayReassociate(Operation *op) {
  for (; op; op = op->getParentOp())
    if (auto policy = op->getAttrOfType<kernelbrain::kb::NumericsAttr>(
            kernelbrain::kb::KBDialect::getNumericsMarkerName()))
      return policy.getReassociate();
  return true;
}

/// True if the body is init + (something without init).
bool addsToInit(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  if (op.getNumDpsInits() != 1)
    return false;
  BlockArgument init = op.getMatchingBlockArgument(op.getDpsInitOperand(0));
  Operation *add = body->getTerminator()->getOperand(0).getDefiningOp();
  return init.hasOneUse() &&
         isa_and_nonnull<arith::AddFOp, arith::AddIOp>(add) &&
         *init.user_begin() == add;
}

/// True if `init` is worth an addition of its own: not a constant, and not
/// carried by a loop, where adding in place is the cheaper form.
bool isMovableInit(Value init) {
  if (auto argument = dyn_cast<BlockArgument>(init))
    return isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
  Operation *op = init.getDefiningOp();
  return !isa<linalg::FillOp, tensor::EmptyOp>(op) &&
         !matchPattern(op, m_Constant());
}

struct MoveBias : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || isSkipped(op) ||
        op.getNumReductionLoops() == 0 || op->getNumResults() != 1 ||
        !addsToInit(op) ||
        (!linalg::isaContractionOpInterface(op) &&
         !linalg::isaConvolutionOpInterface(op)))
      return failure();
    Value init = op.getDpsInits()[0];
    auto type = cast<RankedTensorType>(init.getType());
    if (!isMovableInit(init) ||
        (isa<FloatType>(type.getElementType()) && !mayReassociate(op)))
      return failure();
    Location loc = op.getLoc();
    Value empty = tensor::EmptyOp::create(
        rewriter, loc, tensor::getMixedSizes(rewriter, loc, init),
        type.getElementType());
    Value zero = arith::ConstantOp::create(
        rewriter, loc, rewriter.getZeroAttr(type.getElementType()));
    Value filled =
        linalg::FillOp::create(rewriter, loc, zero, empty).getResult(0);
    Operation *product = rewriter.clone(*op);
    cast<linalg::LinalgOp>(product).getDpsInitsMutable()[0].set(filled);
    AffineMap identity =
        AffineMap::getMultiDimIdentityMap(type.getRank(), op.getContext());
    SmallVector<utils::IteratorType> loops(type.getRank(),
                                           utils::IteratorType::parallel);
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, type, ValueRange{product->getResult(0), init}, empty,
        ArrayRef<AffineMap>{identity, identity, identity}, loops,
        [](OpBuilder &builder, Location loc, ValueRange arguments) {
          Value sum;
          if (isa<FloatType>(arguments[0].getType()))
            sum =
                arith::AddFOp::create(builder, loc, arguments[0], arguments[1]);
          else
            sum =
                arith::AddIOp::create(builder, loc, arguments[0], arguments[1]);
          linalg::YieldOp::create(builder, loc, sum);
        });
    return success();
  }
};

} // namespace

void kernelbrain::populateStructurePatterns(RewritePatternSet &patterns) {
  patterns.add<GeneralizeOthers, ComposeBroadcast, DropUnreadFill, MoveBias>(
      patterns.getContext());
}
