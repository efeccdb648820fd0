//===- ColumnEmitter.h - Reductions with vectors across them ----*- C++ -*-===//
//
// Vectors lie along a parallel axis, so that each lane reduces on its own. All
// reductions of a level share one sweep; a strip of vectors keeps its partial
// results in registers for a chunk of steps along the reduced axis, and in
// buffers on the stack between chunks.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_LIB_STRATEGY_COLUMNEMITTER_H
#define KERNELBRAIN_LIB_STRATEGY_COLUMNEMITTER_H

#include "ProgramEmitter.h"

namespace kernelbrain::strategy {

struct ColumnOptions {
  int64_t vectors = 4;       ///< of one strip, side by side in registers
  int64_t chunk = 16;        ///< steps between visits of the buffers
  int64_t prefetchSteps = 0; ///< ask for inputs so many steps ahead; 0: never
  bool widen = true;         ///< add the f32 sums of chunks up in f64
};

/// Bytes of stack that one lane of a panel takes.
int64_t columnBufferBytes(const RowProgram &program, const RowPlan &plan,
                          const ColumnOptions &options);
/// Lanes of the vector axis that are worked off before the next ones: so many
/// that their buffers stay in the first cache.
int64_t columnPanel(const RowProgram &program, const RowPlan &plan,
                    const RowOptions &options, const ColumnOptions &columns);

/// True for what is a vector in such code: it changes along the vector axis or
/// comes from a reduction. Indexed by node.
std::vector<bool> vectorNodes(const RowProgram &program);

/// Panels where a guard of the program does not hold are worked off again by
/// the fallback.
mlir::func::FuncOp
emitColumnProgram(const RowProgram &program, const RowPlan &plan,
                  const RowOptions &options, const ColumnOptions &columns,
                  const RowFallback *fallback, kb::KernelOp kernel,
                  mlir::ModuleOp module);

} // namespace kernelbrain::strategy

#endif // KERNELBRAIN_LIB_STRATEGY_COLUMNEMITTER_H
