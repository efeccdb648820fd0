//===- StockLaunches.h - Loops over buffers to launches ---------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_STRATEGY_GPU_STOCKLAUNCHES_H
#define KERNELBRAIN_LIB_STRATEGY_GPU_STOCKLAUNCHES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kernelbrain::strategy {

/// Makes a function of loops over buffers one of launches: a parallel loop with
/// one thread an iteration, and one thread for all that stands between such
/// loops. Loops around parallel loops stay the host's. Emits a diagnostic and
/// fails where threads would need much memory of their own.
mlir::LogicalResult formLaunches(mlir::func::FuncOp function);

/// Frees each buffer at the end of the block that allocates it; loops do not
/// carry buffers that they allocate. Emits a diagnostic and fails where that
/// cannot be.
mlir::LogicalResult freeBuffers(mlir::func::FuncOp function);

/// Reductions of linalg on buffers of few results with many elements each, in
/// two steps: parts side by side, then the parts. Those that are no plain
/// reduction stay.
void splitReductions(mlir::func::FuncOp function);

} // namespace kernelbrain::strategy

#endif // KERNELBRAIN_LIB_STRATEGY_GPU_STOCKLAUNCHES_H
