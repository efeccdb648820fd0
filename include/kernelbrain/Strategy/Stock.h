//===- Stock.h - The upstream lowering of a kernel --------------*- C++ -*-===//

#ifndef KERNELBRAIN_STRATEGY_STOCK_H
#define KERNELBRAIN_STRATEGY_STOCK_H

#include "kernelbrain/Strategy/Strategy.h"

namespace kernelbrain::strategy {

/// The pipeline of the stock lowering with elementwise fusion.
constexpr llvm::StringLiteral fusionPipeline =
    "func.func(linalg-fuse-elementwise-ops)";

/// Lowers a kernel with upstream's passes to loops over memrefs in `module`, as
/// Strategy::instantiate() would. `pipeline` runs first, on a module with one
/// function that works on tensors between conversions from and to its buffers;
/// it may lower as far as it likes.
mlir::FailureOr<Instance> instantiateStock(kb::KernelOp kernel,
                                           llvm::StringRef pipeline,
                                           mlir::ModuleOp module);

/// The same for a GPU: launches of one thread an iteration of a parallel loop.
/// (Upstream's own mapping gives each thread a block, and fails for what is not
/// parallel.) Loops of the host may stand around launches, and buffers of
/// dynamic size be allocated beside them.
mlir::FailureOr<Instance> instantiateStockForGpu(kb::KernelOp kernel,
                                                 llvm::StringRef pipeline,
                                                 mlir::ModuleOp module);

/// The two steps of instantiateStock(). First the function on buffers, at the
/// end of `module`, whose body is the kernel's:
mlir::func::FuncOp makeStockFunction(kb::KernelOp kernel,
                                     mlir::ModuleOp module);
/// Then all functions of `module` to loops, after `pipeline`. Once tensors are
/// buffers, and before it is decided who frees them, `onBuffers` is called.
mlir::LogicalResult
lowerStock(mlir::ModuleOp module, llvm::StringRef pipeline,
           llvm::function_ref<mlir::LogicalResult()> onBuffers = nullptr);

/// Moves the heap allocations of `function` that have a static shape and a
/// matching deallocation into one workspace, a new last argument of type
/// memref<Nxi8>. Buffers that do not live at the same time share memory.
/// Returns N, and 0 without adding an argument if there are none.
int64_t packWorkspace(mlir::func::FuncOp function);

/// The knob of the stock lowering.
SearchSpace stockSpace();

} // namespace kernelbrain::strategy

#endif // KERNELBRAIN_STRATEGY_STOCK_H
