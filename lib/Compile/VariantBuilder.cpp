//===- VariantBuilder.cpp - Recipe to artifact ----------------------------===//

#include "kernelbrain/Compile/VariantBuilder.h"

#include "Device.h"
#include "DeviceBuild.h"
#include "Features.h"
#include "Implementation.h"
#include "Lowering.h"
#include "Payload.h"
#include "kernelbrain/Strategy/Stock.h"
#include "kernelbrain/Support/Hash.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <chrono>

using namespace mlir;

namespace kernelbrain::compile {

//===----------------------------------------------------------------------===//
// One build
//===----------------------------------------------------------------------===//

namespace {
class VariantBuild {
public:
  VariantBuild(const KernelSource &kernel, const Recipe &recipe, Output output,
               const Toolchain &toolchain, StageObserver onStage)
      : kernel(kernel), recipe(recipe), output(output), toolchain(toolchain),
        onStage(onStage) {}

  BuiltVariant run();

private:
  bool checkLegality();
  bool checkReserved();
  bool lower();
  bool generateDevice();
  bool translate();
  bool generate();
  bool printAssembly();
  bool buildArtifact();
  bool buildImplementation();
  bool link(const std::string &object);
  void describe(const ObjectFacts &facts, const llvm::Module &module);

  bool isArtifact() const {
    return output == Output::Artifact || output == Output::Verified;
  }
  kb::KernelOp payload() {
    return rewritten ? *rewritten->getOps<kb::KernelOp>().begin()
                     : kb::KernelOp(kernel.op);
  }
  /// One of the strategies that always exist.
  bool isReserved() const {
    return recipe.strategy == "stock" || recipe.strategy == "reference";
  }
  void enter(const char *stage);
  bool fail(Disposition disposition, std::string reason);
  /// For a stage that has emitted diagnostics.
  bool failWithDiagnostic(Disposition disposition, const char *otherwise) {
    return fail(disposition, diagnostic.empty() ? otherwise : diagnostic);
  }

