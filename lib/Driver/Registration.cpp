//===- Registration.cpp - The one list of dialects and passes -------------===//

#include "kernelbrain/Driver/Registration.h"

#include "kernelbrain/Dialect/KB/KB.h"
#include "kernelbrain/Transforms/Passes.h"
#include "mlir/IR/DialectRegistry.h"

void kernelbrain::registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<kb::KBDialect>();
}

void kernelbrain::registerPasses(std::shared_ptr<Interrupt> interrupt) {
  registerTransformsPasses();
}
