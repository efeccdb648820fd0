//===- EntryPoint.h - ABI v1 around a lowered body --------------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_COMPILE_ENTRYPOINT_H
#define KERNELBRAIN_LIB_COMPILE_ENTRYPOINT_H

#include "kernelbrain/Core/Kernel.h"
#include "kernelbrain/Core/Target.h"
#include "mlir/IR/BuiltinOps.h"

namespace kernelbrain::compile {

/// The symbol of the function that an entry wraps.
std::string bodySymbol(llvm::StringRef kernel);

/// Adds `llvm.func @<name>` of ABI v1, which calls the body: a lowered function
/// that takes a memref descriptor in parts for each argument, and one for the
/// workspace if there is any, and then the stream if it takes that. Pointers
/// whose promised alignment is more than natural are tested: the entry declines
/// (1) a caller that breaks its promise.
void addEntry(mlir::ModuleOp module, llvm::StringRef name,
              llvm::ArrayRef<Argument> arguments, int64_t dims,
              int64_t workspaceBytes);

/// Names the target's CPU and features on every defined function; without them
/// a caller's module, which is built for another CPU, would pull vector code
/// apart. Makes all of them but `exported` internal.
void finishFunctions(mlir::ModuleOp module, const Target &target,
                     llvm::StringRef exported);

} // namespace kernelbrain::compile

#endif // KERNELBRAIN_LIB_COMPILE_ENTRYPOINT_H
