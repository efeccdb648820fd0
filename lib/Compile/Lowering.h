//===- Lowering.h - Steps shared by kernels and programs --------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_COMPILE_LOWERING_H
#define KERNELBRAIN_LIB_COMPILE_LOWERING_H

#include "kernelbrain/Core/Artifact.h"
#include "kernelbrain/Core/Target.h"
#include "mlir/IR/BuiltinOps.h"

namespace llvm {
class Module;
} // namespace llvm

namespace kernelbrain::compile {

class CodeGenerator;

/// Makes the module's `scf.parallel` loops run on so many threads of the OpenMP
/// runtime; lowerToLLVM() does the rest.
mlir::LogicalResult lowerThreads(mlir::ModuleOp module, int64_t threads);

/// Lowers functions of arith, math, scf, memref, vector and cf operations to
/// the LLVM dialect. Vector operations stay whole where LLVM has them.
mlir::LogicalResult lowerToLLVM(mlir::ModuleOp module, const Target &target);

/// Emits a diagnostic and fails for what the passes to the LLVM dialect had no
/// counterpart for: an operation, else a type, of which they leave casts.
mlir::LogicalResult checkLowered(mlir::Operation *root);

/// Puts an assertion in front of every load and store, scalar or of vectors,
/// also masked, whose message is the operation; lanes that a mask leaves out
/// may lie anywhere. Transfers become such accesses, or test their bounds
/// themselves. Other accesses (gathers, calls of intrinsics, what goes through
/// a raw pointer) stay as they are. Fails if transfers cannot be taken apart.
mlir::LogicalResult verifyAccesses(mlir::ModuleOp module);

/// A symbol's name for an element type of Core/Kernel.h, if there is one.
std::optional<ElementType> elementTypeOf(mlir::Type type);

/// Shared libraries that `module` needs beyond those of C and mathematics.
std::vector<std::string> neededLibraries(const llvm::Module &module);

/// An object with the manifest's text as the constant `kb_manifest`.
Result<std::string> manifestObject(const Manifest &manifest,
                                   const CodeGenerator &generator);

} // namespace kernelbrain::compile

#endif // KERNELBRAIN_LIB_COMPILE_LOWERING_H
