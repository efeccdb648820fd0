//===- Outlining.h - Kernels within a function ------------------*- C++ -*-===//

#ifndef KERNELBRAIN_TRANSFORMS_OUTLINING_H
#define KERNELBRAIN_TRANSFORMS_OUTLINING_H

#include "kernelbrain/Dialect/KB/KB.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kernelbrain {

/// Cuts `function` into kernels as kb-outline does one without a marker, and
/// says nothing of what stays. The kernels are in the nested module of its
/// module. Runs no passes, so that a pass may call it on a module of its own.
void cutIntoKernels(mlir::func::FuncOp function);

/// Puts the body of `kernel` in the place of `call`, which is on tensors.
void inlineKernel(kb::CallOp call, kb::KernelOp kernel);

} // namespace kernelbrain

#endif // KERNELBRAIN_TRANSFORMS_OUTLINING_H
