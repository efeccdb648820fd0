//===- Stock.h - The upstream lowering of a kernel --------------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_COMPILE_STOCK_H
#define KERNELBRAIN_LIB_COMPILE_STOCK_H

#include "kernelbrain/Strategy/Strategy.h"

namespace kernelbrain::compile {

/// Turns every f16, bf16 and f32 in `root` (a kernel or a module) into f64:
/// types, constants (their exact values), and the conversions between them,
/// which vanish. Emits a diagnostic and fails where an operation depends on the
/// bits of a float.
mlir::LogicalResult promoteFloats(mlir::Operation *root);

/// Lowers a kernel with upstream's passes to loops over memrefs in `module`, as
/// Strategy::instantiate() would. `pipeline` runs first, on a module with one
/// function that works on tensors between conversions from and to its buffers;
/// it may lower as far as it likes.
mlir::FailureOr<strategy::Instance> instantiateStock(kb::KernelOp kernel,
                                                     llvm::StringRef pipeline,
                                                     mlir::ModuleOp module);

/// The pipeline of the stock lowering with elementwise fusion.
constexpr llvm::StringLiteral fusionPipeline =
    "func.func(linalg-fuse-elementwise-ops)";

/// Moves the heap allocations of `function` that have a static shape and a
/// matching deallocation into one workspace, a new last argument of type
/// memref<Nxi8>. Buffers that do not live at the same time share memory.
/// Returns N, and 0 without adding an argument if there are none.
int64_t packWorkspace(mlir::func::FuncOp function);

} // namespace kernelbrain::compile

#endif // KERNELBRAIN_LIB_COMPILE_STOCK_H
