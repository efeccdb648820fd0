//===- SessionAccept.cpp - From winners to a proven program ---------------===//

#include "SessionImpl.h"

#include "Acceptance.h"
#include "ProgramCheck.h"
#include "StockKernels.h"

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

Status Session::Impl::attachStockKernels() {
  if (!options.isCuda())
    return {};
  std::vector<const ModuleKernel *> left;
  for (const ModuleKernel &entry : kernels)
    if (!entry.isExcluded &&
        llvm::none_of(winners, [&](const SessionWinner &winner) {
          return winner.kernel == &entry;
        }))
      left.push_back(&entry);
  auto selected = selectStockKernels(left, *builder);
  if (!selected)
    return selected.error();
  stockOnDevice = std::move(*selected);
  return {};
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
  if ((winners.empty() && stockOnDevice.empty()) || options.isDryRun())
    return {};
  Status ok = compareProgram();
  if (ok || !interrupt.requested())
    return ok;
  warnUntested("interrupted");
  return {};
}

/// Kernels that gain the least come first.
static void sortByGain(Callers &callers,
                       const std::vector<SessionWinner> &winners) {
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
}

Status Session::Impl::compareProgram() {
  const Error interrupted{"interrupted"};
  if (interrupt.requested())
    return interrupted;
  bool isOnHost = isBaselineOnHost();
  if (winners.empty() && !isOnHost)
    return {}; // It is that program.
  auto baseline =
      isOnHost ? baselineOf(module, baselineProgram) : deviceBaseline();
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
  auto callers = findCallers(module);
  sortByGain(callers, winners);
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
    FailureOr<std::string> text = emitProgram(module, options, dropped);
    if (failed(text))
      return Error{"cannot emit the optimised program"};
    auto found = (*check)->compare(*text, reaching);
    if (!found)
      return found;
    // Who asks for a GPU does not want the CPU back where it is faster.
    if (options.isCuda() && isOnHost)
      for (FunctionVerdict &verdict : *found)
        if (verdict.disposition == Disposition::Slower)
          verdict.disposition = Disposition::Passed;
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

/// Whether the input program, in its stock lowering for the CPU, can be run a
/// number of times to compare with.
bool Session::Impl::isBaselineOnHost() const {
  // Seconds at the rate of the stock lowering.
  constexpr double affordableOperations = 3e8;
  if (!options.isCuda())
    return true;
  double operations = 0;
  for (const ModuleKernel &entry : kernels)
    operations += entry.kernel.flops;
  bool isAffordable = operations <= affordableOperations;
  llvm::errs() << "note: the program is compared with its stock lowering "
               << (isAffordable ? "for the CPU\n"
                                : "for the device: the CPU would take long\n");
  return isAffordable;
}

/// The program with every kernel in its stock lowering for the device.
Result<std::string> Session::Impl::deviceBaseline() {
  std::vector<const ModuleKernel *> entries;
  for (const ModuleKernel &entry : kernels)
    if (!entry.isExcluded)
      entries.push_back(&entry);
  auto stock = buildStockKernels(entries, *builder);
  if (!stock)
    return stock.error();
  OwningOpRef<ModuleOp> program = module.clone();
  llvm::StringMap<const KeptVariant *> variants;
  for (auto [entry, variant] : llvm::zip(entries, *stock))
    variants[entry->kernel.name] = &variant;
  SmallVector<kb::KernelOp> copies;
  program->walk([&](kb::KernelOp kernel) { copies.push_back(kernel); });
  for (kb::KernelOp kernel : copies) {
    detachVariants(kernel);
    const KeptVariant *variant = variants.lookup(kernel.getSymName());
    if (variant && !variant->implementation.empty() &&
        failed(attachVariant(kernel, *variant)))
      return Error{"cannot attach the stock kernel of '" +
                   kernel.getSymName().str() + "'"};
  }
  FailureOr<std::string> text = emitProgram(*program, options, {});
  if (failed(text))
    return Error{"cannot emit the program of stock device kernels"};
  return *text;
}

void Session::Impl::warnUntested(const std::string &why) {
  emitWarning(module.getLoc(), "the program is not compared with the input, "
                               "its kernels are proven one by one only: ")
      << why;
}

Status Session::Impl::rollBack(const Rollback &rollback) {
  for (auto entry = stockOnDevice.begin(); entry != stockOnDevice.end();
       ++entry) {
    if ((*entry)->kernel.name != rollback.kernel)
      continue;
    kb::KernelOp op = (*entry)->op;
    emitRemark(op.getLoc(), "kernel '")
        << rollback.kernel << "' stays on the host: " << rollback.reason;
    detachVariants(op);
    stockOnDevice.erase(entry);
    return {};
  }
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