  const KernelSource &kernel;
  Recipe recipe;
  Output output;
  const Toolchain &toolchain;
  StageObserver onStage;
  OwningOpRef<ModuleOp> rewritten;
  std::unique_ptr<strategy::Match> match; ///< null for what is reserved
  LoweredKernel lowered;
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> llvmModule;
  std::string deviceHash; ///< of the device's IR
  DeviceText deviceText;
  std::string diagnostic; ///< the first error
  BuiltVariant result;
  const char *stage = nullptr;
  std::chrono::steady_clock::time_point stageStart;
};
} // namespace

void VariantBuild::enter(const char *next) {
  auto now = std::chrono::steady_clock::now();
  if (stage) {
    int64_t ns = std::chrono::nanoseconds(now - stageStart).count();
    result.timesNs[stage] = ns;
    const char *sum = StringRef(stage) == "legality" ? "static" : "build";
    result.timesNs[sum] = getIntegerOr(result.timesNs, sum, 0) + ns;
  }
  stage = next;
  stageStart = now;
  if (next)
    onStage(next);
}

bool VariantBuild::fail(Disposition disposition, std::string reason) {
  result.disposition = disposition;
  result.reason = std::move(reason);
  return false;
}

BuiltVariant VariantBuild::run() {
  ScopedDiagnosticHandler handler(
      payload().getContext(),
      [&](Diagnostic &found) { return keepFirstError(found, diagnostic); });
  enter("legality");
  if (checkLegality() && (output == Output::Static || generate()))
    result.disposition = Disposition::Passed;
  enter(nullptr);
  return std::move(result);
}

//===----------------------------------------------------------------------===//
// Rung 0
//===----------------------------------------------------------------------===//

/// The strategies that always exist have one optional knob: `fuse`, or, for an
/// embedder's own baseline, the text of a `pipeline`.
bool VariantBuild::checkReserved() {
  auto pipeline = recipe.knobs.find("pipeline");
  if (pipeline != recipe.knobs.end() && recipe.knobs.size() == 1)
    return std::holds_alternative<std::string>(pipeline->second) ||
           fail(Disposition::InvalidRecipe, "knob 'pipeline' is no text");
  SearchSpace space = strategy::stockSpace();
  space.strategy = recipe.strategy;
  std::string violation = space.violation(space.completed(recipe));
  return violation.empty() || fail(Disposition::InvalidRecipe, violation);
}

bool VariantBuild::checkLegality() {
  if (!recipe.payload.empty()) {
    onStage("payload"); // Who ends here is ended by a text, not by our code.
    rewritten = parsePayload(recipe.payload, kernel.op);
    onStage("legality");
    if (!rewritten)
      return failWithDiagnostic(Disposition::InvalidRecipe,
                                "the payload is not legal");
  }
  if (isReserved())
    return checkReserved();
  const auto *strategy =
      llvm::find_if(toolchain.strategies, [&](const strategy::Strategy &each) {
        return each.getName() == recipe.strategy;
      });
  if (strategy == toolchain.strategies.end())
    return fail(Disposition::InvalidRecipe,
                "unknown strategy '" + recipe.strategy + "'");
  std::string mismatch;
  match = strategy->match(payload(), toolchain.target, mismatch);
  if (!match)
    return fail(Disposition::NotApplicable, mismatch);
  if (rewritten)
    recipe = match->space().completed(std::move(recipe));
  std::string violation = match->space().violation(recipe);
  if (!violation.empty())
    return fail(Disposition::InvalidRecipe, violation);
  Estimate estimate = match->estimate(recipe);
  return estimate.rejection.empty() ||
         fail(Disposition::OutOfResources, estimate.rejection);
}

//===----------------------------------------------------------------------===//
// Rung 1
//===----------------------------------------------------------------------===//

bool VariantBuild::lower() {
  enter("lower");
  bool verified = output == Output::Verified || output == Output::VerifiedText;
  FailureOr<LoweredKernel> attempt =
      lowerKernel(kernel.description, payload(), match.get(), recipe,
                  toolchain.target, toolchain.host, toolchain.limits, verified);
  if (failed(attempt))
    return failWithDiagnostic(Disposition::BuildFailed, "lowering failed");
  if (!attempt->overLimit.empty())
    return fail(Disposition::OutOfResources, attempt->overLimit);
  lowered = std::move(*attempt);
  if (isArtifact())
    addInvoke(*lowered.module, kernel.description.name);
  return true;
}

/// Makes the device's image and puts it into the host's side.
bool VariantBuild::generateDevice() {
  enter("device-translate");
  auto modules = lowered.device->getOps<gpu::GPUModuleOp>();
  Operation *root = modules.empty() ? lowered.device->getOperation()
                                    : (*modules.begin()).getOperation();
  llvm::LLVMContext context;
  auto module = translateModuleToLLVMIR(root, context, "device");
  if (!module)
    return failWithDiagnostic(Disposition::BuildFailed,
                              "translation to LLVM IR failed");
  DeviceBuildOptions options;
  options.assembly = !isArtifact();
  options.bounded = isReserved();
  DeviceBuild device =
      buildDevice(*module, kernel.description.name, toolchain, options,
                  [this](const char *next) { enter(next); });
  deviceHash = device.irHash;
  deviceText = {module->getTargetTriple().str(), toolchain.target.chip,
                toolchain.device ? toolchain.device->features() : "",
                std::move(device.assembly)};
  if (output == Output::AssemblyText)
    result.bytes = deviceText.assembly;
  if (device.image.disposition != Disposition::Passed)
    return fail(device.image.disposition, device.image.reason);
  if (output == Output::OptimizedText)
    llvm::raw_string_ostream(result.bytes) << *module;
  else
    setDeviceImage(*lowered.module, kernel.description.name,
                   device.image.bytes);
  for (Json &launch : lowered.launches)
    if (auto facts = device.image.functions.find(launch["function"]);
        facts != device.image.functions.end())
      launch.update(*facts);
  return true;
}

bool VariantBuild::translate() {
  enter("translate");
  llvmModule = translateModuleToLLVMIR(*lowered.module, llvmContext, "kernel");
  if (!llvmModule)
    return failWithDiagnostic(Disposition::BuildFailed,
                              "translation to LLVM IR failed");
  toolchain.codeGenerator->prepare(*llvmModule);
  result.manifest.irHash = hashUnnamed(*llvmModule, kernel.description.name);
  if (!deviceHash.empty())
    result.manifest.irHash = contentHash(deviceHash + result.manifest.irHash);
  return true;
}

bool VariantBuild::generate() {
  if (!lower())
    return false;
  if (output == Output::LoweredText || output == Output::VerifiedText) {
    llvm::raw_string_ostream stream(result.bytes);
    stream << *lowered.module << "\n";
    if (lowered.device)
      stream << *lowered.device << "\n";
    return true;
  }
  if (lowered.device && !generateDevice())
    return false;
  if (output == Output::AssemblyText && lowered.device)
    return true;
  if (!translate())
    return false;
  enter("optimize");
  toolchain.codeGenerator->optimize(*llvmModule, /*bounded=*/isReserved());
  if (output == Output::OptimizedText) {
    llvm::raw_string_ostream(result.bytes) << *llvmModule;
    return true;
  }
  if (output == Output::AssemblyText)
    return printAssembly();
  return isArtifact() ? buildArtifact() : buildImplementation();
}

void VariantBuild::describe(const ObjectFacts &facts,
                            const llvm::Module &module) {
  Manifest &manifest = result.manifest;
  manifest.kind = "kernel";
  manifest.entry = kernel.description.name;
  manifest.arguments = lowered.arguments;
  manifest.dims = kernel.description.dimHints.size();
  manifest.workspaceBytes = lowered.workspaceBytes;
  manifest.target = toJson(toolchain.target);
  manifest.recipe = toJson(recipe);
  manifest.libraries = neededLibraries(module);
  manifest.launches = lowered.launches;
  manifest.features = lowered.device ? launchFeatures(lowered.launches)
                                     : irFeatures(module, toolchain.target);
  manifest.features["strategy"] = recipe.strategy;
  manifest.features["code_class"] = sizeClass(facts.codeBytes);
  manifest.features["frame_class"] = sizeClass(facts.frameBytes);
  // What the strategy says of itself wins.
  manifest.features.update(lowered.features);
  manifest.codeHash = facts.codeHash;
}

bool VariantBuild::printAssembly() {
  Result<std::string> text = toolchain.codeGenerator->emitAssembly(*llvmModule);
  if (!text)
    return fail(Disposition::BuildFailed, text.error().message);
  result.bytes = std::move(*text);
  return true;
}

bool VariantBuild::buildArtifact() {
  enter("object");
  Result<std::string> object = toolchain.codeGenerator->emitObject(*llvmModule);
  if (!object)
    return fail(Disposition::BuildFailed, object.error().message);
  describe(objectFacts(*object), *llvmModule);
  enter("link");
  return link(*object);
}

bool VariantBuild::link(const std::string &object) {
  Result<std::string> manifest =
      manifestObject(result.manifest, *toolchain.codeGenerator);
  if (!manifest)
    return fail(Disposition::HarnessFault, manifest.error().message);
  LinkOptions options;
  options.soname = kernel.description.name + ".so";
  Result<std::string> bytes = toolchain.linker->link(
      {StringRef(object), StringRef(*manifest)}, options);
  if (!bytes)
    return fail(Disposition::BuildFailed, bytes.error().message);
  result.bytes = std::move(*bytes);
  return true;
}

bool VariantBuild::buildImplementation() {
  enter("import");
  describe(ObjectFacts(), *llvmModule);
  Result<std::string> bytes = importImplementation(
      std::move(llvmModule), kernel.description.name, *payload().getContext(),
      lowered.device ? &deviceText : nullptr);
  if (!bytes)
    return fail(Disposition::BuildFailed, bytes.error().message);
  result.bytes = std::move(*bytes);
  return true;
}

BuiltVariant buildVariant(const KernelSource &kernel, const Recipe &recipe,
                          Output output, const Toolchain &toolchain,
                          StageObserver onStage) {
  return VariantBuild(kernel, recipe, output, toolchain, onStage).run();
}

} // namespace kernelbrain::compile
