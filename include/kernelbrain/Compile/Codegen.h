//===- Codegen.h - LLVM IR to object code -----------------------*- C++ -*-===//

#ifndef KERNELBRAIN_COMPILE_CODEGEN_H
#define KERNELBRAIN_COMPILE_CODEGEN_H

#include "kernelbrain/Core/Target.h"
#include "kernelbrain/Support/Result.h"
#include "llvm/ADT/StringRef.h"

#include <memory>
#include <string>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace kernelbrain::compile {

/// Code generation for one target, as clang -O3 of that CPU or GPU does it.
class CodeGenerator {
public:
  /// For a CPU.
  static Result<std::unique_ptr<CodeGenerator>> create(const Target &target);
  /// For an NVIDIA GPU by LLVM's name; the assembly is PTX of the given version
  /// (80: 8.0).
  static Result<std::unique_ptr<CodeGenerator>>
  createForGpu(llvm::StringRef chip, unsigned ptxVersion);
  ~CodeGenerator();

  /// Why code for a machine with this target triple and data layout cannot be
  /// made here; empty if it can. Empty texts fit every machine.
  std::string mismatch(llvm::StringRef triple, llvm::StringRef layout) const;

  /// Sets triple and data layout, and the target's CPU and features on every
  /// definition that has none.
  void prepare(llvm::Module &module) const;
  /// The O3 pipeline, loop and SLP vectorisers on. `bounded`: O2 if a function
  /// has more than `maxAggressiveInstructions`. What O3 does more is to unroll
  /// loops of hundreds of iterations, which takes up to five times as long to
  /// compile and gained nothing in kernels of that size.
  void optimize(llvm::Module &module, bool bounded = false) const;

  static constexpr unsigned maxAggressiveInstructions = 180;

  /// Position independent object code.
  Result<std::string> emitObject(llvm::Module &module) const;
  /// The same as text.
  Result<std::string> emitAssembly(llvm::Module &module) const;

private:
  CodeGenerator();
  Result<std::string> emit(llvm::Module &module, bool object) const;
  std::unique_ptr<llvm::TargetMachine> machine;
};

} // namespace kernelbrain::compile

#endif // KERNELBRAIN_COMPILE_CODEGEN_H
