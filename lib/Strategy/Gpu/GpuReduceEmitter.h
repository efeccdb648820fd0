//===- GpuReduceEmitter.h - Reductions shared by many threads ---*- C++ -*-===//
//
// A block has lanes, each with one vector of neighbours, and members, which
// share the steps along the reduced axis. Vectors lie across the reduction
// (columns of a matrix), or along it, where a block has one lane only. Blocks
// may share the steps too: they leave partial results in the workspace, and
// the next launch combines them in a fixed order.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_LIB_STRATEGY_GPU_GPUREDUCEEMITTER_H
#define KERNELBRAIN_LIB_STRATEGY_GPU_GPUREDUCEEMITTER_H

#include "GpuEmitter.h"

namespace kernelbrain::strategy {

struct GpuReduceOptions {
  int64_t vector = 4;  ///< elements of one access
  int64_t lanes = 32;  ///< of a block; 1 along the reduction
  int64_t members = 8; ///< of a block, a power of two
  int64_t unroll = 8;  ///< steps whose inputs are asked for together
  int64_t splits = 1;  ///< blocks that share a reduction
  bool fastMath = true;
};

/// True if vectors lie along the reduction.
bool isAlongReduction(const RowProgram &program);
/// Elements of a reduction: along all axes of columns.
Extent reducedExtent(const RowProgram &program);
/// Vectors of neighbours on one side of the strip's edge to the other.
int64_t stripsOf(const RowProgram &program, const GpuReduceOptions &options);
/// Bytes of the partial results of all blocks.
int64_t reduceWorkspace(const RowProgram &program, const RowPlan &plan,
                        const GpuReduceOptions &options);
/// Bytes of workgroup memory of a block.
int64_t reduceShared(const RowProgram &program, const RowPlan &plan,
                     const GpuReduceOptions &options);
/// Launches of a call.
int64_t reduceLaunches(const RowPlan &plan, const GpuReduceOptions &options);

class GpuReduceEmitter : public GpuEmitter {
public:
  GpuReduceEmitter(const RowProgram &program, const RowPlan &plan,
                   const RowOptions &options, const GpuReduceOptions &reduce,
                   kb::KernelOp kernel, mlir::ModuleOp module);

private:
  /// The values of one step, or of the row: a scalar is the same in all lanes.
  struct Step {
    Values coordinates; ///< one an axis
    Memo memo;
  };

  void emitNest(bool nontemporal) override;
  void emitStage(size_t first, size_t count);
  void enterBlock(const GpuReduceOptions &shape);
  void emitSweep(const Sweep &sweep);
  Values emitSteps(const Sweep &sweep, Value from, Value to, int64_t unroll,
                   mlir::ValueRange inits);
  void enterStep(Step &step, Value element);
  void emitStores(const Sweep &sweep, Step &step);
  void storeRows();
  void store(const Output &output, Value value,
             llvm::ArrayRef<Value> coordinates);

  bool isVector(const Node *node) const { return vectorNode[node->id]; }
  int64_t width(const Node *node) const {
    return isVector(node) ? vector() : 0;
  }
  int64_t vector() const { return shape.vector; }
  Value valueOf(Node *node, Step &step);
  Value leaf(Node *node, Step &step);
  Value row(Node *node);
  Value widened(Value value, int64_t lanes);

  mlir::Type slotType(const Node *node) const;
  Value neutralOf(const Node *reduction);
  Value joinMembers(const Node *reduction, Value partial);
  Value loadPartials(const Node *reduction);
  Value partials(const Node *reduction);
  void finish(Node *reduction, Value partial);
  Value whenFirst();

  const RowPlan &plan;
  GpuReduceOptions reduce;
  bool along;
  int64_t outerAxes; ///< row axes but the vectors'
  std::vector<bool> vectorNode;

  // Of the launch at hand.
  GpuReduceOptions shape;
  Launch *launch = nullptr;
  Value lane, member, outer, split, column, isInside;
  Step rows;
};

} // namespace kernelbrain::strategy

#endif // KERNELBRAIN_LIB_STRATEGY_GPU_GPUREDUCEEMITTER_H
