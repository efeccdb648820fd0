//===- Acceptance.cpp - The whole program, as a user would get it ---------===//

#include "Acceptance.h"

#include "kernelbrain/Dialect/KB/KB.h"
#include "kernelbrain/Driver/ModuleKernels.h"
#include "kernelbrain/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace kernelbrain;

//===----------------------------------------------------------------------===//
// Rolling back
//===----------------------------------------------------------------------===//

bool kernelbrain::isUntested(Disposition disposition) {
  return disposition == Disposition::NotRun ||
         disposition == Disposition::HarnessFault;
}

namespace {

using Verdicts = std::vector<FunctionVerdict>;

/// Neither noise nor a function that cannot be tried is a reason to roll back a
/// kernel that was accepted by itself.
bool isGood(const FunctionVerdict &verdict) {
  return verdict.disposition == Disposition::Passed ||
         verdict.disposition == Disposition::Unstable ||
         isUntested(verdict.disposition);
}

bool passes(const Verdicts &verdicts, const std::string &function) {
  for (const FunctionVerdict &verdict : verdicts)
    if (verdict.name == function)
      return isGood(verdict);
  return true;
}

/// Kernels that `function` reaches and that are not dropped, least gain first.
std::vector<std::string> findSuspects(const Callers &callers,
                                      const std::string &function,
                                      const std::set<std::string> &dropped) {
  std::vector<std::string> suspects;
  for (const auto &[kernel, functions] : callers)
    if (functions.count(function) && !dropped.count(kernel))
      suspects.push_back(kernel);
  return suspects;
}

/// The state of one hunt for the kernels at fault.
struct RollbackSearch {
  const Callers &callers;
  const AcceptanceHooks &hooks;
  std::set<std::string> dropped;
  std::vector<Rollback> rollbacks;
  Verdicts verdicts;

  Status compare() {
    auto result = hooks.compare(dropped);
    if (!result)
      return result.error();
    verdicts = std::move(*result);
    return {};
  }

  void drop(const std::string &kernel, const FunctionVerdict &verdict) {
    dropped.insert(kernel);
    std::string reason =
        "function '" + verdict.name + "' is " + toString(verdict.disposition);
    if (!verdict.reason.empty())
      reason += ": " + verdict.reason;
    rollbacks.push_back({kernel, reason});
  }

  /// Drops what any function reaches that failed in `known`.
  void dropSuspects(const Verdicts &known) {
    for (const FunctionVerdict &verdict : known)
      if (!isGood(verdict))
        for (const std::string &kernel :
             findSuspects(callers, verdict.name, dropped))
          drop(kernel, verdict);
  }

  /// The first function that fails and reaches a kernel of ours. A function
  /// that differs without one is a fault of ours all the same.
  Result<std::optional<FunctionVerdict>> nextFailure() const {
    for (const FunctionVerdict &verdict : verdicts) {
      if (isGood(verdict))
        continue;
      if (!findSuspects(callers, verdict.name, dropped).empty())
        return std::optional(verdict);
      if (verdict.disposition == Disposition::Incorrect)
        return Error{"function '" + verdict.name +
                     "' differs from the baseline program without any kernel "
                     "spliced into it: " +
                     verdict.reason};
    }
    return std::optional<FunctionVerdict>();
  }

  /// True if `failure` is gone without `kernels`.
  Result<bool> isCuredBy(const FunctionVerdict &failure,
                         const std::vector<std::string> &kernels) {
    std::set<std::string> before = dropped;
    dropped.insert(kernels.begin(), kernels.end());
    Status ok = compare();
    dropped = std::move(before);
    if (!ok)
      return ok.error();
    return passes(verdicts, failure.name);
  }

  /// Drops the one kernel that explains `failure`, else the smallest group that
  /// halving finds: a comparison builds and runs the program, which may have
  /// hundreds of kernels.
  Status resolve(const FunctionVerdict &failure) {
    std::vector<std::string> suspects =
        findSuspects(callers, failure.name, dropped);
    while (suspects.size() > 1) {
      auto middle = suspects.begin() + std::ptrdiff_t(suspects.size() / 2);
      std::vector<std::string> halves[] = {{suspects.begin(), middle},
                                           {middle, suspects.end()}};
      bool narrowed = false;
      for (std::vector<std::string> &half : halves) {
        Result<bool> cured = isCuredBy(failure, half);
        if (!cured)
          return cured.error();
        if (!*cured)
          continue;
        suspects = std::move(half);
        narrowed = true;
        break;
      }
      if (!narrowed)
        break;
    }
    for (const std::string &kernel : suspects)
      drop(kernel, failure);
    return compare();
  }
};

} // namespace

