//===- Emit.cpp - kb-compile --emit: look at what a recipe makes ----------===//

#include "Options.h"
#include "kernelbrain/Compile/HostTarget.h"
#include "kernelbrain/Compile/VariantBuilder.h"
#include "kernelbrain/Strategy/Strategy.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace kernelbrain;
using namespace kernelbrain::compile;

static std::optional<Output> outputFromName(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<Output>>(name)
      .Case("static", Output::Static)
      .Case("artifact", Output::Artifact)
      .Case("implementation", Output::Implementation)
      .Case("lowered", Output::LoweredText)
      .Case("verified", Output::VerifiedText)
      .Case("optimized", Output::OptimizedText)
      .Case("assembly", Output::AssemblyText)
      .Default(std::nullopt);
}

static Result<Recipe> readRecipe(const std::string &text) {
  auto json = parseJson(text);
  if (!json)
    return json.error().withContext("--recipe");
  return recipeFromJson(*json);
}

/// Knobs that the recipe does not name get the strategy's defaults.
static void completeRecipe(Recipe &recipe, const KernelSource &kernel,
                           const Toolchain &toolchain) {
  std::string mismatch;
  for (const strategy::Strategy &strategy : toolchain.strategies)
    if (strategy.getName() == recipe.strategy)
      if (auto match = strategy.match(kernel.op, toolchain.target, mismatch))
        recipe = match->space().completed(std::move(recipe));
}

static int build(const tool::Options &options, Output output,
                 const std::string &text, Recipe recipe) {
  strategy::StrategyLibrary library;
  auto target = tool::readTarget(options);
  auto threads = options.getInteger("threads", 1, 1);
  if (!target || !threads)
    return tool::reportError(
        (target ? threads.error() : target.error()).message);
  target->threads = *threads;
  auto toolchain = Toolchain::create(*target, library.all());
  if (!toolchain)
    return tool::reportError(toolchain.error().message);
  mlir::DialectRegistry registry;
  registerCompileDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  preloadDialects(context);
  auto kernel = parseKernelSource(text, context);
  if (!kernel)
    return tool::reportError(kernel.error().message);
  completeRecipe(recipe, *kernel, *toolchain);
  BuiltVariant built =
      buildVariant(*kernel, recipe, output, *toolchain, [](const char *) {});
  if (built.disposition != Disposition::Passed)
    return tool::reportError(std::string(toString(built.disposition)) + ": " +
                             built.reason);
  std::error_code failure;
  llvm::raw_fd_ostream out(options.get("o", "-"), failure);
  if (failure)
    return tool::reportError(failure.message());
  out << built.bytes;
  return 0;
}

int tool::emitMain(int argc, char **argv) {
  auto options = Options::parse(
      argc, argv,
      {"emit", "recipe", "target", "chip", "target-cpu", "threads", "o"});
  if (!options)
    return reportError(options.error().message);
  auto output = outputFromName(options->get("emit"));
  if (!output)
    return reportError(
        "unknown value '" + options->get("emit") +
        "' of '--emit' (one of static, artifact, "
        "implementation, lowered, verified, optimized, assembly)");
  auto recipe = readRecipe(
      options->get("recipe", "{\"strategy\": \"stock\", \"knobs\": {}}"));
  if (!recipe)
    return reportError(recipe.error().message);
  if (options->positional().size() != 1)
    return reportError("expected one file with a kernel");
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(options->positional()[0]);
  if (!file)
    return reportError("cannot read '" + options->positional()[0] +
                       "': " + file.getError().message());
  return build(*options, *output, (*file)->getBuffer().str(), *recipe);
}
