//===- Toolchain.cpp - What all builds of a process share -----------------===//

#include "kernelbrain/Compile/HostTarget.h"
#include "kernelbrain/Compile/VariantBuilder.h"

namespace kernelbrain::compile {

Result<Toolchain> Toolchain::create(const Target &target,
                                    StrategyList strategies) {
  Toolchain toolchain;
  toolchain.target = toolchain.host = target;
  toolchain.strategies = strategies;
  if (target.isCuda()) {
    auto host = makePortableTarget();
    if (!host)
      return host.error();
    toolchain.host = std::move(*host);
  }
  if (target.isCuda() && target.chip != emulatedChip) {
    auto device = DeviceCodeGenerator::create(target);
    if (!device)
      return device.error();
    toolchain.device = std::move(*device);
  }
  auto generator = CodeGenerator::create(toolchain.host);
  if (!generator)
    return generator.error();
  toolchain.codeGenerator = std::move(*generator);
  auto linker = Linker::create();
  if (!linker)
    return linker.error();
  if (target.isCuda())
    if (Status added = linker->addCudaRuntime(*toolchain.codeGenerator); !added)
      return added.error();
  toolchain.linker = std::make_unique<Linker>(std::move(*linker));
  return std::move(toolchain);
}

} // namespace kernelbrain::compile
