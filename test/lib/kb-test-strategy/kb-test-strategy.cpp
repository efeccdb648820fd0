//===- kb-test-strategy.cpp - Looks at what strategies make ---------------===//
//
// Reads a module with kernels and prints, for one strategy: the row program,
// the space, the estimate, or the functions that a recipe makes (the default
// one, changed by --knobs).
//
//===----------------------------------------------------------------------===//

#include "kernelbrain/Strategy/RowProgram.h"
#include "kernelbrain/Strategy/Strategy.h"
#include "kernelbrain/Support/Json.h"

#include "mlir/IR/Verifier.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"

#include <chrono>

using namespace kernelbrain;
namespace cl = llvm::cl;

static cl::opt<std::string> input(cl::Positional, cl::init("-"));
static cl::opt<std::string> strategyName("strategy", cl::init(""),
                                         cl::desc("default: the first fit"));
static cl::opt<std::string> knobs("knobs", cl::init("{}"),
                                  cl::desc("JSON object over the defaults"));
static cl::opt<std::string> features("features", cl::init("avx512f,avx512vl"));
static cl::opt<std::string> chip("chip", cl::init(""),
                                 cl::desc("of a GPU; empty: a host"));
static cl::opt<int64_t> threads("target-threads", cl::init(1),
                                cl::desc("that the target has"));
static cl::opt<std::string>
    mode("mode", cl::init("code"),
         cl::desc("code, program, mismatch, space, estimate or features"));

static int fail(const std::string &message) {
  llvm::errs() << "error: " << message << '\n';
  return 1;
}

static int run(kb::KernelOp kernel, mlir::ModuleOp output,
               const strategy::StrategyLibrary &library, Target target) {
  if (mode == "mismatch") {
    for (const strategy::Strategy &strategy : library.all()) {
      std::string mismatch;
      (void)strategy.match(kernel, target, mismatch);
      llvm::outs() << kernel.getSymName() << ": " << strategy.getName() << ": "
                   << mismatch << '\n';
    }
    return 0;
  }
  if (mode == "program") {
    std::string reason;
    auto program = strategy::importRowProgram(kernel, reason);
    if (!program)
      return fail(reason);
    llvm::outs() << program->print();
    return 0;
  }
  std::unique_ptr<strategy::Match> match;
  std::string mismatch;
  if (const strategy::Strategy *chosen = library.find(strategyName)) {
    match = chosen->match(kernel, target, mismatch);
    if (!match)
      return fail("strategy '" + strategyName +
                  "' does not apply: " + mismatch);
  }
  for (const strategy::Strategy &strategy : library.all())
    if (!match)
      match = strategy.match(kernel, target, mismatch);
  if (!match)
    return fail("no strategy fits");
  const SearchSpace &space = match->space();
  Recipe recipe = space.defaultRecipe();
  Result<Json> changes = parseJson(knobs);
  if (!changes)
    return fail(changes.error().message);
  for (const auto &[name, value] : changes->items()) {
    Result<KnobValue> parsed = knobValueFromJson(value);
    if (!parsed)
      return fail(parsed.error().message);
    recipe.knobs[name] = *parsed;
  }
  if (mode == "space") {
    llvm::outs() << toJson(space).dump(1) << '\n';
    return 0;
  }
  if (mode == "estimate") {
    Estimate estimate = match->estimate(recipe);
    llvm::outs() << "time " << estimate.timeNs << " bound " << estimate.boundNs
                 << " rejection '" << estimate.rejection << "'\n";
    return 0;
  }
  auto instance = match->instantiate(recipe, output);
  if (mlir::failed(instance) || mlir::failed(mlir::verify(output)))
    return 1;
  if (mode == "features")
    llvm::outs() << instance->features.dump() << '\n';
  return 0;
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "test tool for strategies\n");
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses(); // Stock lowering is text.
  registry.insert<kb::KBDialect>();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(input, &context);
  if (!module)
    return 1;
  Target target;
  target.chip = "generic";
  target.threads = threads;
  for (llvm::StringRef feature : llvm::split(features.getValue(), ','))
    target.features.push_back(feature.str());
  if (!chip.empty()) {
    Result<Target> gpu = makeCudaTarget(chip);
    if (!gpu)
      return fail(gpu.error().message);
    target = *gpu;
  }
  strategy::StrategyLibrary library;
  mlir::OwningOpRef<mlir::ModuleOp> output =
      mlir::ModuleOp::create(module->getLoc());
  int status = 0;
  module->walk([&](kb::KernelOp kernel) {
    status |= run(kernel, *output, library, target);
  });
  if (mode == "code" && status == 0)
    output->print(llvm::outs());
  return status;
}
