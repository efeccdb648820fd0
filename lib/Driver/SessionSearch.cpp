//===- SessionSearch.cpp - From kernels to winners ------------------------===//

#include "SessionImpl.h"

#include "ModelProposer.h"
#include "Workbenches.h"

#include "kernelbrain/Propose/BuiltinProposer.h"
#include "kernelbrain/Propose/RandomProposer.h"
#include "kernelbrain/Propose/ReplayProposer.h"
#include "kernelbrain/Report/Estimate.h"
#include "kernelbrain/Search/PrintTree.h"
#include "kernelbrain/Store/Location.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <cmath>
#include <filesystem>

using namespace kernelbrain;

//===----------------------------------------------------------------------===//
// Around the search
//===----------------------------------------------------------------------===//

Status Session::Impl::openObservers() {
  progress = std::make_unique<report::Progress>(runRecord,
                                                report::standardErrorDisplay());
  if (search::Observer *journal = store->journal())
    events.observers.push_back(journal);
  events.observers.push_back(&runRecord);
  events.observers.push_back(progress.get());
  if (!options.log.empty()) {
    auto opened = report::JsonLog::open(options.log);
    if (!opened)
      return opened.error();
    log = std::move(*opened);
    events.observers.push_back(log.get());
  }
  for (const auto &notes : {store->notes(), builder->notes()})
    for (const std::string &note : notes)
      llvm::errs() << "note: " << note << "\n";
  return {};
}

static search::SearchOptions searchOptions(const SessionOptions &options) {
  search::SearchOptions result;
  result.seed = options.seed;
  if (options.isDryRun())
    result.modelledBuildNs = 100000000; // The median of a build, and constant.
  return result;
}

static search::Budget searchBudget(const SessionOptions &options) {
  search::Budget budget;
  if (options.budgetSeconds > 0)
    budget[search::Currency::Wall] = options.budgetSeconds * 1000000000;
  if (options.maxVariants > 0)
    budget[search::Currency::Variants] = options.maxVariants;
  if (options.maxTokens > 0)
    budget[search::Currency::Tokens] = options.maxTokens;
  if (options.maxCost > 0)
    budget[search::Currency::Money] = std::llround(options.maxCost * 1e6);
  return budget;
}

store::TuningKey Session::Impl::keyOf(const ModuleKernel &entry) const {
  return store::tuningKey(entry.kernel, target, options.placement,
                          library.hash(), options.baselinePipeline);
}

/// Reads the database, if there is one, without making a store.
Status Session::Impl::findKnown() {
  auto path = store::findStore(options.store);
  if (!path)
    return path.error();
  std::string file = store::databasePath(*path);
  std::error_code ignored;
  if (options.fresh || options.isDryRun() ||
      !std::filesystem::exists(file, ignored))
    return {};
  auto database =
      store::TuningDatabase::open(file, store::TuningDatabase::Mode::ReadOnly);
  if (!database)
    return database.error();
  for (const ModuleKernel &entry : kernels) {
    auto found = database->lookupProven(keyOf(entry));
    if (!found)
      return found.error();
    if (*found && entry.leftStock.empty())
      runRecord.addKnown(entry.kernel, entry.spaces, (*found)->recipe,
                         (*found)->measurement, /*baselineNs=*/0);
  }
  return {};
}

Status Session::Impl::printEstimate() {
  if (Status ok = findKnown(); !ok)
    return ok;
  report::PlanLimits limits;
  if (options.budgetSeconds > 0)
    limits.seconds = static_cast<double>(options.budgetSeconds);
  if (options.maxVariants > 0)
    limits.variants = static_cast<double>(options.maxVariants);
  std::vector<report::KernelPlan> plans = report::planKernels(
      search::estimateRun(makeTasks(), searchOptions(options)), limits);
  // What is not searched is no task.
  for (const report::KernelRecord &record : runRecord.kernels()) {
    report::KernelPlan &plan = plans.emplace_back();
    plan.name = record.name;
    plan.kind = record.kind;
    plan.share = record.share;
    plan.skipped = record.fromDatabase ? "the database has a proven winner"
                                       : record.stockReason();
  }
  llvm::errs() << report::estimateText(plans, limits);
  return {};
}

