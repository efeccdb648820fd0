//===- Normalize.cpp - kb-normalize ---------------------------------------===//

#include "kernelbrain/Transforms/Passes.h"

#include "NormalizePatterns.h"
#include "kernelbrain/Dialect/KB/KB.h"
#include "mlir/Conversion/TosaToArith/TosaToArith.h"
#include "mlir/Conversion/TosaToLinalg/TosaToLinalg.h"
#include "mlir/Conversion/TosaToTensor/TosaToTensor.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Transforms/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace kernelbrain;

namespace kernelbrain {
#define GEN_PASS_DEF_NORMALIZEPASS
#include "kernelbrain/Transforms/Passes.h.inc"
} // namespace kernelbrain

namespace {

struct NormalizePass : kernelbrain::impl::NormalizePassBase<NormalizePass> {
  using NormalizePassBase::NormalizePassBase;

  void runOnOperation() override;

private:
  LogicalResult runOn(func::FuncOp function,
                      function_ref<void(OpPassManager &)> addPasses);
  void lowerTosa(func::FuncOp function);
  LogicalResult inlineCalls();
  LogicalResult applyPatterns(func::FuncOp function);
  LogicalResult foldUnitDims(func::FuncOp function);
  LogicalResult normalize(func::FuncOp function);
};

bool isSkipped(Operation *op) {
  return op->hasAttr(kb::KBDialect::getSkipMarkerName());
}

/// A type of `function` that stands for stored integers; null if there is none.
/// Upstream's patterns mistake such tensors for tensors of those integers.
Type findQuantized(func::FuncOp function) {
  Type found;
  auto check = [&](TypeRange types) {
    for (Type type : types)
      if (Type element = getElementTypeOrSelf(type);
          element.getDialect().getNamespace() == "quant")
        found = element;
  };
  check(function.getArgumentTypes());
  function.walk([&](Operation *op) { check(op->getResultTypes()); });
  return found;
}

/// True if `function` computes tensors and no kernel has been cut from it yet:
/// what calls kernels is in normal form.
bool needsNormalizing(func::FuncOp function) {
  bool holdsTensors = false;
  WalkResult result = function.walk([&](Operation *op) {
    holdsTensors |=
        llvm::any_of(op->getResultTypes(), llvm::IsaPred<TensorType>);
    return isa<kb::CallOp>(op) ? WalkResult::interrupt()
                               : WalkResult::advance();
  });
  return holdsTensors && !result.wasInterrupted();
}

template <typename DialectT> bool holdsDialect(func::FuncOp function) {
  return function
      .walk([](Operation *op) {
        return isa_and_nonnull<DialectT>(op->getDialect())
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult
NormalizePass::runOn(func::FuncOp function,
                     function_ref<void(OpPassManager &)> addPasses) {
  OpPassManager pipeline(func::FuncOp::getOperationName());
  addPasses(pipeline);
  return runPipeline(pipeline, function);
}

// Upstream's lowering fails on a whole function if it does not know one
// operation. Such a function is put back as it was, and stays TOSA.
void NormalizePass::lowerTosa(func::FuncOp function) {
  OwningOpRef<func::FuncOp> saved = function.clone();
  std::string reason;
  LogicalResult lowered = success();
  {
    ScopedDiagnosticHandler handler(&getContext(), [&](Diagnostic &diagnostic) {
      if (reason.empty() &&
          diagnostic.getSeverity() == DiagnosticSeverity::Error)
        reason = diagnostic.str();
      return success();
    });
    lowered = runOn(function, [](OpPassManager &pipeline) {
      pipeline.addPass(tosa::createTosaMakeBroadcastablePass());
      pipeline.addPass(tosa::createTosaToLinalgNamed());
      pipeline.addPass(tosa::createTosaToLinalg());
      pipeline.addPass(createTosaToTensorPass());
      TosaToArithPassOptions options;
      options.includeApplyRescale = true;
      pipeline.addPass(createTosaToArithPass(options));
    });
  }
  if (succeeded(lowered))
    return;
  function.getBody().takeBody(saved->getBody());
  function.emitRemark("is left in TOSA: ") << reason;
}

// Functions that keep an identity (markers) are neither inlined nor erased: the
// inliner erases private functions without a caller, but no declarations.
LogicalResult NormalizePass::inlineCalls() {
  StringAttr barrier = StringAttr::get(&getContext(), "no_inline");
  SmallVector<Operation *> marked;
  auto mark = [&](Operation *op) {
    if (op->hasAttr(barrier))
      return;
    marked.push_back(op);
    op->setAttr(barrier, UnitAttr::get(&getContext()));
  };
  SmallVector<func::FuncOp> hidden;
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    bool isLeftAlone = isSkipped(function);
    if (isLeftAlone)
      function.walk([&](func::CallOp call) { mark(call); });
    if (!isLeftAlone &&
        !function->hasAttr(kb::KBDialect::getKernelMarkerName()))
      continue;
    mark(function);
    if (function.isPrivate())
      hidden.push_back(function);
    function.setPublic();
  }
  OpPassManager pipeline(ModuleOp::getOperationName());
  pipeline.addPass(createInlinerPass({}, [](OpPassManager &) {}));
  LogicalResult inlined = runPipeline(pipeline, getOperation());
  for (Operation *op : marked)
    op->removeAttr(barrier);
  for (func::FuncOp function : hidden)
    function.setPrivate();
  return inlined;
}

LogicalResult NormalizePass::applyPatterns(func::FuncOp function) {
  RewritePatternSet patterns(&getContext());
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
  populateDecomposePatterns(patterns, /*takesSkipped=*/false);
  populateScalarPatterns(patterns);
  populateStructurePatterns(patterns);
  populateGatherPatterns(patterns);
  return applyPatternsGreedily(function, std::move(patterns));
}

// What upstream's pass does, but for skipped operations.
LogicalResult NormalizePass::foldUnitDims(func::FuncOp function) {
  linalg::ControlDropUnitDims options;
  auto upstream = options.controlFn;
  options.controlFn = [upstream](Operation *op) {
    return isSkipped(op) ? SmallVector<unsigned>() : upstream(op);
  };
  RewritePatternSet patterns(&getContext());
  linalg::populateFoldUnitExtentDimsPatterns(patterns, options);
  linalg::populateFoldUnitExtentDimsCanonicalizationPatterns(patterns, options);
  linalg::populateMoveInitOperandsToInputPattern(patterns);
  return applyPatternsGreedily(function, std::move(patterns));
}

LogicalResult NormalizePass::normalize(func::FuncOp function) {
  auto simplify = [](OpPassManager &pipeline) {
    pipeline.addPass(createCanonicalizerPass());
    pipeline.addPass(createCSEPass());
  };
  // Folding unit dimensions uncovers broadcasts and constants.
  if (failed(runOn(function, simplify)) || failed(applyPatterns(function)) ||
      failed(foldUnitDims(function)) || failed(runOn(function, simplify)) ||
      failed(applyPatterns(function)) || failed(runOn(function, simplify)))
    return failure();
  return success();
}

void NormalizePass::runOnOperation() {
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (Type quantized = findQuantized(function))
      function.emitRemark("is left as it is: holds elements of type ")
          << quantized;
    else if (!isSkipped(function) && holdsDialect<tosa::TosaDialect>(function))
      lowerTosa(function);
  if (failed(inlineCalls()))
    return signalPassFailure();
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (!isSkipped(function) && !findQuantized(function) &&
        needsNormalizing(function) && failed(normalize(function)))
      return signalPassFailure();
}

} // namespace
