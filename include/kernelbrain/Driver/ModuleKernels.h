//===- ModuleKernels.h - The kernels of a module ----------------*- C++ -*-===//
//
// The border between IR and plain code: reads kernels into Core's values, and
// writes winners back as kb.variant operations.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_DRIVER_MODULEKERNELS_H
#define KERNELBRAIN_DRIVER_MODULEKERNELS_H

#include "kernelbrain/Core/Estimate.h"
#include "kernelbrain/Core/Kernel.h"
#include "kernelbrain/Core/Measurement.h"
#include "kernelbrain/Core/Target.h"
#include "kernelbrain/Dialect/KB/KB.h"
#include "kernelbrain/Strategy/Strategy.h"

#include <string>
#include <vector>

namespace kernelbrain {

struct ModuleKernel {
  kb::KernelOp op;
  Kernel kernel;
  std::vector<SearchSpace> spaces; ///< of the strategies that apply
  CostModel cost;
  /// Why the kernel stays stock, as a clause; empty if a strategy applies.
  std::string leftStock;
  bool isExcluded = false; ///< by the name filter
  /// Of each strategy, why it does not apply; empty unless that is the reason.
  std::string mismatches;
};

/// The kernels of `module` in order. Those whose name does not match
/// `nameFilter` (a regular expression; empty: all) are left stock.
/// `library` must outlive the cost models.
std::vector<ModuleKernel>
collectKernels(mlir::ModuleOp module, const strategy::StrategyLibrary &library,
               const Target &target, const std::string &nameFilter,
               int64_t dynamicDim);

/// Bytecode of a module that holds nothing but a copy of `kernel`.
std::string kernelBytecode(kb::KernelOp kernel);

/// A variant that is to be kept in the IR.
struct KeptVariant {
  Recipe recipe;
  Measurement measurement;
  int64_t baselineNs = 0;
  std::string proposer, run, artifactHash;
  uint64_t ticket = 0;
  bool proven = false;
  /// Of the winner: bytecode of a module with its LLVM-dialect functions.
  std::string implementation;
  int64_t workspaceBytes = 0;
};

/// Adds `variant` behind `kernel`; with an implementation it is selected.
/// Emits a diagnostic at the kernel if the implementation cannot be read.
mlir::LogicalResult attachVariant(kb::KernelOp kernel,
                                  const KeptVariant &variant);

/// Removes the variants of `kernel`.
void detachVariants(kb::KernelOp kernel);

} // namespace kernelbrain

#endif // KERNELBRAIN_DRIVER_MODULEKERNELS_H
