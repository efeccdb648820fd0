//===- Codegen.cpp - LLVM IR to object code -------------------------------===//

#include "kernelbrain/Compile/Codegen.h"

#include "kernelbrain/Compile/HostTarget.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/AutoUpgrade.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

using namespace llvm;

namespace kernelbrain::compile {

CodeGenerator::CodeGenerator() = default;
CodeGenerator::~CodeGenerator() = default;

Result<std::unique_ptr<CodeGenerator>>
CodeGenerator::create(const Target &target) {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  Triple triple(sys::getDefaultTargetTriple());
  std::string error;
  const llvm::Target *backend = TargetRegistry::lookupTarget(triple, error);
  if (!backend)
    return Error{"no code generator for this machine: " + error};
  TargetOptions options;
  options.EmitStackSizeSection = true; // Frame sizes tell of spills.
  auto generator = std::unique_ptr<CodeGenerator>(new CodeGenerator);
  generator->machine.reset(backend->createTargetMachine(
      triple, target.chip, featureString(target), options, Reloc::PIC_,
      CodeModel::Small, CodeGenOptLevel::Aggressive));
  if (!generator->machine)
    return Error{"no code generator for CPU '" + target.chip + "'"};
  return generator;
}

Result<std::unique_ptr<CodeGenerator>>
CodeGenerator::createForGpu(StringRef chip, unsigned ptxVersion) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *backend = TargetRegistry::lookupTarget(triple, error);
  if (!backend)
    return Error{"no code generator for NVIDIA GPUs: " + error};
  auto generator = std::unique_ptr<CodeGenerator>(new CodeGenerator);
  generator->machine.reset(backend->createTargetMachine(
      triple, chip, "+ptx" + std::to_string(ptxVersion), TargetOptions(),
      std::nullopt, std::nullopt, CodeGenOptLevel::Aggressive));
  if (!generator->machine)
    return Error{"no code generator for GPU '" + chip.str() + "'"};
  return generator;
}

std::string CodeGenerator::mismatch(StringRef triple, StringRef layout) const {
  const Triple &own = machine->getTargetTriple();
  Triple other(Triple::normalize(triple));
  if (!triple.empty() &&
      (other.getArch() != own.getArch() || other.getOS() != own.getOS() ||
       other.getEnvironment() != own.getEnvironment()))
    return ("the module is for '" + triple + "', this code is for '" +
            own.str() + "'")
        .str();
  if (layout.empty())
    return "";
  Expected<DataLayout> parsed =
      DataLayout::parse(UpgradeDataLayoutString(layout, own.str()));
  if (!parsed)
    return "the module has an invalid data layout: " +
           toString(parsed.takeError());
  DataLayout expected = machine->createDataLayout();
  if (*parsed != expected)
    return ("the module has the data layout '" + layout + "', this code '" +
            expected.getStringRepresentation() + "'")
        .str();
  return "";
}

void CodeGenerator::prepare(Module &module) const {
  module.setDataLayout(machine->createDataLayout());
  module.setTargetTriple(machine->getTargetTriple());
  for (Function &function : module) {
    if (function.isDeclaration() || function.hasFnAttribute("target-cpu"))
      continue;
    function.addFnAttr("target-cpu", machine->getTargetCPU());
    if (StringRef features = machine->getTargetFeatureString();
        !features.empty())
      function.addFnAttr("target-features", features);
  }
}

void CodeGenerator::optimize(Module &module, bool bounded) const {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager sccs;
  ModuleAnalysisManager modules;
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = true;
  tuning.LoopInterleaving = true;
  tuning.LoopUnrolling = true;
  PassBuilder builder(machine.get(), tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  bool isLarge = any_of(module, [](const Function &function) {
    return function.getInstructionCount() > maxAggressiveInstructions;
  });
  builder
      .buildPerModuleDefaultPipeline(bounded && isLarge ? OptimizationLevel::O2
                                                        : OptimizationLevel::O3)
      .run(module, modules);
}

Result<std::string> CodeGenerator::emit(Module &module, bool object) const {
  SmallVector<char, 0> buffer;
  raw_svector_ostream stream(buffer);
  legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr,
                                   object ? CodeGenFileType::ObjectFile
                                          : CodeGenFileType::AssemblyFile))
    return Error{"the code generator cannot write this kind of file"};
  passes.run(module);
  return std::string(buffer.begin(), buffer.end());
}

Result<std::string> CodeGenerator::emitObject(Module &module) const {
  return emit(module, /*object=*/true);
}

Result<std::string> CodeGenerator::emitAssembly(Module &module) const {
  return emit(module, /*object=*/false);
}

} // namespace kernelbrain::compile
