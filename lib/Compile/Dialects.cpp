//===- Dialects.cpp - What a context needs to compile ---------------------===//

#include "kernelbrain/Compile/Program.h"
#include "kernelbrain/Compile/VariantBuilder.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMIRToLLVMTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/OpenMP/OpenMPToLLVMIRTranslation.h"

using namespace mlir;

namespace kernelbrain::compile {

void registerCompileDialects(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<kb::KBDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerOpenMPDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  registerLLVMDialectImport(registry);
  static const bool once = (registerAllPasses(), true); // Pipelines are text.
  (void)once;
}

void registerProgramDialects(DialectRegistry &registry) {
  registerCompileDialects(registry);
}

void preloadDialects(MLIRContext &context) {
  for (const char *name :
       {"affine", "arith", "bufferization", "cf", "dlti", "func", "gpu",
        "index", "kb", "linalg", "llvm", "math", "memref", "nvvm", "omp", "scf",
        "tensor", "ub", "vector"})
    context.getOrLoadDialect(name);
}

} // namespace kernelbrain::compile
