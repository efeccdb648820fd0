//===- SessionAccept.cpp - From winners to a proven program ---------------===//

#include "SessionImpl.h"

#include "Acceptance.h"
#include "ProgramCheck.h"

#include "kernelbrain/Report/Summary.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "llvm/Support/raw_ostream.h"

#include <ctime>

using namespace mlir;
using namespace kernelbrain;

/// Runners-up that stay in the IR beside a winner.
constexpr size_t keptRunnersUp = 3;

LogicalResult Session::Impl::attachWinners() {
  std::vector<search::BuildRequest> requests;
  for (const SessionWinner &winner : winners)
    if (!winner.fromDatabase)
      requests.push_back({0, winner.kernel->kernel.name, winner.variant.recipe,
                          search::BuildOutput::Implementation});
  auto built = builder->buildAll(std::move(requests));
  if (!built)
    return emitError(module.getLoc(), built.error().message);
  auto next = built->begin();
  for (SessionWinner &winner : winners) {
    kb::KernelOp op = winner.kernel->op;
    if (!winner.fromDatabase) {
      search::BuildResult &implementation = *next++;
      if (implementation.disposition != Disposition::Passed)
        return emitError(op.getLoc(), "cannot build the winner of kernel '")
               << op.getSymName() << "' again: " << implementation.reason;
      winner.variant.implementation = std::move(implementation.implementation);
      winner.variant.workspaceBytes =
          implementation.artifact.manifest.workspaceBytes;
      winner.irHash = implementation.artifact.manifest.irHash;
    }
    detachVariants(op);
    if (failed(attachVariant(op, winner.variant)))
      return failure();
    if (winner.runnersUp.size() > keptRunnersUp)
      winner.runnersUp.resize(keptRunnersUp);
    for (const KeptVariant &other : winner.runnersUp)
      if (failed(attachVariant(op, other)))
        return failure();
  }
  return success();
}

/// The program to compare with, as bytecode: the input where kb-optimize kept
/// it, else this module with its kernels put back.
static Result<std::string> baselineOf(ModuleOp module,
                                      const std::string &input) {
  if (!input.empty())
    return input;
  FailureOr<std::string> text = emitStockProgram(module);
  if (failed(text))
    return Error{"cannot put the kernels back for the baseline program"};
  return *text;
}

Status Session::Impl::acceptProgram() {
  if (winners.empty() || options.isDryRun())
    return {};
  Status ok = compareProgram();
  if (ok || !interrupt.requested())
    return ok;
  warnUntested("interrupted");
  return {};
}

Status Session::Impl::compareProgram() {
  const Error interrupted{"interrupted"};
  if (interrupt.requested())
    return interrupted;
  auto callers = findCallers(module);
  auto gain = [&](const std::string &kernel) {
    for (const SessionWinner &winner : winners)
      if (winner.kernel->kernel.name == kernel)
        return winner.variant.measurement.speedup.value_or(Ratio{}).middle;
    return 0.0;
  };
  std::stable_sort(callers.begin(), callers.end(),
                   [&](const auto &a, const auto &b) {
                     return gain(a.first) < gain(b.first);
                   });
  auto baseline = baselineOf(module, baselineProgram);
  if (!baseline)
    return baseline.error();
  auto check = ProgramCheck::start(options, store->runFolder(),
                                   [this] { return interrupt.isOverdue(); });
  if (!check)
    return check.error();
  auto why = (*check)->setBaseline(*baseline);
  if (!why)
    return why.error();
  if (!why->empty()) {
    warnUntested("the input program cannot be built: " + *why);
    return {};
  }
  std::set<std::string> reaching;
  for (const auto &[kernel, functions] : callers)
    reaching.insert(functions.begin(), functions.end());
  std::vector<FunctionVerdict> verdicts;
  AcceptanceHooks hooks;
  hooks.isInterrupted = [this] { return interrupt.requested(); };
  hooks.compare = [&](const std::set<std::string> &dropped)
      -> Result<std::vector<FunctionVerdict>> {
    if (interrupt.requested())
      return interrupted;
    FailureOr<std::string> text = emitProgram(module, options.emit, dropped);
    if (failed(text))
      return Error{"cannot emit the optimised program"};
    auto found = (*check)->compare(*text, reaching);
    if (found)
      verdicts = *found;
    return found;
  };
  auto rollbacks = findRollbacks(callers, hooks);
  if (!rollbacks)
    return rollbacks.error();
  for (const Rollback &rollback : *rollbacks)
    if (Status ok = rollBack(rollback); !ok)
      return ok;
  if (!(*check)->unusable().empty())
    warnUntested((*check)->unusable());
  for (const FunctionVerdict &verdict : verdicts)
    if (isUntested(verdict.disposition) && reaching.count(verdict.name))
      warnUntested("function '" + verdict.name + "': " + verdict.reason);
  return {};
}

void Session::Impl::warnUntested(const std::string &why) {
  emitWarning(module.getLoc(), "the program is not compared with the input, "
                               "its kernels are proven one by one only: ")
      << why;
}

Status Session::Impl::rollBack(const Rollback &rollback) {
  for (auto winner = winners.begin(); winner != winners.end(); ++winner) {
    if (winner->kernel->kernel.name != rollback.kernel)
      continue;
    kb::KernelOp op = winner->kernel->op;
    emitRemark(op.getLoc(), "kernel '")
        << rollback.kernel << "' is rolled back: " << rollback.reason;
    Measurement measurement = winner->variant.measurement;
    measurement.disposition = Disposition::RolledBack;
    measurement.reason = rollback.reason;
    Json data = {{"kernel", rollback.kernel},
                 {"ticket", winner->variant.ticket},
                 {"recipe", toJson(winner->variant.recipe)},
                 {"measurement", toJson(measurement)}};
    detachVariants(op);
    winners.erase(winner);
    return events.notify({"rolled_back", std::move(data)});
  }
  return {};
}

Status Session::Impl::record() {
  store::TuningDatabase *database = store->database();
  if (!database || database->isReadOnly())
    return {};
  std::vector<store::TuningEntry> entries;
  for (const SessionWinner &winner : winners) {
    if (winner.fromDatabase)
      continue;
    store::TuningEntry entry;
    entry.key = keyOf(*winner.kernel);
    entry.recipe = winner.variant.recipe;
    entry.codeHash = winner.codeHash;
    entry.measurement = winner.variant.measurement;
    entry.proof = makeProof(winner.irHash, builder->llvmVersion(), runHash);
    entry.runHash = runHash;
    entry.proven = winner.variant.proven;
    entry.createdSeconds = std::time(nullptr);
    entries.push_back(std::move(entry));
  }
  return entries.empty() ? Status() : database->record(entries);
}

Status Session::Impl::finish() {
  if (Status ok = events.release(); !ok)
    return ok;
  if (Status ok = store->close(); !ok)
    return ok;
  progress->hide();
  llvm::errs() << report::summaryText(runRecord);
  if (options.isDryRun() && !winners.empty())
    emitWarning(module.getLoc(),
                "winners of a dry run are unproven: no device has "
                "checked them");
  return {};
}
