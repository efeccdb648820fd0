//===- ApplyPass.cpp - kb-apply -------------------------------------------===//

#include "StockKernels.h"
#include "Tuning.h"
#include "Workbenches.h"

#include "kernelbrain/Driver/Passes.h"
#include "kernelbrain/Store/Location.h"
#include "kernelbrain/Store/TuningDatabase.h"
#include "kernelbrain/Store/TuningSpec.h"
#include "kernelbrain/Support/File.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <filesystem>
#include <fstream>
#include <thread>

using namespace mlir;
using namespace kernelbrain;

namespace kernelbrain {
#define GEN_PASS_DEF_APPLYPASS
#include "kernelbrain/Driver/Passes.h.inc"
} // namespace kernelbrain

namespace {

/// Entries of a spec or a database, looked up by key.
struct EntrySource {
  std::vector<store::TuningEntry> entries; ///< of a spec
  std::optional<store::TuningDatabase> database;

  /// The best entry of `key`, proven ones first.
  Result<std::optional<store::TuningEntry>>
  find(const store::TuningKey &key) const {
    std::vector<store::TuningEntry> found;
    if (database) {
      auto rows = database->lookup(key);
      if (!rows)
        return rows.error();
      found = std::move(*rows);
    }
    for (const store::TuningEntry &entry : entries)
      if (entry.key == key)
        found.push_back(entry);
    std::stable_sort(found.begin(), found.end(), store::isBetter);
    if (found.empty())
      return std::optional<store::TuningEntry>();
    return std::optional(found.front());
  }
  /// Why find() has nothing for `key`, as a clause.
  std::string whyNone(const store::TuningKey &key) const {
    for (const store::TuningEntry &entry : entries) {
      if (entry.key.kernelHash != key.kernelHash)
        continue;
      if (entry.key.target != key.target)
        return "its entry is for the target '" + entry.key.target +
               "', this is '" + key.target + "'";
      return "its entry is for other options or another version of the "
             "strategies";
    }
    return "there is no entry for it";
  }
};

struct ApplyPass : kernelbrain::impl::ApplyPassBase<ApplyPass> {
  using Base::Base;

  void runOnOperation() override;
  Status apply(ModuleOp module);
  bool isCuda() const { return target == "cuda"; }
  Result<Target> findGpu();
  Result<EntrySource> openSource();
  Status writeSpec(const std::vector<store::TuningEntry> &entries);
  Status select(const std::vector<EntryToApply> &entries,
                build::CompileServerBuilder &builder);
};

} // namespace

Result<EntrySource> ApplyPass::openSource() {
  EntrySource source;
  if (!spec.empty()) {
    auto text = readFile(spec);
    if (!text)
      return Error{"cannot read the tuning spec '" + spec +
                   "': " + text.error().message};
    auto parsed = store::parseTuningSpec(*text, spec);
    if (!parsed)
      return parsed.error();
    source.entries = std::move(*parsed);
    return source;
  }
  auto path = store::findStore(store);
  if (!path)
    return path.error();
  std::string file = store::databasePath(*path);
  if (std::error_code ignored; !std::filesystem::exists(file, ignored))
    return Error{"there is no tuning database '" + file +
                 "': run kb-search first, or give another 'store' or a 'spec'"};
  auto opened =
      store::TuningDatabase::open(file, store::TuningDatabase::Mode::ReadOnly);
  if (!opened)
    return opened.error();
  source.database.emplace(std::move(*opened));
  return source;
}

Status ApplyPass::writeSpec(const std::vector<store::TuningEntry> &entries) {
  std::ofstream file(exportSpec.getValue());
  file << store::printTuningSpec(entries);
  file.close();
  if (!file)
    return Error{"cannot write the tuning spec '" + exportSpec + "'"};
  return {};
}

