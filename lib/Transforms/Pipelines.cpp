//===- Pipelines.cpp - The stock way down ---------------------------------===//

#include "kernelbrain/Transforms/Pipelines.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/TosaToArith/TosaToArith.h"
#include "mlir/Conversion/TosaToLinalg/TosaToLinalg.h"
#include "mlir/Conversion/TosaToTensor/TosaToTensor.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/Tosa/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

static void addSimplifyPasses(OpPassManager &passes) {
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
}

void kernelbrain::addLowerTosaPasses(OpPassManager &passes) {
  OpPassManager &functions = passes.nest<func::FuncOp>();
  functions.addPass(tosa::createTosaMakeBroadcastablePass());
  functions.addPass(tosa::createTosaToLinalgNamed());
  functions.addPass(tosa::createTosaToLinalg());
  functions.addPass(createTosaToTensorPass());
  TosaToArithPassOptions options;
  options.includeApplyRescale = true;
  functions.addPass(createTosaToArithPass(options));
}

void kernelbrain::addBufferizePasses(OpPassManager &passes) {
  passes.addNestedPass<func::FuncOp>(createLinalgElementwiseOpFusionPass());
  addSimplifyPasses(passes);
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.allowReturnAllocsFromLoops = true;
  options.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  passes.addPass(bufferization::createOneShotBufferizePass(options));
  passes.addPass(bufferization::createDropEquivalentBufferResultsPass());
  addSimplifyPasses(passes);
  bufferization::buildBufferDeallocationPipeline(passes);
  passes.addPass(createConvertBufferizationToMemRefPass());
  addSimplifyPasses(passes);
}

void kernelbrain::addBaselinePasses(OpPassManager &passes) {
  passes.addNestedPass<func::FuncOp>(createLinalgElementwiseOpFusionPass());
  addSimplifyPasses(passes);
  passes.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions options;
  options.allowReturnAllocsFromLoops = true;
  passes.addPass(bufferization::createOneShotBufferizePass(options));
  addSimplifyPasses(passes);
  passes.addPass(createCanonicalizerPass());
}

void kernelbrain::addLowerToLLVMPasses(OpPassManager &passes) {
  passes.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  passes.addPass(memref::createExpandStridedMetadataPass());
  passes.addPass(createLowerAffinePass());
  passes.addPass(createSCFToControlFlowPass());
  passes.addNestedPass<func::FuncOp>(arith::createArithExpandOpsPass());
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createConvertMathToLibmPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createConvertIndexToLLVMPass());
  passes.addPass(createFinalizeMemRefToLLVMConversionPass());
  passes.addPass(createConvertFuncToLLVMPass());
  addSimplifyPasses(passes);
  passes.addPass(createReconcileUnrealizedCastsPass());
}

void kernelbrain::copyByLoops(Operation *root) {
  root->walk([](memref::CopyOp copy) {
    auto source = dyn_cast<MemRefType>(copy.getSource().getType());
    auto target = dyn_cast<MemRefType>(copy.getTarget().getType());
    if (!source || !target ||
        (source.getLayout().isIdentity() && target.getLayout().isIdentity()))
      return;
    OpBuilder builder(copy);
    linalg::CopyOp::create(builder, copy.getLoc(), copy.getSource(),
                           copy.getTarget());
    copy.erase();
  });
}

void kernelbrain::requestCEntries(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function.isExternal() && !function.isPublic())
      continue;
    function->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                      UnitAttr::get(module.getContext()));
    if (!function.isExternal())
      function->setAttr(getSignatureName(),
                        TypeAttr::get(function.getFunctionType()));
  }
}