//===----------------------------------------------------------------------===//
// What the database knows
//===----------------------------------------------------------------------===//

/// Winners that were proven for this very target need no search; other entries
/// of a kernel are tried first.
Status Session::Impl::applyProven() {
  store::TuningDatabase *database = store->database();
  if (!database || options.fresh)
    return {};
  std::vector<EntryToApply> proven;
  for (const ModuleKernel &entry : kernels) {
    if (!entry.leftStock.empty())
      continue;
    auto found = database->lookup(keyOf(entry));
    if (!found)
      return found.error();
    bool isProven = !found->empty() && found->front().proven;
    // What an interrupted run found by then is no reason not to go on with it.
    if (isProven && store->isResumed() && found->front().runHash == runHash)
      continue;
    if (isProven)
      proven.push_back({&entry, found->front()});
    else
      for (const store::TuningEntry &other : *found)
        seeds[entry.kernel.hash].push_back(other.recipe);
  }
  auto applied = applyEntries(proven, *builder);
  if (!applied)
    return applied.error();
  for (size_t i = 0; i < applied->size(); ++i) {
    AppliedEntry &result = (*applied)[i];
    const ModuleKernel *kernel = proven[i].kernel;
    if (!result.proven) {
      mlir::Operation *op = proven[i].kernel->op;
      mlir::emitRemark(op->getLoc(),
                       "entry of the tuning database for kernel '")
          << kernel->kernel.name << "' is unproven: " << result.why;
      seeds[kernel->kernel.hash].push_back(result.entry.recipe);
      continue;
    }
    SessionWinner winner;
    winner.kernel = kernel;
    winner.variant = std::move(result.variant);
    winner.fromDatabase = true;
    runRecord.addKnown(kernel->kernel, kernel->spaces, winner.variant.recipe,
                       winner.variant.measurement, winner.variant.baselineNs);
    winners.push_back(std::move(winner));
  }
  if (!winners.empty())
    llvm::errs() << "note: " << winners.size()
                 << (winners.size() == 1 ? " kernel has" : " kernels have")
                 << " a proven winner in the tuning database (option 'fresh' "
                    "searches again)\n";
  return {};
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

std::vector<search::KernelTask> Session::Impl::makeTasks() {
  std::vector<search::KernelTask> tasks;
  for (const ModuleKernel &entry : kernels) {
    if (runRecord.find(entry.kernel.name))
      continue; // It stays stock, or the database has its winner.
    search::KernelTask &task = tasks.emplace_back();
    task.kernel = entry.kernel;
    task.spaces = entry.spaces;
    task.cost = entry.cost;
    if (auto found = seeds.find(entry.kernel.hash); found != seeds.end())
      task.seeds = found->second;
  }
  return tasks;
}

/// A proposer that answers slowly changes `constants`.
Result<std::unique_ptr<search::Proposer>>
Session::Impl::makeProposer(search::SearchOptions &constants) {
  std::unique_ptr<search::Proposer> proposer;
  if (options.asksModel()) {
    auto show = [](const std::string &prompt) {
      llvm::errs() << "--- prompt\n" << prompt;
    };
    auto model = makeModelProposer(options, *store, target, interrupt, show);
    if (!model)
      return model.error();
    constants.askAhead = model->askAhead;
    proposer = std::move(model->proposer);
  } else if (options.proposer == "random") {
    proposer = std::make_unique<propose::RandomProposer>();
  } else if (options.proposer == "replay") {
    auto opened = propose::ReplayProposer::fromFile(options.replay);
    if (!opened)
      return opened.error();
    proposer = std::make_unique<propose::ReplayProposer>(std::move(*opened));
  } else {
    proposer = std::make_unique<propose::BuiltinProposer>();
  }
  return proposer;
}

static int64_t monotonicNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// The name of the file that `module` comes from.
static std::string moduleName(mlir::ModuleOp module) {
  if (auto file = module.getLoc()->findInstanceOf<mlir::FileLineColLoc>())
    return file.getFilename().str();
  return "module";
}

Result<std::unique_ptr<search::Workbench>> Session::Impl::makeWorkbench() {
  std::unique_ptr<search::Workbench> workbench;
  if (options.isDryRun()) {
    workbench = std::make_unique<DryRunWorkbench>(options, kernels);
    return workbench;
  }
  auto worker = findProgram("kb-worker", options.kbWorker, "KB_WORKER");
  if (!worker)
    return worker.error();
  workbench = std::make_unique<DeviceWorkbench>(options, serverOptions(),
                                                kernels, workerOptions(*worker),
                                                store->artifacts().location());
  return workbench;
}

Status Session::Impl::search() {
  std::vector<search::KernelTask> tasks = makeTasks();
  if (tasks.empty())
    return {};
  for (const ModuleKernel &entry : kernels)
    if (entry.leftStock.empty())
      if (Status ok =
              builder->addKernel(entry.kernel, kernelBytecode(entry.op));
          !ok)
        return ok;
  search::SearchOptions constants = searchOptions(options);
  auto proposer = makeProposer(constants);
  if (!proposer)
    return proposer.error();
  auto workbench = makeWorkbench();
  if (!workbench)
    return workbench.error();
  search::Services services;
  services.builder = builder.get();
  services.workbench = workbench->get();
  services.proposer = proposer->get();
  services.observers = {&events};
  if (!options.isDryRun())
    services.clock = monotonicNs;
  services.interrupted = [this] { return interrupt.requested(); };
  services.recording = &store->recording();

  search::ModuleSearch run(std::move(tasks), services, constants,
                           searchBudget(options),
                           {{"module", moduleName(module)},
                            {"run_hash", runHash},
                            {"target", target.key()},
                            {"strategy_library", library.hash()},
                            {"llvm_version", builder->llvmVersion()}});
  search::ModuleOutcome outcome = run.run();
  if (outcome.error)
    return *outcome.error;
  collectOutcome(outcome);
  if (options.printTree) {
    progress->hide();
    for (size_t i = 0; i < outcome.kernels.size(); ++i)
      if (const search::SearchTree *tree = run.searches()[i]->tree()) {
        const search::KernelOutcome &kernel = outcome.kernels[i];
        llvm::errs() << search::printTree(kernel.kernel, *tree,
                                          kernel.winner ? kernel.winner->ticket
                                                        : 0)
                     << "\n";
      }
  }
  return {};
}

static KeptVariant keptVariant(const search::Candidate &candidate,
                               const search::KernelOutcome &outcome,
                               const std::string &runHash) {
  KeptVariant variant;
  variant.recipe = candidate.recipe;
  variant.measurement = candidate.measurement;
  variant.baselineNs =
      outcome.baseline ? outcome.baseline->measurement.timeNs : 0;
  variant.proposer = candidate.proposer;
  variant.run = runHash;
  variant.ticket = candidate.ticket;
  variant.artifactHash = candidate.artifact.manifest.codeHash;
  variant.workspaceBytes = candidate.artifact.manifest.workspaceBytes;
  return variant;
}

void Session::Impl::collectOutcome(const search::ModuleOutcome &outcome) {
  progress->hide();
  std::map<std::string, const ModuleKernel *> byName;
  for (const ModuleKernel &entry : kernels)
    byName[entry.kernel.name] = &entry;
  for (const search::KernelOutcome &result : outcome.kernels) {
    const ModuleKernel *kernel = byName.at(result.kernel);
    if (!result.winner) {
      mlir::Operation *op = kernel->op;
      mlir::emitRemark(op->getLoc(), "kernel '")
          << result.kernel
          << "' stays stock: " << runRecord.find(result.kernel)->stockReason();
      continue;
    }
    SessionWinner winner;
    winner.kernel = kernel;
    winner.variant = keptVariant(*result.winner, result, runHash);
    winner.variant.proven = !options.isDryRun();
    winner.irHash = result.winner->artifact.manifest.irHash;
    winner.codeHash = result.winner->artifact.manifest.codeHash;
    for (const search::Candidate &other : result.runnersUp)
      winner.runnersUp.push_back(keptVariant(other, result, runHash));
    winners.push_back(std::move(winner));
  }
}
