//===- Decompose.cpp - Linalg operations that are no loops ----------------===//

#include "NormalizePatterns.h"
#include "kernelbrain/Dialect/KB/KB.h"
#include "kernelbrain/Transforms/Pipelines.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace {

bool isSkipped(Operation *op) {
  return op->hasAttr(kernelbrain::kb::KBDialect::getSkipMarkerName());
}

struct DecomposeSoftmax : OpRewritePattern<linalg::SoftmaxOp> {
  DecomposeSoftmax(MLIRContext *context, bool takesSkipped)
      : OpRewritePattern(context), takesSkipped(takesSkipped) {}

  LogicalResult matchAndRewrite(linalg::SoftmaxOp op,
                                PatternRewriter &rewriter) const override {
    if ((isSkipped(op) && !takesSkipped) || !op.hasPureTensorSemantics())
      return failure();
    FailureOr<SmallVector<Value>> results = op.decomposeOperation(rewriter);
    if (failed(results))
      return failure();
    rewriter.replaceOp(op, *results);
    return success();
  }

  bool takesSkipped;
};

/// Packs become pads, reshapes and transpositions, unpacks the reverse.
template <typename OpT, auto lower> struct LowerPack : OpRewritePattern<OpT> {
  LowerPack(MLIRContext *context, bool takesSkipped)
      : OpRewritePattern<OpT>(context), takesSkipped(takesSkipped) {}

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    if ((isSkipped(op) && !takesSkipped) || !op.hasPureTensorSemantics())
      return failure();
    rewriter.setInsertionPoint(op);
    return failure(failed(lower(rewriter, op, /*asSlice=*/false)));
  }

  bool takesSkipped;
};

/// Pads by negative amounts cut off first: buffers cannot begin before their
/// memory.
struct CutNegativePad : OpRewritePattern<tensor::PadOp> {
  CutNegativePad(MLIRContext *context, bool takesSkipped)
      : OpRewritePattern(context), takesSkipped(takesSkipped) {}

  LogicalResult matchAndRewrite(tensor::PadOp op,
                                PatternRewriter &rewriter) const override {
    auto isCut = [](int64_t amount) {
      return ShapedType::isStatic(amount) && amount < 0;
    };
    SmallVector<int64_t> low(op.getStaticLow()), high(op.getStaticHigh());
    if ((isSkipped(op) && !takesSkipped) ||
        (llvm::none_of(low, isCut) && llvm::none_of(high, isCut)))
      return failure();
    SmallVector<OpFoldResult> offsets;
    SmallVector<int64_t> extents(op.getSourceType().getShape());
    for (auto [extent, before, after] : llvm::zip(extents, low, high)) {
      int64_t front = isCut(before) ? -before : 0;
      int64_t back = isCut(after) ? -after : 0;
      offsets.push_back(rewriter.getIndexAttr(front));
      if (front + back == 0)
        continue;
      if (ShapedType::isDynamic(extent) || front + back > extent)
        return rewriter.notifyMatchFailure(op,
                                           "may cut off more than there is");
      extent -= front + back;
      before = front ? 0 : before;
      after = back ? 0 : after;
    }
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, op.getLoc(), op.getSource());
    for (auto [size, extent] : llvm::zip(sizes, extents))
      if (!ShapedType::isDynamic(extent))
        size = rewriter.getIndexAttr(extent);
    SmallVector<OpFoldResult> strides(low.size(), rewriter.getIndexAttr(1));
    Value rest = tensor::ExtractSliceOp::create(
        rewriter, op.getLoc(), op.getSource(), offsets, sizes, strides);
    rewriter.modifyOpInPlace(op, [&] {
      op.getSourceMutable().assign(rest);
      op.setStaticLow(low);
      op.setStaticHigh(high);
    });
    return success();
  }

  bool takesSkipped;
};

struct DecomposePass : PassWrapper<DecomposePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DecomposePass)
  StringRef getName() const override { return "Decompose"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<affine::AffineDialect, arith::ArithDialect,
                    linalg::LinalgDialect, math::MathDialect, scf::SCFDialect,
                    tensor::TensorDialect>();
  }
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    kernelbrain::populateDecomposePatterns(patterns, /*takesSkipped=*/true);
    linalg::populateDecomposeWinogradOpsPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace

void kernelbrain::populateDecomposePatterns(RewritePatternSet &patterns,
                                            bool takesSkipped) {
  patterns.add<DecomposeSoftmax, CutNegativePad,
               LowerPack<linalg::PackOp, linalg::lowerPack>,
               LowerPack<linalg::UnPackOp, linalg::lowerUnPack>>(
      patterns.getContext(), takesSkipped);
}

void kernelbrain::addDecomposePasses(OpPassManager &passes) {
  passes.addPass(std::make_unique<DecomposePass>());
}
