//===- DeviceBuild.cpp - LLVM IR to a device's image ----------------------===//

#include "DeviceBuild.h"

#include "Features.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace kernelbrain::compile {

/// As comments of an assembler.
static std::string commented(StringRef text) {
  std::string comments;
  for (StringRef line : split(text.rtrim(), '\n'))
    comments += ("// " + line + "\n").str();
  return comments;
}

/// For an NVIDIA GPU; the text is PTX.
static DeviceBuild buildForGpu(Module &module, StringRef kernel,
                               const Toolchain &toolchain,
                               StageObserver onStage) {
  DeviceBuild build;
  DeviceImage &image = build.image;
  if (Status linked = toolchain.device->link(module); !linked) {
    image.reason = linked.error().message;
    return build;
  }
  build.irHash = hashUnnamed(module, kernel);
  onStage("device-optimize");
  Result<std::string> ptx = toolchain.device->emitPtx(module);
  if (!ptx) {
    image.reason = ptx.error().message;
    return build;
  }
  onStage("ptxas");
  image = toolchain.device->assemble(*ptx);
  build.assembly = commented(image.report) + *ptx;
  return build;
}

/// For the emulated GPU; the text is the CPU's.
static DeviceBuild buildForEmulator(Module &module, StringRef kernel,
                                    const Toolchain &toolchain,
                                    const DeviceBuildOptions &wanted,
                                    StageObserver onStage) {
  DeviceBuild build;
  DeviceImage &image = build.image;
  const CodeGenerator &generator = *toolchain.codeGenerator;
  generator.prepare(module);
  build.irHash = hashUnnamed(module, kernel);
  onStage("device-optimize");
  generator.optimize(module, wanted.bounded);
  onStage("device-object");
  if (wanted.assembly) {
    // Code generation changes a module.
    auto copy = CloneModule(module);
    if (Result<std::string> assembly = generator.emitAssembly(*copy))
      build.assembly = std::move(*assembly);
  }
  Result<std::string> object = generator.emitObject(module);
  LinkOptions options;
  options.soname = (kernel + ".device.so").str();
  Result<std::string> bytes =
      object ? toolchain.linker->link({StringRef(*object)}, options) : object;
  if (!bytes) {
    image.reason = bytes.error().message;
    return build;
  }
  image.bytes = std::move(*bytes);
  image.disposition = Disposition::Passed;
  return build;
}

DeviceBuild buildDevice(Module &module, StringRef kernel,
                        const Toolchain &toolchain,
                        const DeviceBuildOptions &options,
                        StageObserver onStage) {
  return toolchain.device
             ? buildForGpu(module, kernel, toolchain, onStage)
             : buildForEmulator(module, kernel, toolchain, options, onStage);
}

} // namespace kernelbrain::compile
