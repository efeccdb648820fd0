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
/// The axis that threads share: an outer one, or the vectors' if that gives
/// them more even parts.
unsigned columnSharedAxis(const RowProgram &program, const RowOptions &options);
/// Parts of that axis.
int64_t columnParts(const RowProgram &program, const RowOptions &options,
                    unsigned axis);
/// Lanes of the vector axis that are worked off before the next ones: so many
/// that their buffers stay in the first cache.
int64_t columnPanel(const RowProgram &program, const RowPlan &plan,
                    const RowOptions &options, const ColumnOptions &columns);

/// True for what is a vector in such code: it changes along the vector axis or
/// comes from a reduction. Indexed by node.
std::vector<bool> vectorNodes(const RowProgram &program);

/// True if the reduction adds chunks up in f64.
bool isWide(const Node *node, const ColumnOptions &options);
/// What the accumulators of a reduction hold between chunks.
llvm::SmallVector<mlir::Type, 2> accumulatorTypes(const Node *node,
                                                  const ColumnOptions &options);
/// True if a row value waits in a buffer of its own: the others are loaded
/// from where they are.
bool isBuffered(const Node *node, const ColumnOptions &options);

class ColumnEmitter : public ProgramEmitter {
public:
  ColumnEmitter(const RowProgram &program, const RowPlan &plan,
                const RowOptions &options, const ColumnOptions &columns,
                const RowFallback *fallback, int64_t panel, kb::KernelOp kernel,
                mlir::ModuleOp module)
      : ProgramEmitter(program, options, kernel, module), plan(plan),
        columns(columns), isVector(vectorNodes(program)),
        level(program.nodes().size()), panel(panel) {
    for (const std::unique_ptr<Node> &node : program.nodes()) {
      for (const Node *operand : node->operands)
        level[node->id] = std::max(level[node->id], level[operand->id]);
      level[node->id] += node->isReduction();
    }
    if (program.guards.empty())
      return;
    fallbackColumns.widen = columns.widen;
    exact = std::make_unique<ColumnEmitter>(
        *fallback->program, fallback->plan, fallback->options, fallbackColumns,
        /*fallback=*/nullptr, panel, kernel, module);
  }

private:
  using Slots = llvm::SmallVector<Slot, 0>;

  void setUpBuffers() override;
  void emitNest(bool nontemporal) override;
  void emitScalars();
  void emitPanel(Value start, int64_t length);
  void checkGuards(Slot &slot);
  Value guardHolds(const Guard &guard, Slot &slot);
  void emitFallback(int64_t length);
  void emitBetween(unsigned from, unsigned to, const Sweep *next, int64_t);
  void emitSweep(const Sweep &sweep, int64_t length);
  void emitChunk(const Sweep &sweep, Slots &slots, Value from, Value to);
  Values emitStep(const Sweep &sweep, Slots &slots,
                  mlir::ValueRange accumulators);
  void emitPrefetch(const Sweep &sweep, const Slots &slots);
  void forSlots(int64_t length, int64_t vectors,
                llvm::function_ref<void(Slots &)> body);

  Value newBuffer(mlir::Type type);
  Value inBuffer(Value buffer, mlir::Type type, const Slot &slot);
  void toBuffer(Value value, Value buffer, const Slot &slot);
  void initialize(const Node *reduction, Slot &slot);
  Values accumulate(const Node *reduction, const Slot &slot,
                    mlir::ValueRange old);

  Value scalarValue(Node *node);
  Value rowVector(Node *node, Slot &slot);
  Value finished(Node *reduction, Slot &slot);
  Value operandIn(Node *node, const Slot &slot);
  Value leafValue(Node *node, const Slot &slot);
  void evaluate(const Sweep &sweep, Slots &slots);

  const RowPlan &plan;
  const ColumnOptions &columns;
  std::vector<bool> isVector;
  std::vector<unsigned> level; ///< reductions on the longest way to a node
  int64_t panel;

  llvm::DenseMap<const Node *, Value> buffers; ///< of row values
  llvm::DenseMap<const Node *, Values> accumulators;
  Values coordinates; ///< one an axis; null where it is the vector's
  Memo scalars;       ///< outside of the sweeps, then of the step at hand
  Value panelStart;
  /// Works off the panels where a guard does not hold; null: there is none.
  std::unique_ptr<ColumnEmitter> exact;
  ColumnOptions fallbackColumns{/*vectors=*/1};
  Value guardsHeld; ///< one byte on the stack
  bool storesNontemporal = false;
};

/// Panels where a guard of the program does not hold are worked off again by
/// the fallback.
mlir::func::FuncOp
emitColumnProgram(const RowProgram &program, const RowPlan &plan,
                  const RowOptions &options, const ColumnOptions &columns,
                  const RowFallback *fallback, kb::KernelOp kernel,
                  mlir::ModuleOp module);

} // namespace kernelbrain::strategy

#endif // KERNELBRAIN_LIB_STRATEGY_COLUMNEMITTER_H
