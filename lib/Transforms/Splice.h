//===- Splice.h - The parts of kb-splice ------------------------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_TRANSFORMS_SPLICE_H
#define KERNELBRAIN_LIB_TRANSFORMS_SPLICE_H

#include "kernelbrain/Dialect/KB/KB.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/SmallBitVector.h"

namespace kernelbrain {

/// A kernel on its way into the program, and the functions made for it.
struct SplicedKernel {
  kb::KernelOp kernel;
  kb::VariantOp variant;
  mlir::LLVM::LLVMFuncOp implementation;
  /// What the shim calls: the implementation, or what copies for it.
  mlir::LLVM::LLVMFuncOp callee;
  /// Null where there is no way back: buffers on the device.
  mlir::func::FuncOp baseline;
  mlir::func::FuncOp shim;
  /// Bytes of the workspace that callers of the shim allocate.
  int64_t workspaceBytes = 0;
  /// The destinations whose old value some call of the kernel reads.
  llvm::SmallBitVector readOutputs;
};

/// Bytes of one element in memory.
int64_t elementBytes(mlir::Type element);

/// The type of `type`'s buffers in a shim: static extents, any strides.
mlir::MemRefType getShimType(mlir::RankedTensorType type);

/// Copies the implementation of `spliced.variant` into the module of `symbols`:
/// the entry as `@<kernel>_impl`, what it defines with internal linkage, what
/// it declares under the escaped name that no declaration of the program can
/// collide with. Emits a diagnostic and fails where it is no implementation of
/// ABI version 1.
mlir::LogicalResult addImplementation(SplicedKernel &spliced,
                                      mlir::SymbolTable &symbols);

/// Writes `@<kernel>_staged`, which takes buffers of the host: copies them to
/// the device, calls the implementation there and copies results back.
mlir::LLVM::LLVMFuncOp addStaging(SplicedKernel &spliced,
                                  mlir::SymbolTable &symbols);

/// Finds the device kernels of `module` whose buffers are touched on the host
/// by more than kernels, allocations, dense views and the borders of functions;
/// removes their selected variants, with a remark. True if there were any. What
/// is left has destinations of its own.
bool refuseUnplaced(mlir::ModuleOp module);

/// Allocates, copies and frees what `shims` are called with in the device's
/// memory. Emits a diagnostic and fails where the host touches it.
mlir::LogicalResult
moveBuffersToDevice(mlir::ModuleOp module,
                    llvm::ArrayRef<mlir::func::FuncOp> shims);

/// Attributes of a function with the positions of the arguments and results
/// that are buffers of the device.
inline const char *getDeviceArgumentsName() { return "kb_device_arguments"; }
inline const char *getDeviceResultsName() { return "kb_device_results"; }

/// Gives the public functions that have them buffers of the host: what the
/// device has is allocated there, copied around the call and freed.
void addHostEntries(mlir::ModuleOp module);

/// A constant `text` with a zero byte behind it, as `@<text>_name`.
mlir::LLVM::GlobalOp addText(llvm::StringRef text, mlir::SymbolTable &symbols);

/// Notes a library for linkers, as clang's `#pragma comment(lib)` does, and for
/// whoever runs the program.
void needLibrary(mlir::Operation *module, llvm::StringRef name);

/// The declaration of a function outside of the program, written if it is not
/// there, under a name that no declaration of the program can collide with.
mlir::LLVM::LLVMFuncOp declareExternal(mlir::OpBuilder &builder,
                                       mlir::Location location,
                                       llvm::StringRef name,
                                       mlir::LLVM::LLVMFunctionType type,
                                       mlir::SymbolTable &symbols);

/// Writes `func.func @<kernel>_baseline` on memrefs around the kernel's body,
/// which is still on tensors, into the module of `symbols`.
void addBaseline(SplicedKernel &spliced, mlir::SymbolTable &symbols);

/// Writes `func.func @<kernel>` into the module of `symbols`.
void addShim(SplicedKernel &spliced, mlir::LLVM::LLVMFuncOp fail,
             mlir::SymbolTable &symbols);

/// The function `@kbFail(name, status)` of the module of `symbols`, written if
/// it is not there. Where the name means something else, it gets another.
mlir::LLVM::LLVMFuncOp getOrAddFail(mlir::Location location,
                                    mlir::SymbolTable &symbols);

/// Removes kernels, variants and kb attributes (kb-strip). Emits a diagnostic
/// and fails at a call of a kernel.
mlir::LogicalResult stripKernels(mlir::ModuleOp module);

} // namespace kernelbrain

#endif // KERNELBRAIN_LIB_TRANSFORMS_SPLICE_H
