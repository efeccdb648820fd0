//===- DeviceBuild.h - LLVM IR to a device's image --------------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_COMPILE_DEVICEBUILD_H
#define KERNELBRAIN_LIB_COMPILE_DEVICEBUILD_H

#include "kernelbrain/Compile/VariantBuilder.h"

namespace kernelbrain::compile {

struct DeviceBuildOptions {
  bool assembly = false; ///< the emulated GPU's as well
  bool bounded = false;  ///< as CodeGenerator::optimize() has it
};

struct DeviceBuild {
  DeviceImage image;
  std::string irHash; ///< hashUnnamed() before optimisation
  std::string assembly;
};

/// Optimises the device code of `kernel`, in place, and makes its image.
DeviceBuild buildDevice(llvm::Module &module, llvm::StringRef kernel,
                        const Toolchain &toolchain,
                        const DeviceBuildOptions &options,
                        StageObserver onStage);

} // namespace kernelbrain::compile

#endif // KERNELBRAIN_LIB_COMPILE_DEVICEBUILD_H
