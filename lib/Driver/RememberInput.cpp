//===- RememberInput.cpp - kb-remember-input ------------------------------===//

#include "kernelbrain/Driver/InputProgram.h"
#include "kernelbrain/Driver/Passes.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace kernelbrain {
#define GEN_PASS_DEF_REMEMBERINPUTPASS
#include "kernelbrain/Driver/Passes.h.inc"
} // namespace kernelbrain

kernelbrain::InputProgram::InputProgram(Operation *module) {
  llvm::raw_string_ostream os(bytecode);
  (void)writeBytecodeToFile(module, os); // Writing to a string cannot fail.
}

namespace {
struct RememberInputPass
    : kernelbrain::impl::RememberInputPassBase<RememberInputPass> {
  void runOnOperation() override {
    (void)getAnalysis<kernelbrain::InputProgram>();
    markAllAnalysesPreserved();
  }
};
} // namespace
