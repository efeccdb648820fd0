//===- RowCodegen.h - Vector code for row programs --------------*- C++ -*-===//
//
// A row is worked off in sweeps over its columns. Sweep k computes what needs
// the results of reductions of the sweeps before it; a matrix value that a
// later sweep needs again is computed again or kept in a row buffer.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_LIB_STRATEGY_ROWCODEGEN_H
#define KERNELBRAIN_LIB_STRATEGY_ROWCODEGEN_H

#include "kernelbrain/Strategy/MathApprox.h"
#include "kernelbrain/Strategy/RowProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace kernelbrain::strategy {

enum class Keep { Nowhere, Stack, Result };
enum class Tail { Mask, Scalar };

/// The decisions that knobs stand for.
struct RowOptions {
  int64_t lanes = 16;
  int64_t unroll = 4;
  int64_t threads = 1; ///< that share an axis
  int64_t pack = 1;    ///< unrolled vectors computed side by side
  Keep keep = Keep::Nowhere;
  Tail tail = Tail::Mask;
  ExpForm expForm = ExpForm::Split;
  int expDegree = 5;
  bool expBase2 = false;
  int erfDegree = erfInPieces;
  int64_t prefetchRows = 0;            ///< rowwise: so many rows ahead; 0: none
  int64_t prefetchElements = 0;        ///< elementwise: so many columns ahead
  llvm::SmallVector<bool> nontemporal; ///< one an output
  bool contract = true;
};

/// One pass over the columns of a row.
struct Sweep {
  unsigned level = 0;
  std::vector<Node *> reductions;
  std::vector<unsigned> stores;  ///< outputs with columns
  std::vector<Node *> keeps;     ///< computed here, written to their row buffer
  std::vector<Node *> matrices;  ///< everything evaluated, operands first
  std::vector<Node *> rowValues; ///< values without columns that it needs
};

/// Where a kept value lives.
struct KeptRow {
  unsigned sweep = 0; ///< index of the sweep that computes it
  int output = -1;    ///< in this output's row, or in a stack buffer
};

struct RowPlan {
  std::vector<Sweep> sweeps;
  NodeMap<KeptRow> kept;
  std::vector<unsigned> rowOutputs; ///< outputs without columns
  int64_t stackBytes = 0;           ///< of one row
};

/// Levels, sweeps and kept rows. Kept rows need a static number of columns on
/// the stack, and an output of equal type that is written later as a result.
RowPlan planRows(const RowProgram &program, Keep keep);

/// The row axis that threads share: the longest at the tuned extents, the outer
/// one of equal ones.
unsigned threadedAxis(const RowProgram &program);

/// How much longer than its share the thread with most of `parts` equal parts
/// takes: 1 if all threads have as many.
double imbalance(int64_t parts, int64_t threads);

/// Bytes of an element in memory.
int64_t elementBytes(mlir::Type type);

/// The largest row buffers that planRows puts on the stack.
constexpr int64_t maxStackBytes = 128 << 10;

/// True where dropping NaN in this maximum or minimum cannot be seen: every
/// result that depends on it is NaN anyway, through a sum over the same row.
bool mayDropNaN(const RowProgram &program, const Node *reduction);
/// How rows are worked off in which a guard of the program does not hold.
struct RowFallback {
  std::unique_ptr<RowProgram> program;
  RowPlan plan;
  RowOptions options;
};

/// Writes the function described at Instance::function (Strategy.h). A program
/// with guards needs a fallback.
mlir::func::FuncOp emitRowProgram(const RowProgram &program,
                                  const RowPlan &plan,
                                  const RowOptions &options,
                                  const RowFallback *fallback,
                                  kb::KernelOp kernel, mlir::ModuleOp module);

} // namespace kernelbrain::strategy

#endif // KERNELBRAIN_LIB_STRATEGY_ROWCODEGEN_H
