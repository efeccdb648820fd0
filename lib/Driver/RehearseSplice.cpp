//===- RehearseSplice.cpp - kb-rehearse-splice ----------------------------===//

#include "kernelbrain/Driver/Passes.h"
#include "kernelbrain/Transforms/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace kernelbrain {
#define GEN_PASS_DEF_REHEARSESPLICEPASS
#include "kernelbrain/Driver/Passes.h.inc"
} // namespace kernelbrain

namespace {
struct RehearseSplicePass
    : kernelbrain::impl::RehearseSplicePassBase<RehearseSplicePass> {
  using RehearseSplicePassBase::RehearseSplicePassBase;
  void getDependentDialects(DialectRegistry &registry) const override {
    kernelbrain::createSplicePass()->getDependentDialects(registry);
  }
  void runOnOperation() override;
};
} // namespace

void RehearseSplicePass::runOnOperation() {
  // The splice of the result says the rest.
  ScopedDiagnosticHandler errorsOnly(&getContext(), [](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() == DiagnosticSeverity::Remark ||
                   diagnostic.getSeverity() == DiagnosticSeverity::Warning);
  });
  kernelbrain::SplicePassOptions options;
  options.emit = emit;
  options.placement = placement;
  OwningOpRef<ModuleOp> copy = getOperation().clone();
  PassManager passes(&getContext());
  passes.addPass(kernelbrain::createSplicePass(options));
  if (failed(passes.run(*copy)))
    signalPassFailure();
  markAllAnalysesPreserved();
}
