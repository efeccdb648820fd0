//===- Acceptance.h - The whole program, as a user would get it -*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_DRIVER_ACCEPTANCE_H
#define KERNELBRAIN_LIB_DRIVER_ACCEPTANCE_H

#include "kernelbrain/Driver/SessionOptions.h"
#include "kernelbrain/Evaluate/Protocol/Messages.h"
#include "kernelbrain/Support/Result.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/Pass.h"

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace kernelbrain {

using evaluate::FunctionVerdict;

/// A kernel that is spliced nowhere after all.
struct Rollback {
  std::string kernel, reason;
};

/// What acceptance asks for; the session implements it, tests fake it.
struct AcceptanceHooks {
  /// Builds the program with the variants of `dropped` kernels left out, runs
  /// it beside the baseline program and says how each public function did.
  std::function<Result<std::vector<FunctionVerdict>>(
      const std::set<std::string> &dropped)>
      compare;
  /// True: compare() failed because the run is to end now.
  std::function<bool()> isInterrupted = [] { return false; };
};

/// True if a function could not be compared, for a reason that lies in the
/// baseline program or in the harness.
bool isUntested(Disposition disposition);

/// Kernels by name, each with the public functions that call it.
using Callers = std::vector<std::pair<std::string, std::set<std::string>>>;

/// Finds the kernels to roll back so that no public function differs from the
/// baseline program or loses to it. `callers` lists, for each kernel with a
/// winner, the public functions that reach it, least gain first. What a failing
/// function reaches is halved as long as one half explains the failure, so a
/// single culprit is found alone with a number of comparisons that grows like
/// the logarithm of the number of kernels. Functions that could not be
/// compared, or not be timed, roll nothing back. A hunt that is interrupted
/// drops every suspect.
Result<std::vector<Rollback>> findRollbacks(const Callers &callers,
                                            const AcceptanceHooks &hooks);

/// The public functions of `module` from which a kb.call of each kernel is
/// reached, through calls of other functions too.
Callers findCallers(mlir::ModuleOp module);

/// Runs `pass` on what is no result: the splice of the result has the same
/// remarks once more.
mlir::LogicalResult runWithoutRemarks(mlir::ModuleOp program,
                                      std::unique_ptr<mlir::Pass> pass);

/// The module with its selected variants spliced in, as text: what a user of
/// kb-optimize gets with emit=memref, or llvm. Kernels in `dropped` stay stock.
/// Where buffers lie on the device, public functions take buffers of the host.
mlir::FailureOr<std::string> emitProgram(mlir::ModuleOp module,
                                         const SessionOptions &options,
                                         const std::set<std::string> &dropped);

/// The module with all kernels put back, as text.
mlir::FailureOr<std::string> emitStockProgram(mlir::ModuleOp module);

/// The dialects that emitProgram() needs loaded.
void registerEmissionDialects(mlir::DialectRegistry &registry);

} // namespace kernelbrain

#endif // KERNELBRAIN_LIB_DRIVER_ACCEPTANCE_H