Status ApplyPass::select(const std::vector<EntryToApply> &entries,
                         build::CompileServerBuilder &builder) {
  auto applied = applyEntries(entries, builder);
  if (!applied)
    return applied.error();
  for (size_t i = 0; i < applied->size(); ++i) {
    AppliedEntry &result = (*applied)[i];
    kb::KernelOp op = entries[i].kernel->op;
    bool usable =
        !result.variant.implementation.empty() && (result.proven || unproven);
    if (!result.proven)
      emitRemark(op.getLoc(), "entry for kernel '")
          << op.getSymName() << "' is unproven"
          << (usable ? ", and selected all the same: " : ", and not selected: ")
          << result.why;
    if (!usable)
      continue;
    detachVariants(op);
    if (failed(attachVariant(op, result.variant)))
      return Error{"cannot attach the variant of kernel '" +
                   op.getSymName().str() + "'"};
  }
  return {};
}

Result<Target> ApplyPass::findGpu() {
  if (!chip.empty()) // It need not be there.
    return makeCudaTarget(chip);
  SessionOptions options;
  options.target = target;
  options.kbWorker = kbWorker;
  return kernelbrain::findGpu(options, [] { return false; });
}

Status ApplyPass::apply(ModuleOp module) {
  auto source = openSource();
  if (!source)
    return source.error();
  build::CompileServerOptions server;
  server.program = kbCompile;
  if (isCuda()) {
    auto gpu = findGpu();
    if (!gpu)
      return gpu.error();
    server.gpu = *gpu;
  } else {
    server.targetCpu = chip;
  }
  server.threads = threads;
  server.jobs = compileJobs > 0 ? static_cast<unsigned>(compileJobs)
                                : std::thread::hardware_concurrency();
  auto builder = build::CompileServerBuilder::start(server);
  if (!builder)
    return builder.error();
  strategy::StrategyLibrary library;
  std::vector<ModuleKernel> kernels = collectKernels(
      module, library, (*builder)->target(), /*nameFilter=*/"", dynamicDim);
  std::vector<EntryToApply> entries;
  std::vector<store::TuningEntry> exported;
  for (const ModuleKernel &entry : kernels) {
    if (!entry.leftStock.empty())
      continue;
    store::TuningKey key =
        store::tuningKey(entry.kernel, (*builder)->target(), placement,
                         library.hash(), /*baseline=*/"");
    auto found = source->find(key);
    if (!found)
      return found.error();
    if (!*found) {
      emitRemark(entry.op->getLoc(), "kernel '")
          << entry.kernel.name << "' stays stock: " << source->whyNone(key);
      continue;
    }
    exported.push_back(**found);
    entries.push_back({&entry, std::move(**found)});
  }
  if (!exportSpec.empty())
    if (Status ok = writeSpec(exported); !ok)
      return ok;
  if (Status ok = select(entries, **builder); !ok || !isCuda())
    return ok;
  std::vector<const ModuleKernel *> left;
  for (const ModuleKernel &entry : kernels) {
    auto variant = dyn_cast_or_null<kb::VariantOp>(entry.op->getNextNode());
    if (!variant || !variant.getSelected())
      left.push_back(&entry);
  }
  auto stock = selectStockKernels(left, **builder);
  return stock ? Status() : stock.error();
}

void ApplyPass::runOnOperation() {
  if (dynamicDim < 1) {
    emitError(getOperation().getLoc(), "expected option 'dynamic-dim' to be "
                                       "positive, found ")
        << static_cast<int64_t>(dynamicDim);
    return signalPassFailure();
  }
  if (threads < 1 || threads > maxThreads) {
    emitError(getOperation().getLoc(), "expected option 'threads' between 1 "
                                       "and ")
        << maxThreads << ", found " << static_cast<int64_t>(threads);
    return signalPassFailure();
  }
  auto isOneOf = [&](StringRef option, StringRef value, StringRef other) {
    if (value == "host" || value == other)
      return true;
    emitError(getOperation().getLoc(), "expected option '")
        << option << "' to be host or " << other << ", found '" << value << "'";
    return false;
  };
  if (!isOneOf("target", target, "cuda") ||
      !isOneOf("placement", placement, "device"))
    return signalPassFailure();
  Status ok = checkChip(target, chip);
  if (ok)
    ok = apply(getOperation());
  if (!ok) {
    emitError(getOperation().getLoc(), ok.error().message);
    signalPassFailure();
  }
}
