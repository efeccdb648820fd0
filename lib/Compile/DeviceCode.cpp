//===- DeviceCode.cpp - LLVM IR to an image for an NVIDIA GPU -------------===//

#include "kernelbrain/Compile/DeviceCode.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Transforms/IPO/Internalize.h"

using namespace llvm;

namespace kernelbrain::compile {

/// The first PTX that knows a chip; 8.0 is what the runtime's part of the
/// driver needs anyway.
static unsigned leastPtxVersion(StringRef chip) {
  if (chip.starts_with("sm_103") || chip.starts_with("sm_121"))
    return 88;
  if (chip.starts_with("sm_12"))
    return 87;
  return chip.starts_with("sm_10") ? 86 : 80;
}

Result<std::unique_ptr<DeviceCodeGenerator>>
DeviceCodeGenerator::create(const kernelbrain::Target &target,
                            CudaToolkit toolkit) {
  std::unique_ptr<DeviceCodeGenerator> result(new DeviceCodeGenerator);
  unsigned version = leastPtxVersion(target.chip);
  if (is_contained(toolkit.chips, target.chip) &&
      toolkit.ptxVersion >= version) {
    result->ptxas = toolkit.ptxas;
    version = std::max(version, std::min(toolkit.ptxVersion, 87u));
  }
  auto generator = CodeGenerator::createForGpu(target.chip, version);
  if (!generator)
    return generator.error();
  result->chip = target.chip;
  result->ptxVersion = version;
  result->libdevice = std::move(toolkit.libdevice);
  result->generator = std::move(*generator);
  return std::move(result);
}

/// The optimizer answers what libdevice asks of `__nvvm_reflect`.
static std::string firstMissing(const Module &module) {
  for (const Function &function : module)
    if (function.isDeclaration() && !function.isIntrinsic() &&
        !function.use_empty() && function.getName() != "__nvvm_reflect")
      return function.getName().str();
  return "";
}

Status DeviceCodeGenerator::link(Module &module) const {
  // What libdevice decides by: denormal numbers are kept.
  module.addModuleFlag(Module::Override, "nvvm-reflect-ftz", uint32_t(0));
  generator->prepare(module);
  std::string missing = firstMissing(module);
  if (missing.empty())
    return {};
  if (StringRef(missing).starts_with("__nv_") && libdevice.empty())
    return Error{"'" + missing +
                 "' is in NVIDIA's libdevice, which is neither in CUDA_HOME "
                 "nor in CUDA_PATH nor in /usr/local/cuda*"};
  auto library = parseBitcodeFile(MemoryBufferRef(libdevice, "libdevice"),
                                  module.getContext());
  if (!library)
    return Error{"cannot read libdevice: " + toString(library.takeError())};
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  bool failed = Linker::linkModules(
      module, std::move(*library), Linker::LinkOnlyNeeded,
      [](Module &linked, const StringSet<> &names) {
        internalizeModule(linked, [&](const GlobalValue &value) {
          return !value.hasName() || !names.contains(value.getName());
        });
      });
  if (failed)
    return Error{"cannot link libdevice"};
  missing = firstMissing(module);
  if (!missing.empty())
    return Error{"device code calls '" + missing + "', which is nowhere"};
  generator->prepare(module);
  return {};
}

Result<std::string> DeviceCodeGenerator::emitPtx(Module &module) const {
  generator->optimize(module);
  return generator->emitAssembly(module);
}

} // namespace kernelbrain::compile
