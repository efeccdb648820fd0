//===- Splice.cpp - kb-splice ---------------------------------------------===//

#include "Splice.h"
#include "kernelbrain/Transforms/Passes.h"
#include "kernelbrain/Transforms/Pipelines.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace kernelbrain;

namespace kernelbrain {
#define GEN_PASS_DEF_SPLICEPASS
#include "kernelbrain/Transforms/Passes.h.inc"
} // namespace kernelbrain

namespace {

struct SplicePass : kernelbrain::impl::SplicePassBase<SplicePass> {
  using SplicePassBase::SplicePassBase;

  void getDependentDialects(DialectRegistry &registry) const override;
  void runOnOperation() override;

private:
  LogicalResult checkOptions();
  LogicalResult splice();
  bool isPlaced(SplicedKernel &kernel) {
    return placement == "device" && kernel.variant.getBinary();
  }
  void stage(MutableArrayRef<SplicedKernel> spliced, SymbolTable &symbols);
  LogicalResult addBaselines(MutableArrayRef<SplicedKernel> spliced,
                             SymbolTable &symbols);
  LogicalResult redirectCalls(ArrayRef<SplicedKernel> spliced);
  LogicalResult place();
  LogicalResult lower();
  SmallVector<func::FuncOp> placedShims; ///< that take buffers of the device
  LogicalResult runPasses(llvm::function_ref<void(OpPassManager &)> addPasses,
                          ModuleOp on) {
    OpPassManager passes(ModuleOp::getOperationName());
    addPasses(passes);
    return runPipeline(passes, on);
  }
};

void addInlinePasses(OpPassManager &passes) {
  InlinePassOptions options;
  options.keepSelected = true;
  passes.addPass(createInlinePass(options));
}

void SplicePass::getDependentDialects(DialectRegistry &registry) const {
  OpPassManager passes(ModuleOp::getOperationName());
  for (auto addPasses :
       {addInlinePasses, addLowerTosaPasses, addBufferizePasses,
        addBaselinePasses, addLowerToLLVMPasses})
    addPasses(passes);
  passes.getDependentDialects(registry);
  registry.insert<kb::KBDialect, arith::ArithDialect,
                  bufferization::BufferizationDialect, func::FuncDialect,
                  gpu::GPUDialect, linalg::LinalgDialect, LLVM::LLVMDialect,
                  memref::MemRefDialect, scf::SCFDialect>();
}

LogicalResult SplicePass::checkOptions() {
  if (emit != "tensor" && emit != "memref" && emit != "llvm")
    return getOperation().emitError("expected 'emit' to be 'tensor', 'memref' "
                                    "or 'llvm', found '")
           << emit << "'";
  if (placement != "host" && placement != "device")
    return getOperation().emitError(
               "expected 'placement' to be 'host' or 'device', found '")
           << placement << "'";
  if (placement == "device" && emit == "tensor")
    return getOperation().emitError(
        "'placement=device' needs 'emit' to be 'memref' or 'llvm'");
  if (hostEntries && placement != "device")
    return getOperation().emitError(
        "'host-entries' needs 'placement' to be 'device'");
  return success();
}

/// The kernels of `module` that have a selected variant.
SmallVector<SplicedKernel> collectSelected(ModuleOp module) {
  SmallVector<SplicedKernel> selected;
  for (auto nested : module.getOps<ModuleOp>())
    for (auto variant : nested.getOps<kb::VariantOp>())
      if (variant.getSelected()) {
        SplicedKernel &kernel = selected.emplace_back();
        kernel.kernel = cast<kb::KernelOp>(
            SymbolTable::lookupSymbolIn(nested, variant.getKernelAttr()));
        kernel.variant = variant;
        kernel.workspaceBytes = variant.getWorkspaceBytes();
      }
  return selected;
}

LogicalResult checkElementTypes(kb::KernelOp kernel) {
  for (Type type : kernel.getBody().getArgumentTypes()) {
    Type element = cast<RankedTensorType>(type).getElementType();
    if (!element.isIntOrIndexOrFloat() ||
        (element.isIntOrFloat() && element.getIntOrFloatBitWidth() != 1 &&
         element.getIntOrFloatBitWidth() % 8 != 0))
      return kernel.emitOpError("elements of type ")
             << element << " have no form in ABI version "
             << "1, so it cannot be spliced";
  }
  return success();
}

LogicalResult SplicePass::addBaselines(MutableArrayRef<SplicedKernel> spliced,
                                       SymbolTable &symbols) {
  // In a module of their own, so that their passes leave the program alone.
  OpBuilder builder = OpBuilder::atBlockEnd(getOperation().getBody());
  auto scratch = ModuleOp::create(builder, getOperation().getLoc());
  SymbolTable scratchSymbols(scratch);
  for (SplicedKernel &kernel : spliced)
    if (!isPlaced(kernel))
      addBaseline(kernel, scratchSymbols);
  if (failed(runPasses(addBaselinePasses, scratch)))
    return failure();
  copyByLoops(scratch);
  // Constants of kernels are globals by now.
  SymbolTable lowered(scratch);
  for (auto global : llvm::to_vector(scratch.getOps<memref::GlobalOp>())) {
    if (failed(lowered.renameToUnique(global, {&symbols})))
      return failure();
    global->remove();
    symbols.insert(global, getOperation().getBody()->begin());
  }
  for (SplicedKernel &kernel : spliced) {
    if (!kernel.baseline)
      continue;
    kernel.baseline->remove();
    symbols.insert(kernel.baseline);
  }
  scratch.erase();
  return success();
}

LogicalResult SplicePass::redirectCalls(ArrayRef<SplicedKernel> spliced) {
  llvm::DenseMap<Operation *, func::FuncOp> shims;
  for (const SplicedKernel &kernel : spliced)
    shims[kernel.kernel] = kernel.shim;
  SymbolTableCollection symbols;
  SmallVector<std::pair<kb::CallOp, func::FuncOp>> calls;
  getOperation().walk([&](kb::CallOp call) {
    Operation *kernel =
        symbols.lookupNearestSymbolFrom(call, call.getCalleeAttr());
    if (func::FuncOp shim = shims.lookup(kernel))
      calls.emplace_back(call, shim);
  });
  for (auto [call, shim] : calls) {
    call.setCalleeAttr(FlatSymbolRefAttr::get(shim));
    if (!call.hasPureBufferSemantics())
      continue;
    OpBuilder builder(call);
    if (failed(call.callShim(builder, shim, call.getOperands())))
      return failure();
    call.erase();
  }
  return success();
}

/// Device kernels on buffers of the host get copies around them.
void SplicePass::stage(MutableArrayRef<SplicedKernel> spliced,
                       SymbolTable &symbols) {
  llvm::DenseMap<Operation *, SplicedKernel *> byKernel;
  for (SplicedKernel &kernel : spliced) {
    kernel.readOutputs.resize(kernel.kernel.getOutputs().size());
    byKernel[kernel.kernel] = &kernel;
  }
  SymbolTableCollection tables;
  getOperation().walk([&](kb::CallOp call) {
    Operation *callee =
        tables.lookupNearestSymbolFrom(call, call.getCalleeAttr());
    if (SplicedKernel *kernel = byKernel.lookup(callee))
      for (size_t index = 0; index < call.getOutputs().size(); ++index)
        if (call.readsOutput(index))
          kernel->readOutputs.set(index);
  });
  for (SplicedKernel &kernel : spliced)
    if (kernel.variant.getBinary() && placement == "host") {
      kernel.callee = addStaging(kernel, symbols);
      kernel.workspaceBytes = 0; // It comes with the rest.
    }
}

LogicalResult SplicePass::splice() {
  if (failed(runPasses(addInlinePasses, getOperation())))
    return failure();
  if (placement == "device" && refuseUnplaced(getOperation()) &&
      failed(runPasses(addInlinePasses, getOperation())))
    return failure();
  SmallVector<SplicedKernel> spliced = collectSelected(getOperation());
  if (spliced.empty())
    return success();
  SymbolTable symbols(getOperation());
  LLVM::LLVMFuncOp fail = getOrAddFail(getOperation().getLoc(), symbols);
  for (SplicedKernel &kernel : spliced)
    if (failed(checkElementTypes(kernel.kernel)) ||
        failed(addImplementation(kernel, symbols)))
      return failure();
  stage(spliced, symbols);
  if (failed(addBaselines(spliced, symbols)))
    return failure();
  for (SplicedKernel &kernel : spliced) {
    addShim(kernel, fail, symbols);
    if (isPlaced(kernel))
      placedShims.push_back(kernel.shim);
  }
  return redirectCalls(spliced);
}

LogicalResult SplicePass::place() {
  if (placedShims.empty())
    return success();
  if (failed(moveBuffersToDevice(getOperation(), placedShims)))
    return failure();
  if (hostEntries)
    addHostEntries(getOperation());
  return runPasses(addSimplifyPasses, getOperation());
}

LogicalResult SplicePass::lower() {
  ModuleOp module = getOperation();
  if (failed(stripKernels(module)))
    return failure();
  if (holdsTosa(module) && failed(runPasses(addLowerTosaPasses, module)))
    return failure();
  if (failed(runPasses(addBufferizePasses, module)) || failed(place()))
    return failure();
  orderConstants(module);
  if (emit == "memref")
    return success();
  copyByLoops(module);
  requestCEntries(module);
  return runPasses(addLowerToLLVMPasses, module);
}

void SplicePass::runOnOperation() {
  placedShims.clear();
  if (failed(checkOptions()) || failed(splice()) ||
      (emit != "tensor" && failed(lower())))
    signalPassFailure();
}

} // namespace
