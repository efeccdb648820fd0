//===- Outline.cpp - kb-outline -------------------------------------------===//

#include "kernelbrain/Transforms/Passes.h"

#include "Outliner.h"
#include "kernelbrain/Dialect/KB/KB.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace kernelbrain;

namespace kernelbrain {
#define GEN_PASS_DEF_OUTLINEPASS
#include "kernelbrain/Transforms/Passes.h.inc"
} // namespace kernelbrain

namespace {

struct OutlinePass : kernelbrain::impl::OutlinePassBase<OutlinePass> {
  using OutlinePassBase::OutlinePassBase;

  void runOnOperation() override;
};

/// Kernels need the name of their module.
LogicalResult checkKernelsName(ModuleOp module) {
  StringRef name = kb::KBDialect::getKernelsModuleName();
  Operation *taken = SymbolTable::lookupSymbolIn(module, name);
  if (!taken || isa<ModuleOp>(taken))
    return success();
  return taken->emitError("expected a module of kernels by the name '")
         << name << "', found '" << taken->getName() << "'";
}

/// ABI version 1 passes extents as 64 bits. True, with a remark, if the
/// module's data layout has another idea.
bool remarkIndexWidth(ModuleOp module) {
  constexpr unsigned bits = 64;
  llvm::TypeSize found =
      DataLayout(module).getTypeSizeInBits(IndexType::get(module.getContext()));
  if (found == bits)
    return false;
  emitRemark(module.getLoc(), "stays as it is: expected 'index' to have ")
      << bits << " bits, found " << found.getFixedValue();
  return true;
}

/// Kernels are those of one module; those inside it are the user's own affair.
void remarkNested(ModuleOp module) {
  for (Operation &op : *module.getBody()) {
    auto name = op.getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
    if (!op.hasTrait<OpTrait::SymbolTable>() ||
        (name && name == kb::KBDialect::getKernelsModuleName()))
      continue;
    op.walk([](func::FuncOp function) {
      if (!function.isExternal() &&
          !function->hasAttr(kb::KBDialect::getSkipMarkerName()))
        function.emitRemark("stays as it is: it is in a nested module");
    });
  }
}

void OutlinePass::runOnOperation() {
  if (failed(checkKernelsName(getOperation())))
    return signalPassFailure();
  if (remarkIndexWidth(getOperation()))
    return;
  std::optional<llvm::Regex> wanted;
  if (!kernelNames.empty()) {
    wanted.emplace(kernelNames);
    std::string error;
    if (!wanted->isValid(error)) {
      getOperation().emitError("invalid regular expression '")
          << kernelNames << "' in option 'kernels': " << error;
      return signalPassFailure();
    }
  }
  remarkNested(getOperation());
  if (normalize) {
    OpPassManager pipeline(ModuleOp::getOperationName());
    pipeline.addPass(createNormalizePass());
    if (failed(runPipeline(pipeline, getOperation())))
      return signalPassFailure();
  }
  Outliner outliner(getOperation(), wanted ? &*wanted : nullptr);
  SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
  for (func::FuncOp function : functions)
    if (!function.isExternal() &&
        !function->hasAttr(kb::KBDialect::getSkipMarkerName()))
      outliner.outline(function);
  outliner.setShares();
  if (printRegions)
    outliner.print(llvm::errs());
}

} // namespace
