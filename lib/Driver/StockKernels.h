//===- StockKernels.h - Kernels of a GPU that nothing won -------*- C++ -*-===//
//
// On a GPU, a kernel that no strategy applies to, or none improved on, is a
// kernel all the same: as the stock lowering makes it for the device.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_LIB_DRIVER_STOCKKERNELS_H
#define KERNELBRAIN_LIB_DRIVER_STOCKKERNELS_H

#include "kernelbrain/Build/CompileServerBuilder.h"
#include "kernelbrain/Driver/ModuleKernels.h"

#include <vector>

namespace kernelbrain {

/// The stock device lowering of each of `kernels`. One without implementation
/// cannot be built; its measurement says why.
Result<std::vector<KeptVariant>>
buildStockKernels(const std::vector<const ModuleKernel *> &kernels,
                  build::CompileServerBuilder &builder);

/// Selects those of `kernels`, which have no selected variant. Returns the ones
/// that could be; a remark tells of the others, which stay on the host.
Result<std::vector<const ModuleKernel *>>
selectStockKernels(const std::vector<const ModuleKernel *> &kernels,
                   build::CompileServerBuilder &builder);

} // namespace kernelbrain

#endif // KERNELBRAIN_LIB_DRIVER_STOCKKERNELS_H
