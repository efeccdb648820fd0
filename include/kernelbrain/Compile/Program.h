//===- Program.h - Whole modules, ahead of time -----------------*- C++ -*-===//

#ifndef KERNELBRAIN_COMPILE_PROGRAM_H
#define KERNELBRAIN_COMPILE_PROGRAM_H

#include "kernelbrain/Core/Artifact.h"
#include "kernelbrain/Core/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"

#include <string>

namespace kernelbrain::compile {

struct ProgramOptions {
  Target target; ///< of makeTarget()
  std::string soname = "program.so";
  /// Every f16, bf16 and f32 becomes f64, also in signatures: a reference for
  /// the program's results.
  bool promoteFloats = false;
};

struct Program {
  std::string sharedObject; ///< bytes
  Manifest manifest;        ///< kind "program"; also inside, as `kb_manifest`
};

/// The dialects, interfaces, passes and translations that compileProgram()
/// needs, for the registry of the context that parses its module.
void registerProgramDialects(mlir::DialectRegistry &registry);

/// Compiles a module at tensor, memref or llvm level (or a mixture) with the
/// stock pipeline: loops, no tiling, O3 for the target's CPU. Every public
/// function gets a C entry `_mlir_ciface_<name>`, private ones are internal;
/// the result needs no library but those of C and of what it calls (OpenMP, the
/// CUDA runtime). Nested modules (the sources of
/// kernels) are dropped. `module` is lowered in place.
/// Emits diagnostics and fails for what upstream's passes cannot lower; symbols
/// that the module only declares are left to whoever loads the result.
/// Not for processes with several threads (Compile/Link.h).
mlir::FailureOr<Program> compileProgram(mlir::ModuleOp module,
                                        const ProgramOptions &options);

} // namespace kernelbrain::compile

#endif // KERNELBRAIN_COMPILE_PROGRAM_H
