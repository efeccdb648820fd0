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
/// Results of a reduction side by side: the extent of the vectors' axis, or 1
/// along the reduction; and the product of the other row axes.
int64_t rowExtent(const RowProgram &program);
int64_t outerPoints(const RowProgram &program);
/// All of them, sweep by sweep.
std::vector<const Node *> reductionsOf(const RowPlan &plan);
/// Where the partial results of a reduction begin in the workspace.
constexpr int64_t partialAlignment = 256;
/// Blocks side by side along the vectors' axis.
int64_t stripsOf(const RowProgram &program, const GpuReduceOptions &options);
/// Bytes of the partial results of all blocks.
int64_t reduceWorkspace(const RowProgram &program, const RowPlan &plan,
                        const GpuReduceOptions &options);
/// Bytes of workgroup memory of a block.
int64_t reduceShared(const RowProgram &program, const RowPlan &plan,
                     const GpuReduceOptions &options);
/// Launches of a call.
int64_t reduceLaunches(const RowPlan &plan, const GpuReduceOptions &options);

/// What is right where a guard of the program does not hold.
struct GpuReduceFallback {
  std::unique_ptr<RowProgram> program;
  RowPlan plan;
};

class GpuReduceEmitter : public GpuEmitter {
public:
  /// A program with guards has vectors along the reduction, is not split, and
  /// needs a fallback.
  GpuReduceEmitter(const RowProgram &program, const RowPlan &plan,
                   const RowOptions &options, const GpuReduceOptions &reduce,
                   const GpuReduceFallback *fallback, kb::KernelOp kernel,
                   mlir::ModuleOp module);

private:
  /// The values of one step, or of the row: a scalar is the same in all lanes.
  struct Step {
    Values coordinates; ///< one an axis
    Memo memo;
  };

  void emitNest(bool nontemporal) override;
  void emitStage(size_t first, size_t count);
  void emitGuarded();
  Value guardHolds(const Guard &guard);
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

  Value neutralOf(const Node *reduction);
  Value joinMembers(const Node *reduction, Value partial);
  Value loadPartials(const Node *reduction);
  Value partials(const Node *reduction);
  void finish(Node *reduction, Value partial);
  Value whenFirst();

  const RowPlan &plan;
  std::unique_ptr<GpuReduceEmitter> exact; ///< where guards do not hold
  GpuReduceOptions reduce;
  bool along;
  std::vector<bool> vectorNode;

  // Of the launch at hand.
  GpuReduceOptions shape;
  Launch *launch = nullptr;
  Value lane, member, outer, split, column, isInside;
  Step rows;
};

} // namespace kernelbrain::strategy

#endif // KERNELBRAIN_LIB_STRATEGY_GPU_GPUREDUCEEMITTER_H
