//===- RowEmitter.h - Writes the code of one row program --------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_STRATEGY_ROWEMITTER_H
#define KERNELBRAIN_LIB_STRATEGY_ROWEMITTER_H

#include "RowCodegen.h"

namespace kernelbrain::strategy {

class RowEmitter {
public:
  RowEmitter(const RowProgram &program, const RowPlan &plan,
             const RowOptions &options, kb::KernelOp kernel,
             mlir::ModuleOp module)
      : program(program), plan(plan), options(options), kernel(kernel),
        module(module), builder(module.getContext()), loc(kernel.getLoc()) {}

  mlir::func::FuncOp run();

private:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<mlir::Value>;
  using Memo = llvm::DenseMap<const Node *, mlir::Value>;

  /// Some neighbouring columns: one vector of them, or one (lanes 0).
  struct Slot {
    int64_t lanes;
    unsigned number; ///< which of the unrolled accumulators
    Value column;    ///< of the first lane
    Value mask;      ///< lanes that exist; null: all
    Memo memo;

    Slot(int64_t lanes, unsigned number, Value column, Value mask = {})
        : lanes(lanes), number(number), column(column), mask(mask) {}
  };
  using Body = llvm::function_ref<Values(Value index, mlir::ValueRange)>;

  // RowEmitter.cpp: the function and the loop over rows.
  void setUpArguments();
  Value extentValue(const Extent &extent);
  Value alignmentTest();
  void emitNest(bool nontemporal);
  void emitRow(bool nontemporal);
  void emitPrefetch(const Slot &slot);
  Value rowOffset(const Access &access, llvm::ArrayRef<Node *> dynamic);
  Value index(int64_t value);
  Value addIndex(Value a, Value b);
  Value mulIndex(Value a, Value b);
  Values emitLoop(Value from, Value to, int64_t step, mlir::ValueRange inits,
                  Body body);
  Value rowValue(Node *node);

  // RowSweep.cpp: sweeps over columns and reductions.
  void emitSweep(const Sweep &sweep, unsigned number, bool nontemporal);
  void prepareSweep(const Sweep &sweep, unsigned number);
  void runSlots(const Sweep &sweep, llvm::MutableArrayRef<Slot> slots,
                Values &accumulators);
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
  Value combine(const Node *reduction, Value a, Value b);
  Value combineExactly(const Node *reduction, Value a, Value b);
  Value argFinish(const Node *node, mlir::ValueRange accumulators);
  Value reduceLanes(const Node *reduction, Value vector);
  Values argAccumulate(const Node *node, const Slot &slot,
                       mlir::ValueRange old);
  Values argCombine(const Node *node, llvm::ArrayRef<Values> slots);
  mlir::TypedAttr neutral(const Node *reduction);
  bool isFastExtremum(const Node *reduction);

  // RowOps.cpp: values of nodes.
  void evaluate(const Sweep &sweep, llvm::MutableArrayRef<Slot> slots);
  Value valueIn(Node *node, const Slot &slot);
  Values operandsIn(Node *node, const Slot &slot);
  Value leafValue(Node *node, const Slot &slot);
  bool isKept(const Node *node) const;
  static bool isApproximated(const Node &node);
  Value emitOp(const Node &node, llvm::ArrayRef<Value> operands, int64_t lanes);
  Values emitApproximation(const Node &node, mlir::ValueRange arguments,
                           int64_t lanes);
  Value load(Value memref, Value offset, mlir::Type type, const Slot &slot);
  void store(Value value, Value memref, Value offset, const Slot &slot,
             bool nontemporal);
  Value constant(mlir::TypedAttr value, int64_t lanes);
  mlir::Type typeFor(mlir::Type scalar, int64_t lanes) const;
  Value broadcast(Value scalar, int64_t lanes);

  const RowProgram &program;
  const RowPlan &plan;
  const RowOptions &options;
  kb::KernelOp kernel;
  mlir::ModuleOp module;
  mlir::OpBuilder builder;
  mlir::Location loc;

  mlir::func::FuncOp function;
  Values flat;                               ///< arguments as one dimension
  llvm::SmallVector<Value> dims;             ///< dynamic dimensions
  llvm::DenseMap<const Node *, Value> stack; ///< row buffers
  llvm::DenseMap<const Node *, bool> fast;
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
