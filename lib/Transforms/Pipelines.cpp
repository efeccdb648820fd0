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
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

LogicalResult kernelbrain::runPipeline(ModuleOp module, StringRef pipeline) {
  PassManager passes(module.getContext());
  passes.enableVerifier(false); // The caller verifies once, at the end.
  if (failed(parsePassPipeline(pipeline, passes)))
    return failure();
  return passes.run(module);
}

void kernelbrain::addSimplifyPasses(OpPassManager &passes) {
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

bool kernelbrain::holdsTosa(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        return isa_and_nonnull<tosa::TosaDialect>(op->getDialect())
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
/// A function that frees buffers is left to do so, as its author had it, or an
/// earlier run of these passes: upstream's analysis takes none that do.
struct FreeBuffersPass : PassWrapper<FreeBuffersPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FreeBuffersPass)
  StringRef getName() const override { return "FreeBuffers"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, bufferization::BufferizationDialect,
                    memref::MemRefDialect, scf::SCFDialect>();
  }
  void runOnOperation() override {
    SymbolTableCollection symbols;
    getOperation().walk([&](func::FuncOp function) {
      if (function.isExternal() || freesBuffers(function))
        return;
      if (failed(bufferization::deallocateBuffersOwnershipBased(
              function, bufferization::DeallocationOptions(), symbols)))
        signalPassFailure();
    });
  }
  static bool freesBuffers(func::FuncOp function) {
    if (function->hasAttr(kernelbrain::getFreedName()))
      return true;
    return function
        .walk([](Operation *op) {
          return isa<memref::DeallocOp, bufferization::DeallocOp>(op)
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        })
        .wasInterrupted();
  }
};
} // namespace

void kernelbrain::addDeallocationPasses(OpPassManager &passes) {
  passes.addPass(memref::createExpandReallocPass(
      memref::ExpandReallocPassOptions{/*emitDeallocs=*/false}));
  passes.addPass(createCanonicalizerPass());
  passes.addPass(std::make_unique<FreeBuffersPass>());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(bufferization::createBufferDeallocationSimplificationPass());
  passes.addPass(bufferization::createLowerDeallocationsPass());
  addSimplifyPasses(passes);
}

void kernelbrain::addBufferizePasses(OpPassManager &passes) {
  addDecomposePasses(passes);
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
  addDeallocationPasses(passes);
  passes.addPass(createConvertBufferizationToMemRefPass());
  addSimplifyPasses(passes);
}

void kernelbrain::addBaselinePasses(OpPassManager &passes) {
  addDecomposePasses(passes);
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

void kernelbrain::copyByLoops(Operation *root, bool contiguousToo) {
  root->walk([&](memref::CopyOp copy) {
    auto source = dyn_cast<MemRefType>(copy.getSource().getType());
    auto target = dyn_cast<MemRefType>(copy.getTarget().getType());
    if (!source || !target ||
        (!contiguousToo && source.getLayout().isIdentity() &&
         target.getLayout().isIdentity()))
      return;
    OpBuilder builder(copy);
    linalg::CopyOp::create(builder, copy.getLoc(), copy.getSource(),
                           copy.getTarget());
    copy.erase();
  });
}

static bool isBufferizedConstant(memref::GlobalOp global) {
  return global.isPrivate() && global.getConstant() &&
         global.getSymName().starts_with("__constant_");
}

void kernelbrain::orderConstants(ModuleOp module) {
  SymbolTable symbols(module);
  llvm::SetVector<Operation *> used;
  SmallVector<memref::GetGlobalOp> uses;
  module.walk([&](memref::GetGlobalOp use) {
    auto global = symbols.lookup<memref::GlobalOp>(use.getNameAttr().getAttr());
    if (!global || !isBufferizedConstant(global))
      return;
    used.insert(global);
    uses.push_back(use);
  });
  llvm::DenseMap<StringAttr, StringAttr> renamed;
  for (Operation *op : used)
    symbols.remove(op);
  Block *body = module.getBody();
  Block::iterator position =
      llvm::find_if(*body, [&](Operation &op) { return !used.contains(&op); });
  for (Operation *op : used) {
    auto global = cast<memref::GlobalOp>(op);
    StringAttr before = global.getSymNameAttr();
    std::string name = "__constant_";
    for (int64_t extent : global.getType().getShape())
      name += std::to_string(extent) + "x";
    llvm::raw_string_ostream(name) << global.getType().getElementType();
    op->moveBefore(body, position);
    global.setSymName(name);
    renamed[before] = symbols.insert(op); // Adds a number if there are several.
  }
  for (memref::GetGlobalOp use : uses)
    use.setNameAttr(
        FlatSymbolRefAttr::get(renamed.lookup(use.getNameAttr().getAttr())));
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
