//===- KernelLowering.h - Recipe and kernel to the LLVM dialect -*- C++ -*-===//

#ifndef KERNELBRAIN_COMPILE_KERNELLOWERING_H
#define KERNELBRAIN_COMPILE_KERNELLOWERING_H

#include "kernelbrain/Core/Kernel.h"
#include "kernelbrain/Core/Target.h"
#include "kernelbrain/Strategy/Strategy.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace kernelbrain::compile {

/// A kernel as a builder is given it.
struct KernelSource {
  Kernel description; ///< with the numbering of dynamic dimensions
  mlir::OwningOpRef<mlir::ModuleOp> module;
  kb::KernelOp op; ///< in `module`
};

/// What makes a kernel's code take too long to generate, and where that starts.
struct ResourceLimits {
  int64_t vectorBytes = 4096; ///< of one value: 64 registers of AVX-512
  int64_t operations = 40000; ///< in the LLVM dialect
};

/// A kernel in the LLVM dialect.
struct LoweredKernel {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  int64_t workspaceBytes = 0;
  Json features = Json::object();
  /// As callers see them: all floats are f64 for the strategy `reference`.
  std::vector<Argument> arguments;
  /// Of a GPU: a module with one gpu.module, whose functions `module` launches;
  /// of the emulated one, with the functions themselves.
  mlir::OwningOpRef<mlir::ModuleOp> device;
  Json launches = Json::array(); ///< Manifest::launches
  /// Not empty: over a resource limit, and which; there is no module then.
  std::string overLimit;
};

/// Builds the part of a description that building needs: name, kind, arguments
/// and the number of dynamic dimensions. Fails for an element type that kernels
/// do not have.
mlir::FailureOr<Kernel> describeKernel(kb::KernelOp op);

/// Lowers `payload` (the kernel's own body or a rewritten one) as `recipe`
/// says: with `match`, or, where that is null, as strategy `stock` or
/// `reference`. `host` is the CPU that the entry runs on: `target` itself, or
/// that of a GPU's machine, that launches the device's code. If `verified`,
/// it aborts with a message where an access of memory that verifyAccesses()
/// knows is out of bounds. The module holds `llvm.func @<kernel>` of ABI v1 and
/// what it calls. Emits diagnostics and fails where a stage does.
mlir::FailureOr<LoweredKernel>
lowerKernel(const Kernel &description, kb::KernelOp payload,
            const strategy::Match *match, const Recipe &recipe,
            const Target &target, const Target &host,
            const ResourceLimits &limits, bool verified = false);

/// Adds `kb_invoke`, which takes the entry's arguments from an array.
void addInvoke(mlir::ModuleOp module, llvm::StringRef entry);

} // namespace kernelbrain::compile

#endif // KERNELBRAIN_COMPILE_KERNELLOWERING_H
