//===- Session.cpp - One search over one module ---------------------------===//

#include "kernelbrain/Driver/Session.h"

#include "SessionImpl.h"
#include "Workbenches.h"

#include "kernelbrain/Store/Location.h"
#include "kernelbrain/Support/File.h"
#include "kernelbrain/Support/Hash.h"

#include <filesystem>

using namespace mlir;
using namespace kernelbrain;

Session::Session(ModuleOp module, const SessionOptions &options,
                 Interrupt &interrupt)
    : impl(std::make_unique<Impl>(module, options, interrupt)) {}
Session::~Session() = default;

void Session::setBaselineProgram(std::string bytecode) {
  impl->baselineProgram = std::move(bytecode);
}

FailureOr<SessionSummary> Session::run() { return impl->run(); }

Session::Impl::Impl(ModuleOp module, const SessionOptions &options,
                    Interrupt &interrupt)
    : module(module), options(options), interrupt(interrupt) {}

FailureOr<SessionSummary> Session::Impl::run() {
  auto fail = [&](const Error &error) -> LogicalResult {
    return emitError(module.getLoc(), error.message);
  };
  if (Status ok = compose(); !ok)
    return fail(ok.error());
  if (options.estimate) {
    if (Status ok = printEstimate(); !ok)
      return fail(ok.error());
    return summary();
  }
  if (Status ok = applyProven(); !ok)
    return fail(ok.error());
  if (Status ok = search(); !ok)
    return fail(ok.error());
  if (failed(attachWinners()))
    return failure();
  if (Status ok = attachStockKernels(); !ok)
    return fail(ok.error());
  if (Status ok = acceptProgram(); !ok)
    return fail(ok.error());
  if (Status ok = record(); !ok)
    return fail(ok.error());
  if (Status ok = finish(); !ok)
    return fail(ok.error());
  return summary();
}

//===----------------------------------------------------------------------===//
// Composing
//===----------------------------------------------------------------------===//

/// Names module, options and versions.
std::string Session::Impl::hashRun() {
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os, OpPrintingFlags().useLocalScope());
  os << dumpJson(options.identity()) << library.hash() << builder->llvmVersion()
     << target.key() << dumpJson(toJson(target.peak)) << KB_VERSION;
  return contentHash(text);
}

/// Remarks on the kernels that stay stock, with the reason.
void Session::Impl::remarkStock() {
  for (ModuleKernel &entry : kernels)
    if (!entry.leftStock.empty()) {
      bool onDevice = options.isCuda() && !entry.isExcluded;
      emitRemark(entry.op.getLoc(), "kernel '")
          << entry.kernel.name << "' (" << entry.kernel.kind << ") "
          << (onDevice ? "gets the stock device lowering: " : "stays stock: ")
          << entry.leftStock
          << (entry.mismatches.empty() ? "" : " (" + entry.mismatches + ")");
      runRecord.addStock(entry.kernel, entry.leftStock);
    }
}

build::CompileServerOptions Session::Impl::serverOptions() {
  build::CompileServerOptions server;
  server.program = options.kbCompile;
  if (gpu)
    server.gpu = gpu;
  else
    server.targetCpu = options.chip;
  server.threads = options.threads;
  server.jobs = static_cast<unsigned>(options.compileJobs);
  server.memoryLimit = std::to_string(options.memoryLimitMb) + "M";
  // The store is opened once the target is known, before the first build.
  server.store = [this](const std::string &bytes) -> Result<std::string> {
    auto hash = store->artifacts().insert(bytes);
    if (!hash)
      return hash.error();
    store->artifacts().pin(*hash);
    return store->artifacts().path(*hash);
  };
  return server;
}

evaluate::WorkerOptions Session::Impl::workerOptions(std::string program) {
  evaluate::WorkerOptions worker =
      makeWorkerOptions(options, std::move(program));
  worker.isCancelled = [this] { return interrupt.isOverdue(); };
  return worker;
}

/// Finds the peak bandwidth of this CPU, in the store or by measuring. It
/// makes bounds close, so an estimate and a dry run do without.
Status Session::Impl::learnMachine() {
  auto program = findProgram("kb-worker", options.kbWorker, "KB_WORKER");
  auto folder = store::findStore(options.store);
  if (options.isCuda() || options.isDryRun() || !program || !folder)
    return {}; // What is missing is told where it is needed.
  evaluate::Worker worker(workerOptions(*program));
  auto greeting = worker.hello();
  if (!greeting)
    return options.estimate ? Status() : greeting.error();
  std::string path =
      store::machinePath(*folder, getStringOr(*greeting, "device", ""));
  if (auto text = readFile(path))
    if (auto json = parseJson(*text))
      if (auto peak = peakBandwidthFromJson(*json))
        target.peak = *peak;
  if (target.peak.dram > 0 || options.estimate)
    return {};
  auto peak = worker.measureBandwidth();
  if (!peak) {
    llvm::errs() << "note: bounds are rough, the machine's bandwidth cannot be "
                    "measured: "
                 << peak.error().message << "\n";
    return {};
  }
  target.peak = *peak;
  // A store that cannot be written is told when it is opened.
  if (makeDirectories(std::filesystem::path(path).parent_path()))
    (void)bool(writeFileAtomically(path, dumpJson(toJson(*peak)) + "\n"));
  return {};
}

Status Session::Impl::compose() {
  if (options.isCuda()) {
    auto found = findGpu(options, [this] { return interrupt.isOverdue(); });
    if (!found)
      return found.error();
    gpu = *found;
  }
  auto started = build::CompileServerBuilder::start(serverOptions());
  if (!started)
    return started.error();
  builder = std::move(*started);
  target = builder->target();
  if (Status ok = learnMachine(); !ok)
    return ok;
  kernels = collectKernels(module, library, target, options.kernels,
                           options.dynamicDim);
  if (!options.kernels.empty() &&
      llvm::all_of(kernels,
                   [](const ModuleKernel &entry) { return entry.isExcluded; }))
    emitWarning(module.getLoc(), "no kernel's name matches option 'kernels' ('")
        << options.kernels << "')";
  remarkStock();
  if (options.estimate)
    return {};
  runHash = hashRun();
  auto opened = RunStore::open(options, runHash);
  if (!opened)
    return opened.error();
  store = std::move(*opened);
  return openObservers();
}

SessionSummary Session::Impl::summary() const {
  SessionSummary result;
  result.numKernels = kernels.size();
  for (const ModuleKernel &entry : kernels)
    result.numSearched += entry.leftStock.empty();
  result.numWinners = winners.size();
  return result;
}
