//===- LayoutEmitter.h - Moves elements to other places ---------*- C++ -*-===//
//
// Programs without reductions whose inputs lie in another order than the
// results, or whose results are put together from pieces. What is contiguous
// along another axis is read in square tiles that are transposed in registers;
// what is contiguous along none is gathered.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_LIB_STRATEGY_LAYOUTEMITTER_H
#define KERNELBRAIN_LIB_STRATEGY_LAYOUTEMITTER_H

#include "ProgramEmitter.h"

#include <set>

namespace kernelbrain::strategy {

struct LayoutOptions {
  int64_t blockRows = 64;    ///< of a block along the vectors, in elements
  int64_t blockColumns = 64; ///< along the inputs' own rows
};

/// How the inputs of one piece are read.
struct PiecePlan {
  const RowProgram *program = nullptr;
  bool isScalar = false; ///< results are not contiguous along any axis
  std::optional<unsigned> tileAxis; ///< along which some inputs are contiguous
  NodeSet transposed;
  NodeSet gathered;
  unsigned sharedAxis = 0; ///< that threads share
  int64_t parts = 1;       ///< of it
};
PiecePlan planPiece(const RowProgram &program, const RowOptions &options,
                    const LayoutOptions &layout);

using Pieces = std::vector<std::unique_ptr<RowProgram>>;

mlir::func::FuncOp emitPieces(const Pieces &pieces, const RowOptions &options,
                              const LayoutOptions &layout, kb::KernelOp kernel,
                              mlir::ModuleOp module);

/// Rows of a square tile as its columns.
llvm::SmallVector<mlir::Value> emitTransposition(mlir::OpBuilder &builder,
                                                 mlir::Location loc,
                                                 mlir::ValueRange rows);

} // namespace kernelbrain::strategy

#endif // KERNELBRAIN_LIB_STRATEGY_LAYOUTEMITTER_H
