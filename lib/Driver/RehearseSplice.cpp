//===- RehearseSplice.cpp - kb-rehearse-splice ----------------------------===//

#include "Acceptance.h"

#include "kernelbrain/Driver/Passes.h"
#include "kernelbrain/Transforms/Passes.h"

#include "mlir/IR/BuiltinOps.h"

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
  kernelbrain::SplicePassOptions options;
  options.emit = emit;
  options.placement = placement;
  OwningOpRef<ModuleOp> copy = getOperation().clone();
  if (failed(kernelbrain::runWithoutRemarks(
          *copy, kernelbrain::createSplicePass(options))))
    signalPassFailure();
  markAllAnalysesPreserved();
}
