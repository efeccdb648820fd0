//===- Strip.cpp - kb-strip -----------------------------------------------===//

#include "Splice.h"
#include "kernelbrain/Transforms/Passes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace kernelbrain;

namespace kernelbrain {
#define GEN_PASS_DEF_STRIPPASS
#include "kernelbrain/Transforms/Passes.h.inc"
} // namespace kernelbrain

static bool isOurs(NamedAttribute attribute) {
  return attribute.getName().strref().starts_with("kb.") ||
         isa<kb::KBDialect>(attribute.getValue().getDialect());
}

static DictionaryAttr withoutOurs(DictionaryAttr attributes) {
  SmallVector<NamedAttribute> kept;
  for (NamedAttribute attribute : attributes)
    if (!isOurs(attribute))
      kept.push_back(attribute);
  return DictionaryAttr::get(attributes.getContext(), kept);
}

static void stripAttributes(Operation *op) {
  for (NamedAttribute attribute : llvm::to_vector(op->getDiscardableAttrs()))
    if (isOurs(attribute))
      op->removeDiscardableAttr(attribute.getName());
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return;
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    if (DictionaryAttr attributes = function.getArgAttrDict(index))
      function.setArgAttrs(index, withoutOurs(attributes));
  for (unsigned index = 0; index < function.getNumResults(); ++index)
    if (DictionaryAttr attributes = function.getResultAttrDict(index))
      function.setResultAttrs(index, withoutOurs(attributes));
}

LogicalResult kernelbrain::stripKernels(ModuleOp module) {
  SymbolTableCollection symbols;
  WalkResult calls = module.walk([&](kb::CallOp call) {
    auto kernel = symbols.lookupNearestSymbolFrom<kb::KernelOp>(
        call, call.getCalleeAttr());
    if (!kernel)
      return WalkResult::advance();
    InFlightDiagnostic diagnostic =
        call.emitOpError("of kernel '")
        << call.getCallee()
        << "' would lose its callee; run kb-splice or kb-inline first";
    diagnostic.attachNote(kernel.getLoc()) << "kernel is here";
    return WalkResult::interrupt();
  });
  if (calls.wasInterrupted())
    return failure();

  module.walk<WalkOrder::PreOrder>([](Operation *op) {
    if (isa<kb::VariantOp, kb::KernelOp>(op)) {
      op->erase();
      return WalkResult::skip();
    }
    stripAttributes(op);
    return WalkResult::advance();
  });
  for (auto nested : llvm::make_early_inc_range(module.getOps<ModuleOp>()))
    if (nested.getSymName() == kb::KBDialect::getKernelsModuleName() &&
        nested.getBody()->empty())
      nested.erase();
  return success();
}

namespace {
struct StripPass : kernelbrain::impl::StripPassBase<StripPass> {
  void runOnOperation() override {
    if (failed(stripKernels(getOperation())))
      signalPassFailure();
  }
};
} // namespace
