//===- VariantBuilder.h - Recipe to artifact --------------------*- C++ -*-===//
//
//  recipe, kernel -> payload, legality -> LLVM dialect -> LLVM IR -> O3
//                    (rung 0)                                   |
//                               .so with manifest <- object <---+---> bytecode
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_COMPILE_VARIANTBUILDER_H
#define KERNELBRAIN_COMPILE_VARIANTBUILDER_H

#include "kernelbrain/Compile/DeviceCode.h"
#include "kernelbrain/Compile/KernelLowering.h"
#include "kernelbrain/Compile/Link.h"
#include "kernelbrain/Core/Artifact.h"
#include "kernelbrain/Core/Measurement.h"

namespace kernelbrain::compile {

/// How far to go.
enum class Output {
  Static,         ///< rung 0: legality and resources
  Artifact,       ///< a shared object
  Verified,       ///< the same with checks of memory accesses
  Implementation, ///< bytecode of optimised LLVM-dialect functions
  // For people who look at what is made:
  LoweredText,   ///< the LLVM dialect before code generation
  VerifiedText,  ///< the same with checks of memory accesses
  OptimizedText, ///< LLVM IR after optimisation, a GPU's as well
  AssemblyText   ///< of the CPU; of a GPU, PTX behind what ptxas says of it
};

/// What became of a recipe.
struct BuiltVariant {
  Disposition disposition = Disposition::HarnessFault; ///< Passed: it is built
  std::string reason;
  Manifest manifest;
  std::string bytes;
  Json timesNs = Json::object(); ///< by stage, and the sums static and build
};

/// Strategies that somebody else owns.
using StrategyList = llvm::ArrayRef<strategy::Strategy>;

/// What all builds of a process share; made once.
struct Toolchain {
  Target target;
  Target host; ///< the CPU that entries run on: `target`, or a GPU's host
  StrategyList strategies; ///< they outlive this
  ResourceLimits limits;
  std::unique_ptr<CodeGenerator> codeGenerator; ///< for `host`
  std::unique_ptr<DeviceCodeGenerator> device;  ///< for a GPU that is one
  std::unique_ptr<Linker> linker;

  /// For `target`, with the C library of this process. The host's side of a
  /// GPU's kernels only launches: it is made for any CPU of the architecture,
  /// so that what is found for a GPU runs beside every one of its kind.
  static Result<Toolchain> create(const Target &target,
                                  StrategyList strategies);
};

/// Called at the start of each stage with its name, a static string.
using StageObserver = llvm::function_ref<void(const char *stage)>;

/// Builds `recipe` of `kernel`. With a payload, knobs that the recipe does not
/// name have the defaults of the strategy for that payload. Whatever is wrong
/// with the recipe is in the result. The payload's text is untrusted: this
/// function may crash, hang or take all memory on it, and is meant for a child
/// process.
BuiltVariant buildVariant(const KernelSource &kernel, const Recipe &recipe,
                          Output output, const Toolchain &toolchain,
                          StageObserver onStage);

/// What a rewritten body comes to.
struct ReadPayload {
  Disposition disposition = Disposition::HarnessFault; ///< Passed: it is legal
  std::string reason;
  std::string text; ///< in normal form, as printKernelText() writes it
  /// Of every strategy that applies to it, and of the stock lowering.
  std::vector<SearchSpace> spaces;
};

/// Reads the text of a payload for `kernel`. Untrusted like buildVariant()'s.
ReadPayload readPayload(const KernelSource &kernel, llvm::StringRef text,
                        const Toolchain &toolchain);

/// The dialects, interfaces, passes and translations that buildVariant() needs.
void registerCompileDialects(mlir::DialectRegistry &registry);
/// Loads the dialects that kernels and their lowering use: a child process
/// then need not.
void preloadDialects(mlir::MLIRContext &context);

/// Parses a module with exactly one kb.kernel (text or bytecode) for
/// buildVariant(). The error is MLIR's first diagnostic.
Result<KernelSource> parseKernelSource(llvm::StringRef text,
                                       mlir::MLIRContext &context);

} // namespace kernelbrain::compile

#endif // KERNELBRAIN_COMPILE_VARIANTBUILDER_H
