//===- Inline.cpp - kb-inline ---------------------------------------------===//

#include "kernelbrain/Transforms/Passes.h"

#include "kernelbrain/Dialect/KB/KB.h"
#include "kernelbrain/Transforms/Outlining.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace kernelbrain;

namespace kernelbrain {
#define GEN_PASS_DEF_INLINEPASS
#include "kernelbrain/Transforms/Passes.h.inc"
} // namespace kernelbrain

void kernelbrain::inlineKernel(kb::CallOp call, kb::KernelOp kernel) {
  IRMapping mapping;
  mapping.map(kernel.getBody().getArguments(), call.getOperands());
  OpBuilder builder(call);
  for (Operation &op : kernel.getBody().front().without_terminator())
    builder.clone(op, mapping);
  for (auto [result, value] :
       llvm::zip(call.getResults(), kernel.getYield().getValues()))
    result.replaceAllUsesWith(mapping.lookup(value));
  call.erase();
}

namespace {

struct InlinePass : kernelbrain::impl::InlinePassBase<InlinePass> {
  using InlinePassBase::InlinePassBase;

  void runOnOperation() override;

private:
  LogicalResult inlineCall(kb::CallOp call, kb::KernelOp kernel);
  void eraseUncalled();
};

/// The names of the kernels of `module` that have a selected variant.
llvm::DenseSet<StringAttr> selectedKernels(Operation *module) {
  llvm::DenseSet<StringAttr> names;
  for (Operation &op : module->getRegion(0).front())
    if (auto variant = dyn_cast<kb::VariantOp>(op))
      if (variant.getSelected())
        names.insert(variant.getKernelAttr().getAttr());
  return names;
}

LogicalResult InlinePass::inlineCall(kb::CallOp call, kb::KernelOp kernel) {
  if (!call.hasPureTensorSemantics())
    return call.emitOpError("on buffers cannot be replaced by the body of "
                            "kernel '")
           << call.getCallee() << "', which is on tensors";
  inlineKernel(call, kernel);
  return success();
}

// Variants go with their kernel; a variant alone would not verify.
void InlinePass::eraseUncalled() {
  SymbolTableCollection symbols;
  llvm::DenseSet<Operation *> called;
  getOperation().walk([&](kb::CallOp call) {
    if (Operation *callee =
            symbols.lookupNearestSymbolFrom(call, call.getCalleeAttr()))
      called.insert(callee);
  });
  for (auto nested :
       llvm::make_early_inc_range(getOperation().getOps<ModuleOp>())) {
    if (nested.getSymName() != kb::KBDialect::getKernelsModuleName())
      continue;
    llvm::DenseSet<StringAttr> gone;
    for (auto kernel :
         llvm::make_early_inc_range(nested.getOps<kb::KernelOp>()))
      if (!called.contains(kernel)) {
        gone.insert(kernel.getSymNameAttr());
        kernel.erase();
      }
    for (auto variant :
         llvm::make_early_inc_range(nested.getOps<kb::VariantOp>()))
      if (gone.contains(variant.getKernelAttr().getAttr()))
        variant.erase();
    if (nested.getBody()->empty())
      nested.erase();
  }
}

void InlinePass::runOnOperation() {
  SymbolTableCollection symbols;
  llvm::DenseMap<Operation *, llvm::DenseSet<StringAttr>> selected;
  SmallVector<kb::CallOp> calls;
  getOperation().walk([&](kb::CallOp call) { calls.push_back(call); });
  for (kb::CallOp call : calls) {
    auto kernel = symbols.lookupNearestSymbolFrom<kb::KernelOp>(
        call, call.getCalleeAttr());
    if (!kernel)
      continue; // Spliced already: the callee is a function.
    if (keepSelected) {
      Operation *parent = kernel->getParentOp();
      auto [entry, isNew] = selected.try_emplace(parent);
      if (isNew)
        entry->second = selectedKernels(parent);
      if (entry->second.contains(kernel.getSymNameAttr()))
        continue;
    }
    if (failed(inlineCall(call, kernel)))
      return signalPassFailure();
  }
  eraseUncalled();
}

} // namespace
