//===- Session.h - One search over one module -------------------*- C++ -*-===//
//
// Composes proposer, builder, evaluator, store and report for one module, owns
// them, and carries the module from kernels to selected variants.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_DRIVER_SESSION_H
#define KERNELBRAIN_DRIVER_SESSION_H

#include "kernelbrain/Driver/Interrupt.h"
#include "kernelbrain/Driver/SessionOptions.h"
#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <string>

namespace kernelbrain {

struct SessionSummary {
  int64_t numKernels = 0, numSearched = 0, numWinners = 0;
};

class Session {
public:
  /// `options` are resolved. `module` and `interrupt` outlive the session.
  Session(mlir::ModuleOp module, const SessionOptions &options,
          Interrupt &interrupt);
  ~Session();

  /// Bytecode of the program to compare with; without it the module itself,
  /// with its kernels put back, is the baseline program.
  void setBaselineProgram(std::string bytecode);

  /// Searches, accepts and attaches variants to the module's kernels. Emits
  /// diagnostics for failures of our own world and fails; a search that finds
  /// nothing is no failure.
  mlir::FailureOr<SessionSummary> run();

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace kernelbrain

#endif // KERNELBRAIN_DRIVER_SESSION_H