Result<std::vector<Rollback>>
kernelbrain::findRollbacks(const Callers &callers,
                           const AcceptanceHooks &hooks) {
  RollbackSearch search{callers, hooks, {}, {}, {}};
  if (Status ok = search.compare(); !ok)
    return ok.error();
  for (;;) {
    auto failure = search.nextFailure();
    if (!failure)
      return failure.error();
    if (!*failure)
      return search.rollbacks;
    Verdicts known = search.verdicts;
    Status ok = search.resolve(**failure);
    if (!ok && !hooks.isInterrupted())
      return ok.error();
    if (!ok) {
      search.dropSuspects(known);
      return search.rollbacks;
    }
  }
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

namespace {

/// Adds to `reached` the kernels that `function` calls, through other functions
/// of the module too.
void collectReached(func::FuncOp function, SymbolTable &symbols,
                    std::set<Operation *> &visited,
                    std::set<std::string> &reached) {
  if (!visited.insert(function).second)
    return;
  function.walk([&](Operation *op) {
    if (auto call = dyn_cast<kb::CallOp>(op))
      reached.insert(call.getCallee().getLeafReference().str());
    else if (auto call = dyn_cast<func::CallOp>(op))
      if (auto callee = symbols.lookup<func::FuncOp>(call.getCallee()))
        collectReached(callee, symbols, visited, reached);
  });
}

} // namespace

Callers kernelbrain::findCallers(ModuleOp module) {
  SymbolTable symbols(module);
  Callers callers;
  module.walk([&](kb::VariantOp variant) {
    if (variant.getSelected())
      callers.push_back({variant.getKernel().str(), {}});
  });
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function.isPublic() || function.isExternal())
      continue;
    std::set<Operation *> visited;
    std::set<std::string> reached;
    collectReached(function, symbols, visited, reached);
    for (auto &[kernel, functions] : callers)
      if (reached.count(kernel))
        functions.insert(function.getName().str());
  }
  return callers;
}

/// The splice of kb-optimize; tensor level is accepted as the memref level that
/// it bufferizes to.
static std::unique_ptr<Pass> createEmission(const SessionOptions &session) {
  SplicePassOptions options;
  options.placement = session.placement;
  options.hostEntries = session.placement == "device";
  options.emit = session.emit == "tensor" ? "memref" : session.emit;
  return createSplicePass(options);
}

void kernelbrain::registerEmissionDialects(DialectRegistry &registry) {
  createEmission(SessionOptions())->getDependentDialects(registry);
}

LogicalResult kernelbrain::runWithoutRemarks(ModuleOp program,
                                             std::unique_ptr<Pass> pass) {
  ScopedDiagnosticHandler withoutRemarks(
      program.getContext(), [](Diagnostic &diagnostic) {
        return success(diagnostic.getSeverity() == DiagnosticSeverity::Remark);
      });
  PassManager passes(program.getContext());
  passes.addPass(std::move(pass));
  return passes.run(program);
}

/// `program` after `pass`, as text.
static FailureOr<std::string> printAfter(ModuleOp program,
                                         std::unique_ptr<Pass> pass) {
  if (failed(runWithoutRemarks(program, std::move(pass))))
    return failure();
  std::string text;
  llvm::raw_string_ostream os(text);
  program.print(os);
  return text;
}

FailureOr<std::string>
kernelbrain::emitProgram(ModuleOp module, const SessionOptions &options,
                         const std::set<std::string> &dropped) {
  OwningOpRef<ModuleOp> program = module.clone();
  SmallVector<kb::KernelOp> stock;
  program->walk([&](kb::KernelOp kernel) {
    if (dropped.count(kernel.getSymName().str()))
      stock.push_back(kernel);
  });
  for (kb::KernelOp kernel : stock)
    detachVariants(kernel);
  return printAfter(*program, createEmission(options));
}

FailureOr<std::string> kernelbrain::emitStockProgram(ModuleOp module) {
  OwningOpRef<ModuleOp> program = module.clone();
  return printAfter(*program, createInlinePass());
}
