//===- Registration.cpp - The one list of dialects and passes -------------===//

#include "kernelbrain/Driver/Registration.h"

#include "kernelbrain/Dialect/KB/KB.h"
#include "kernelbrain/Driver/Passes.h"
#include "kernelbrain/Transforms/Passes.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassRegistry.h"

void kernelbrain::registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<kb::KBDialect>();
}

void kernelbrain::registerPasses(std::shared_ptr<Interrupt> interrupt) {
  registerTransformsPasses();
  mlir::registerPass([interrupt] { return createSearchPass(interrupt); });
  mlir::registerPass([] { return createApplyPass(); });
  mlir::registerPass([] { return createRememberInputPass(); });
  mlir::registerPass([] { return createRehearseSplicePass(); });
  registerOptimizePipeline(interrupt);
}
