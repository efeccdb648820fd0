//===- SearchPass.cpp - kb-search -----------------------------------------===//

#include "Acceptance.h"

#include "kernelbrain/Driver/InputProgram.h"
#include "kernelbrain/Driver/Passes.h"
#include "kernelbrain/Driver/Session.h"

#include "kernelbrain/Dialect/KB/KB.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace kernelbrain;

namespace kernelbrain {
#define GEN_PASS_DEF_SEARCHPASS
#include "kernelbrain/Driver/Passes.h.inc"
} // namespace kernelbrain

/// What this version does not do yet is refused by name.
static LogicalResult
refuseLater(llvm::ArrayRef<std::pair<StringRef, bool>> given, Location loc) {
  for (auto [option, isGiven] : given)
    if (isGiven)
      return emitError(loc, "option '")
             << option << "' is not supported by this version";
  return success();
}

namespace {

struct SearchPass : kernelbrain::impl::SearchPassBase<SearchPass> {
  using Base::Base;
  explicit SearchPass(std::shared_ptr<Interrupt> interrupt)
      : interrupt(std::move(interrupt)) {}
  SearchPass(const SearchPass &other)
      : SearchPassBase(other), interrupt(other.interrupt) {}

  SessionOptions sessionOptions() const;
  /// Before any pass of the pipeline runs.
  LogicalResult initialize(MLIRContext *) override {
    interrupt->isHeeded = true;
    return success();
  }
  void runOnOperation() override;
  void getDependentDialects(DialectRegistry &registry) const override {
    SearchPassBase::getDependentDialects(registry);
    registerEmissionDialects(registry);
  }

  std::shared_ptr<Interrupt> interrupt = std::make_shared<Interrupt>();
};

} // namespace

SessionOptions SearchPass::sessionOptions() const {
  SessionOptions options;
  options.target = target;
  options.chip = chip;
  options.baselinePipeline = baselinePipeline;
  options.proposer = proposer;
  options.evaluator = evaluator;
  options.budgetSeconds = budgetSeconds;
  options.maxVariants = maxVariants;
  options.seed = seed;
  options.threads = threads;
  options.compileJobs = compileJobs;
  options.memoryLimitMb = memoryLimitMb;
  options.dynamicDim = dynamicDim;
  options.kernels = kernels;
  options.emit = emit;
  options.placement = placement;
  options.workerLaunch = workerLaunch;
  options.store = store;
  options.log = log;
  options.replay = replay;
  options.fresh = fresh;
  options.estimate = estimate;
  options.printTree = printTree;
  options.printRegions = printRegions;
  options.kbCompile = kbCompile;
  options.kbWorker = kbWorker;
  options.maxTokens = maxTokens;
  options.maxCost = maxCost;
  options.llmEndpoint = llmEndpoint;
  options.llmModel = llmModel;
  options.llmPrice = llmPrice;
  options.llmTimeoutSeconds = llmTimeoutSeconds;
  options.llmPromptTokens = llmPromptTokens;
  options.llmReplyTokens = llmReplyTokens;
  options.showPrompts = showPrompts;
  return options;
}

void SearchPass::runOnOperation() {
  ModuleOp module = getOperation();
  if (failed(refuseLater(
          {{"strategy-library", !strategyLibrary.empty()}, {"adapt", adapt}},
          module.getLoc())))
    return signalPassFailure();
  SessionOptions options = sessionOptions();
  if (Status ok = options.resolve(); !ok) {
    emitError(module.getLoc(), ok.error().message);
    return signalPassFailure();
  }
  std::optional<std::reference_wrapper<InputProgram>> input =
      getCachedAnalysis<InputProgram>();
  Session session(module, options, *interrupt);
  if (input)
    session.setBaselineProgram(input->get().bytecode);
  FailureOr<SessionSummary> summary = session.run();
  if (failed(summary))
    return signalPassFailure();
  numKernels = summary->numKernels;
  numSearched = summary->numSearched;
  numWinners = summary->numWinners;
}

std::unique_ptr<Pass>
kernelbrain::createSearchPass(std::shared_ptr<Interrupt> interrupt) {
  return std::make_unique<SearchPass>(std::move(interrupt));
}

std::unique_ptr<Pass> kernelbrain::createSearchPass(
    std::shared_ptr<Interrupt> interrupt, StringRef options,
    function_ref<LogicalResult(const Twine &)> emitError,
    SessionOptions &parsed) {
  auto pass = std::make_unique<SearchPass>(std::move(interrupt));
  if (failed(pass->initializeOptions(options, emitError)))
    return nullptr;
  parsed = pass->sessionOptions();
  return pass;
}
