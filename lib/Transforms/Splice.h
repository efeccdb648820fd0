//===- Splice.h - The parts of kb-splice ------------------------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_TRANSFORMS_SPLICE_H
#define KERNELBRAIN_LIB_TRANSFORMS_SPLICE_H

#include "kernelbrain/Dialect/KB/KB.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace kernelbrain {

/// A kernel on its way into the program, and the functions made for it.
struct SplicedKernel {
  kb::KernelOp kernel;
  kb::VariantOp variant;
  mlir::LLVM::LLVMFuncOp implementation;
  mlir::func::FuncOp baseline, shim;
};

/// The type of `type`'s buffers in a shim: static extents, any strides.
mlir::MemRefType getShimType(mlir::RankedTensorType type);

/// Copies the implementation of `spliced.variant` into the module of `symbols`:
/// the entry as `@<kernel>_impl`, what it defines with internal linkage, what
/// it declares under the escaped name that no declaration of the program can
/// collide with. Emits a diagnostic and fails where it is no implementation of
/// ABI version 1.
mlir::LogicalResult addImplementation(SplicedKernel &spliced,
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
