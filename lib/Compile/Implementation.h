//===- Implementation.h - Optimised code back in MLIR -----------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_COMPILE_IMPLEMENTATION_H
#define KERNELBRAIN_LIB_COMPILE_IMPLEMENTATION_H

#include "kernelbrain/Support/Result.h"
#include "mlir/IR/MLIRContext.h"

#include <memory>
#include <string>

namespace llvm {
class Module;
} // namespace llvm

namespace kernelbrain::compile {

/// The code of a GPU, for people who read an implementation.
struct DeviceText {
  std::string triple, chip, features;
  std::string assembly;
};

/// Imports an optimised kernel into the LLVM dialect and returns the bytecode
/// of a module without attributes: `llvm.func @<kernel>`, and helpers and
/// constants that are internal and named after the kernel; `device`, if given,
/// as the `gpu.binary` `<kernel>_device`.
Result<std::string> importImplementation(std::unique_ptr<llvm::Module> module,
                                         llvm::StringRef kernel,
                                         mlir::MLIRContext &context,
                                         const DeviceText *device);

} // namespace kernelbrain::compile

#endif // KERNELBRAIN_LIB_COMPILE_IMPLEMENTATION_H
