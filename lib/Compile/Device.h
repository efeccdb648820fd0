//===- Device.h - Launches and the code that they launch --------*- C++ -*-===//
//
//  func.func of gpu.launch -> outlineLaunches -> func.func of gpu.launch_func,
//  gpu.module of gpu.func -> lowerLaunches, lowerDeviceCode -> LLVM dialect
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_LIB_COMPILE_DEVICE_H
#define KERNELBRAIN_LIB_COMPILE_DEVICE_H

#include "kernelbrain/Core/Kernel.h"
#include "kernelbrain/Core/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace kernelbrain::compile {

/// Moves the launches of `function` into one gpu.module behind it. Its
/// functions are named `<kernel>_<n>` in the order of their launches, and take
/// pointers and numbers: a memref goes as its pointer and what its type leaves
/// open. Pointers are marked with what the ABI promises about `arguments`,
/// which `function` takes first. Attributes `nvvm.*` of a launch go to its
/// function.
mlir::FailureOr<mlir::gpu::GPUModuleOp>
outlineLaunches(mlir::func::FuncOp function, llvm::StringRef kernel,
                llvm::ArrayRef<Argument> arguments);

/// Turns outlined launches into calls of kbcuLaunch that return its status
/// where that is not 0; buffers that the host allocates are the device's.
/// `function` gets the stream as a new last argument. The
/// globals `<kernel>_image`, `_module`, `_<n>_kernel` appear beside it; the
/// image is empty. Appends an object to `launches` for each: function, grid (-1
/// where dynamic), block, dynamic_shared_bytes.
mlir::LogicalResult lowerLaunches(mlir::func::FuncOp function,
                                  llvm::StringRef kernel, const Target &target,
                                  Json &launches);

/// The content of `<kernel>_image`.
void setDeviceImage(mlir::ModuleOp module, llvm::StringRef kernel,
                    llvm::StringRef bytes);

/// Lowers what outlineLaunches() made, in a module of its own, to LLVM and NVVM
/// operations.
mlir::LogicalResult lowerDeviceCode(mlir::gpu::GPUModuleOp module);

/// The same for the emulated GPU: the functions come to stand in the module
/// around, as functions of a CPU that call what Runtime/Emulator.h offers.
mlir::LogicalResult emulateDeviceCode(mlir::gpu::GPUModuleOp module,
                                      const Target &host);

/// Operations of math with `fastmath<afn>` on f32 to instructions of the GPU,
/// an element at a time.
mlir::LogicalResult lowerApproximateMath(mlir::Operation *root);

/// Loads from global memory that are marked nontemporal, to instructions that
/// ask the caches to keep other lines instead.
void lowerNontemporalLoads(mlir::gpu::GPUModuleOp module);

/// Bytes of static workgroup memory of the function in `module` that has most.
int64_t staticSharedBytes(mlir::gpu::GPUModuleOp module);

} // namespace kernelbrain::compile

#endif // KERNELBRAIN_LIB_COMPILE_DEVICE_H
