//===- Lowering.cpp - Steps shared by kernels and programs ----------------===//

#include "Lowering.h"

#include "kernelbrain/Compile/Codegen.h"
#include "kernelbrain/Transforms/Pipelines.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace mlir;

namespace kernelbrain::compile {

/// Operations without a counterpart in LLVM. (The pass arith-expand would also
/// take maximumf and the like apart, which are single instructions.)
static LogicalResult expandArithmetic(ModuleOp module, const Target &target) {
  RewritePatternSet patterns(module.getContext());
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  // Else LLVM calls a function for each element.
  if (!target.hasFeature("avx512bf16"))
    arith::populateExpandBFloat16Patterns(patterns);
  return applyPatternsGreedily(module, std::move(patterns));
}

template <typename Dialect> static bool holds(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        return isa_and_nonnull<Dialect>(op->getDialect())
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult lowerThreads(ModuleOp module, int64_t threads) {
  // Scopes of allocas that hold none go while they are of one block: later,
  // canonicalization would keep the first of their blocks only.
  if (failed(runPipeline(module, "convert-scf-to-openmp{num-threads=" +
                                     std::to_string(threads) +
                                     "},canonicalize")))
    return failure();
  // The end of the parallel region waits for all threads; once is enough.
  module.walk([](omp::WsloopOp loop) { loop.setNowait(true); });
  return success();
}

LogicalResult checkLowered(Operation *root) {
  LogicalResult result = success();
  root->walk([&](Operation *op) {
    if (!isa<LLVM::LLVMDialect, BuiltinDialect, omp::OpenMPDialect,
             NVVM::NVVMDialect>(op->getDialect()) &&
        !isa<gpu::GPUModuleOp>(op)) {
      result = op->emitOpError("cannot be compiled");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  if (failed(result))
    return result;
  root->walk([&](UnrealizedConversionCastOp cast) {
    for (Type type :
         {cast.getOperandTypes().front(), cast.getResultTypes().front()})
      if (!LLVM::isCompatibleType(type)) {
        result = cast.emitError("values of type ")
                 << type << " cannot be compiled";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return result;
}

LogicalResult lowerToLLVM(ModuleOp module, const Target &target) {
  if (failed(expandArithmetic(module, target)))
    return failure();
  if (holds<complex::ComplexDialect>(module) &&
      failed(runPipeline(module, "convert-complex-to-standard,"
                                 "convert-complex-to-llvm")))
    return failure();
  bool holdsPower =
      module.walk([](math::IPowIOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  // Other powers have an instruction of LLVM's: no exponent is that wide.
  if (holdsPower &&
      failed(runPipeline(
          module, "convert-math-to-funcs{min-width-of-fpowi-exponent=1000}")))
    return failure();
  const char *threads =
      holds<omp::OpenMPDialect>(module) ? "convert-openmp-to-llvm," : "";
  if (failed(runPipeline(
          module,
          std::string("func.func(convert-vector-to-scf{full-unroll=true}),"
                      "expand-strided-metadata,lower-affine,convert-scf-to-cf,"
                      "canonicalize,cse,") +
              threads +
              // Calls of libm take vectors apart.
              "convert-math-to-llvm,convert-math-to-libm,"
              "convert-vector-to-llvm,"
              "convert-arith-to-llvm,convert-index-to-llvm,convert-ub-to-llvm,"
              "convert-cf-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,"
              "reconcile-unrealized-casts,canonicalize,cse")))
    return failure();
  return checkLowered(module);
}

std::optional<ElementType> elementTypeOf(Type type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  type.print(stream);
  return elementTypeFromString(text);
}

std::vector<std::string> neededLibraries(const llvm::Module &module) {
  std::vector<std::string> libraries;
  auto calls = [&](StringRef prefix) {
    return llvm::any_of(module, [&](const llvm::Function &function) {
      return function.isDeclaration() &&
             function.getName().ltrim('\1').starts_with(prefix);
    });
  };
  if (calls("__kmpc_"))
    libraries.push_back(openmpRuntime);
  if (calls("kbcu"))
    libraries.push_back(cudaRuntime);
  return libraries;
}

Result<std::string> manifestObject(const Manifest &manifest,
                                   const CodeGenerator &generator) {
  llvm::LLVMContext context;
  llvm::Module module("manifest", context);
  generator.prepare(module);
  llvm::Constant *text = llvm::ConstantDataArray::getString(
      context, dumpJson(toJson(manifest)), /*AddNull=*/true);
  new llvm::GlobalVariable(module, text->getType(), /*isConstant=*/true,
                           llvm::GlobalValue::ExternalLinkage, text,
                           "kb_manifest");
  return generator.emitObject(module);
}

} // namespace kernelbrain::compile
