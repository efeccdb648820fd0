//===- RowEmitter.h - Writes the code of one row program --------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_STRATEGY_ROWEMITTER_H
#define KERNELBRAIN_LIB_STRATEGY_ROWEMITTER_H

#include "ProgramEmitter.h"

namespace kernelbrain::strategy {

class RowEmitter : public ProgramEmitter {
public:
  RowEmitter(const RowProgram &program, const RowPlan &plan,
             const RowOptions &options, const RowFallback *fallback,
             kb::KernelOp kernel, mlir::ModuleOp module)
      : ProgramEmitter(program, options, kernel, module), plan(plan),
        fallback(fallback) {}

private:
  // RowEmitter.cpp: the loop over rows.
  void emitNest(bool nontemporal) override;
  void setUpBuffers() override;
  void emitRow(bool nontemporal);
  Value guardHolds(const Guard &guard);
  void emitFallback();
  void emitPrefetch(const Slot &slot);
  Value rowOffset(const Access &access, llvm::ArrayRef<Node *> dynamic);
  Value rowValue(Node *node);

  // RowSweep.cpp: sweeps over columns and reductions.
  /// True if threads share the columns: there is only one row.
  bool sharesColumns() const { return thread && program.numRowAxes == 0; }
  void emitSweep(const Sweep &sweep, unsigned number, bool nontemporal);
  void prepareSweep(const Sweep &sweep, unsigned number);
  void runSlots(const Sweep &sweep, llvm::MutableArrayRef<Slot> slots,
                Values &accumulators);
  void emitTail(llvm::function_ref<void()> body);
  Values emitSteps(Value end, int64_t step, mlir::ValueRange accumulators,
                   Body body);
  Values emitVectors(const Sweep &sweep, Values accumulators);
  Values emitDynamicVectors(const Sweep &sweep, Values accumulators,
                            Body unrolled);
  Values emitScalars(const Sweep &sweep, Values accumulators, Value from);
  Values emitSlots(const Sweep &sweep, llvm::MutableArrayRef<Slot> slots,
                   mlir::ValueRange accumulators);
  Values accumulate(const Sweep &sweep, const Slot &slot, mlir::ValueRange old);
  void storeKept(Node *node, const Slot &slot);
  Values initialAccumulators(const Sweep &sweep);
  Values combineSlots(const Sweep &sweep, const Values &accumulators);
  void finishReductions(const Sweep &sweep, const Values &accumulators);
  unsigned accumulatorsOf(const Node *node) const {
    return node->kind == Node::Kind::ArgReduce ? 3 : 1;
  }
  Value argReduceSlowly(const Node *node);
  Value argFinish(const Node *node, mlir::ValueRange accumulators);
  Value reduceLanes(const Node *reduction, Value vector);
  Values argAccumulate(const Node *node, const Slot &slot,
                       mlir::ValueRange old);
  Values argCombine(const Node *node, llvm::ArrayRef<Values> slots);

  // RowOps.cpp: values of nodes.
  void evaluate(const Sweep &sweep, llvm::MutableArrayRef<Slot> slots);
  Value valueIn(Node *node, const Slot &slot);
  Values operandsIn(Node *node, const Slot &slot);
  Value leafValue(Node *node, const Slot &slot);
  bool isKept(const Node *node) const;

  const RowPlan &plan;
  const RowFallback *fallback;
  llvm::DenseMap<const Node *, Value> stack; ///< row buffers
  // Of the row at hand.
  Values rows;       ///< induction variables of the row axes
  Memo rowValues;    ///< values without columns
  Memo rowVectors;   ///< the same, broadcast, in the sweep at hand
  Memo inputOffsets; ///< of the first column
  Values outputOffsets;
  bool storesNontemporal = false;
  unsigned sweepNumber = 0;
};

} // namespace kernelbrain::strategy

#endif // KERNELBRAIN_LIB_STRATEGY_ROWEMITTER_H
