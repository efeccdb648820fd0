//===- Workbenches.cpp - Baselines and references of kernels --------------===//

#include "Workbenches.h"

#include "kernelbrain/Evaluate/Client/DryRunEvaluator.h"
#include "kernelbrain/Evaluate/Client/WorkerEvaluator.h"
#include "llvm/Support/Program.h"

#include <chrono>
#include <sstream>

using namespace kernelbrain;

static Recipe stockRecipe(const char *strategy,
                          std::map<std::string, KnobValue> knobs) {
  Recipe recipe;
  recipe.strategy = strategy;
  recipe.knobs = std::move(knobs);
  return recipe;
}

std::vector<Recipe>
kernelbrain::baselineRecipes(const SessionOptions &options) {
  if (!options.baselinePipeline.empty())
    return {stockRecipe("stock", {{"pipeline", options.baselinePipeline}})};
  return {stockRecipe("stock", {{"fuse", int64_t(0)}}),
          stockRecipe("stock", {{"fuse", int64_t(1)}})};
}

evaluate::WorkerOptions
kernelbrain::makeWorkerOptions(const SessionOptions &options,
                               std::string program) {
  evaluate::WorkerOptions worker;
  std::istringstream words(options.workerLaunch);
  for (std::string word; words >> word;)
    worker.arguments.push_back(word);
  worker.arguments.push_back(std::move(program));
  worker.arguments.push_back(
      options.isCuda() ? "--device=cuda"
                       : "--threads=" + std::to_string(options.threads));
  worker.program = worker.arguments.front();
  worker.arguments.erase(worker.arguments.begin());
  if (auto found = llvm::sys::findProgramByName(worker.program))
    worker.program = *found;
  return worker;
}

Result<Target> kernelbrain::findGpu(const SessionOptions &options,
                                    std::function<bool()> isCancelled) {
  if (!options.chip.empty() && (options.isDryRun() || options.estimate))
    return makeCudaTarget(options.chip);
  auto program = findProgram("kb-worker", options.kbWorker, "KB_WORKER");
  if (!program)
    return program.error();
  evaluate::WorkerOptions workerOptions = makeWorkerOptions(options, *program);
  workerOptions.isCancelled = std::move(isCancelled);
  evaluate::Worker worker(std::move(workerOptions));
  auto greeting = worker.hello();
  if (!greeting)
    return Error{"no NVIDIA GPU can be used: " + greeting.error().message +
                 " (without one, name it with option 'chip', such as "
                 "chip=sm_90a, and use evaluator=dry-run)"};
  auto json = getObject(*greeting, "target");
  auto found = json ? targetFromJson(*json) : json.error();
  if (!found)
    return found.error().withContext("reply of kb-worker");
  if (options.chip.empty())
    return found;
  // The same chip with and without what later ones do not have.
  auto generation = [](llvm::StringRef chip) { return chip.rtrim('a'); };
  if (generation(options.chip) != generation(found->chip))
    return Error{"option 'chip' is '" + options.chip + "', the GPU is '" +
                 found->chip + "' (" + getStringOr(*greeting, "device", "") +
                 "): another one needs evaluator=dry-run"};
  found->chip = options.chip;
  return found;
}

static const ModuleKernel &find(const std::vector<ModuleKernel> &kernels,
                                const Kernel &kernel) {
  for (const ModuleKernel &entry : kernels)
    if (entry.kernel.name == kernel.name)
      return entry;
  llvm_unreachable("a kernel of another module");
}

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

DeviceWorkbench::DeviceWorkbench(const SessionOptions &options,
                                 const build::CompileServerOptions &server,
                                 const std::vector<ModuleKernel> &kernels,
                                 evaluate::WorkerOptions worker,
                                 std::string artifacts)
    : options(options), server(server), kernels(kernels),
      worker(std::move(worker)), artifacts(std::move(artifacts)) {}

