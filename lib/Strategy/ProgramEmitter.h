//===- ProgramEmitter.h - What emitters of row programs share ---*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_STRATEGY_PROGRAMEMITTER_H
#define KERNELBRAIN_LIB_STRATEGY_PROGRAMEMITTER_H

#include "RowCodegen.h"

namespace kernelbrain::strategy {

/// The function with its arguments, and code for single nodes. Who derives
/// from it decides along which axis vectors lie and how loops nest.
class ProgramEmitter {
public:
  ProgramEmitter(const RowProgram &program, const RowOptions &options,
                 kb::KernelOp kernel, mlir::ModuleOp module)
      : program(program), options(options), kernel(kernel), module(module),
        builder(module.getContext()), loc(kernel.getLoc()) {}
  virtual ~ProgramEmitter() = default;

  mlir::func::FuncOp run();

protected:
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

  /// All loops. Called twice, in two arms, where some results are written past
  /// the caches if they start on a cache line.
  virtual void emitNest(bool nontemporal) = 0;
  /// Buffers, each thread's own, ahead of all loops.
  virtual void setUpBuffers() {}

  // RowEmitter.cpp: the function and index arithmetic.
  void setUpArguments();
  Value extentValue(const Extent &extent);
  Value alignmentTest();
  /// Stores past the caches are ordered by a fence only: here, or behind
  /// `loops`.
  void emitFence(mlir::Operation *loops = nullptr);
  /// The element that an access touches at the given coordinates, one an axis
  /// (null: zero), and at the given values of its dynamic operands.
  Value accessOffset(const Access &access, llvm::ArrayRef<Value> coordinates,
                     llvm::ArrayRef<Value> dynamic);
  /// Ends the program with the assertion's message unless `holds`.
  void emitAssertion(const Assertion &assertion, Value holds);
  Value index(int64_t value);
  Value addIndex(Value a, Value b);
  Value mulIndex(Value a, Value b);
  Values emitLoop(Value from, Value to, int64_t step, mlir::ValueRange inits,
                  Body body);

  // Threads.cpp
  using Steps = llvm::function_ref<void(Value from, int64_t length)>;
  void emitThreads(llvm::function_ref<void()> body);
  /// Which of [0, count) are the thread's: all if there is only one.
  std::pair<Value, Value> partOf(Value count);
  /// Emits what only one of the threads may do. Nothing outside uses its
  /// values.
  void emitOnce(llvm::function_ref<void()> body);
  /// Steps from `from` on, of which the last one may be shorter. `isShared`:
  /// each thread takes some.
  void forSteps(Value from, int64_t length, int64_t step, bool isShared,
                Steps body);

  // RowReductions.cpp: combining values.
  Value combine(const Node *reduction, Value a, Value b);
  Value selectBetter(const Node *reduction, Value a, Value b);
  Value combineExactly(const Node *reduction, Value a, Value b);
  mlir::TypedAttr neutral(const Node *reduction);
  bool isFastExtremum(const Node *reduction);

  // RowOps.cpp: operations.
  static bool isApproximated(const Node &node);
  virtual Value emitOp(const Node &node, llvm::ArrayRef<Value> operands,
                       int64_t lanes);
  /// The operation itself, whatever it is.
  Value emitPlainOp(const Node &node, llvm::ArrayRef<Value> operands,
                    int64_t lanes);
  Values emitApproximation(const Node &node, mlir::ValueRange arguments,
                           int64_t lanes);
  /// The same of the operand of `node` in each slot, for all slots side by
  /// side; kept in their memos.
  template <typename Slots, typename OperandIn>
  void approximateTogether(Node *node, Slots &&slots, int64_t lanes,
                           OperandIn operandIn) {
    Values arguments;
    for (auto &slot : slots)
      arguments.push_back(operandIn(node->operands[0], slot));
    Values results = emitApproximation(*node, arguments, lanes);
    for (auto [slot, result] : llvm::zip(slots, results))
      slot.memo[node] = result;
  }
  Value load(Value memref, Value offset, mlir::Type type, const Slot &slot);
  void store(Value value, Value memref, Value offset, const Slot &slot,
             bool nontemporal);
  Value constant(mlir::TypedAttr value, int64_t lanes);
  mlir::Type typeFor(mlir::Type scalar, int64_t lanes) const;
  Value broadcast(Value scalar, int64_t lanes);

  const RowProgram &program;
  const RowOptions &options;
  kb::KernelOp kernel;
  mlir::ModuleOp module;
  mlir::OpBuilder builder;
  mlir::Location loc;

  mlir::func::FuncOp function;
  Values flat;                   ///< arguments as one dimension
  llvm::SmallVector<Value> dims; ///< dynamic dimensions
  llvm::DenseMap<const Node *, bool> fast;
  int64_t workspaceBytes = 0; ///< more than 0: the last argument
  Value thread;               ///< the number of this one; null: the only one
};

/// An integer or index value as another integer or index type, sign extended;
/// vectors lane by lane.
mlir::Value castInteger(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value value, mlir::Type type);

} // namespace kernelbrain::strategy

#endif // KERNELBRAIN_LIB_STRATEGY_PROGRAMEMITTER_H
