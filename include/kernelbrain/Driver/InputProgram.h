//===- InputProgram.h - The program before any rewrite ----------*- C++ -*-===//

#ifndef KERNELBRAIN_DRIVER_INPUTPROGRAM_H
#define KERNELBRAIN_DRIVER_INPUTPROGRAM_H

#include "mlir/Pass/AnalysisManager.h"

#include <string>

namespace kernelbrain {

/// An analysis that holds the module's bytecode as it was when it was first
/// asked for; no rewrite invalidates it.
struct InputProgram {
  explicit InputProgram(mlir::Operation *module);
  bool isInvalidated(const mlir::detail::PreservedAnalyses &) { return false; }
  std::string bytecode;
};

} // namespace kernelbrain

#endif // KERNELBRAIN_DRIVER_INPUTPROGRAM_H