Result<std::vector<search::BuildResult>>
DeviceWorkbench::build(const Kernel &kernel,
                       const std::vector<Recipe> &recipes) {
  if (!builder) {
    auto started = build::CompileServerBuilder::start(server);
    if (!started)
      return started.error();
    builder = std::move(*started);
  }
  if (Status ok =
          builder->addKernel(kernel, kernelBytecode(find(kernels, kernel).op));
      !ok)
    return ok.error();
  std::vector<search::BuildRequest> requests;
  for (const Recipe &recipe : recipes)
    requests.push_back({0, kernel.name, recipe});
  return builder->buildAll(std::move(requests));
}

Result<search::Preparation> DeviceWorkbench::prepare(const Kernel &kernel) {
  auto start = std::chrono::steady_clock::now();
  std::vector<Recipe> recipes = baselineRecipes(options);
  recipes.push_back(stockRecipe("reference", {}));
  auto built = build(kernel, recipes);
  if (!built)
    return built.error();
  search::Preparation preparation;
  evaluate::KernelRequest request;
  request.kernel = kernel;
  request.seed = options.seed;
  request.artifacts = artifacts;
  std::vector<const search::BuildResult *> baselines;
  for (const search::BuildResult &result : *built) {
    bool isReference = &result == &built->back();
    if (result.disposition == Disposition::HarnessFault)
      return Error{"cannot build its " +
                   std::string(isReference ? "reference" : "baseline") + ": " +
                   result.reason};
    if (result.disposition != Disposition::Passed)
      continue; // Without a reference the worker says how little it can tell.
    if (isReference) {
      request.reference = result.artifact.path;
    } else {
      request.baselines.push_back(result.artifact.path);
      baselines.push_back(&result);
    }
  }
  if (baselines.empty()) {
    preparation.skipped = "the stock lowering fails: " + built->front().reason;
    return preparation;
  }
  auto evaluator = evaluate::WorkerEvaluator::open(worker, std::move(request));
  if (!evaluator)
    return evaluator.error();
  const evaluate::KernelReply &reply = (*evaluator)->opened();
  if (!reply.unusable.empty()) {
    preparation.skipped = reply.unusable;
    return preparation;
  }
  const search::BuildResult &baseline = *baselines[reply.baseline];
  preparation.baselineRecipe = recipes[baseline.id];
  preparation.baseline = baseline.artifact;
  preparation.measurement.disposition = Disposition::Passed;
  preparation.measurement.timeNs = reply.timesNs[reply.baseline];
  preparation.measurement.speedup = Ratio{1, 1, 1};
  preparation.evaluator = std::move(*evaluator);
  preparation.setupNs = std::chrono::duration_cast<std::chrono::nanoseconds>(
                            std::chrono::steady_clock::now() - start)
                            .count();
  return preparation;
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

Result<search::Preparation> DryRunWorkbench::prepare(const Kernel &kernel) {
  // Stock lowerings of the example modules take 10 to 30 times as long as what
  // the model expects of a default recipe; the value only scales speedups.
  constexpr double stockFactor = 16;
  const ModuleKernel &entry = find(kernels, kernel);
  double best = 0;
  for (const SearchSpace &space : entry.spaces) {
    double time = entry.cost(space.defaultRecipe()).timeNs;
    best = best == 0 ? time : std::min(best, time);
  }
  search::Preparation preparation;
  evaluate::DryRunOptions model;
  model.cost = entry.cost;
  model.seed = options.seed;
  model.baselineNs = best * stockFactor;
  preparation.baselineRecipe = baselineRecipes(options).front();
  preparation.baseline.manifest.recipe = toJson(preparation.baselineRecipe);
  preparation.measurement.disposition = Disposition::Passed;
  preparation.measurement.timeNs = static_cast<int64_t>(model.baselineNs);
  preparation.measurement.speedup = Ratio{1, 1, 1};
  preparation.evaluator =
      std::make_shared<evaluate::DryRunEvaluator>(std::move(model));
  return preparation;
}
