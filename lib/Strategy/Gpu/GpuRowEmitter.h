//===- GpuRowEmitter.h - Reductions along rows, a group a row ---*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_STRATEGY_GPU_GPUROWEMITTER_H
#define KERNELBRAIN_LIB_STRATEGY_GPU_GPUROWEMITTER_H

#include "GpuSlotEmitter.h"

namespace kernelbrain::strategy {

class GpuRowEmitter : public GpuSlotEmitter {
public:
  GpuRowEmitter(const RowProgram &program, const RowPlan &plan,
                const RowOptions &options, const GpuRowOptions &gpu,
                const GpuRowFallback *fallback, kb::KernelOp kernel,
                mlir::ModuleOp module)
      : GpuSlotEmitter(program, options, gpu, kernel, module), plan(plan),
        fallback(fallback) {}

private:
  // GpuRowEmitter.cpp: rows and sweeps.
  void emitNest(bool nontemporal) override;
  void emitBlock(Launch &launch);
  void emitRow();
  Value guardsHold();
  void emitFallback();
  void emitSweep(const Sweep &sweep);
  Values emitVectorsIf(Value condition, const Sweep &sweep,
                       const Values &accumulators);
  void prepare(const Sweep &sweep);
  Slots slotsAt(Value column, int64_t first, int64_t count);
  void addEnds(Slots &slots);
  Values emitVectors(const Sweep &sweep, Values accumulators);
  Values emitChunks(const Sweep &sweep, Value column, Values accumulators);
  Values emitRest(const Sweep &sweep, Value column, Value chunks,
                  Values accumulators);
  Values emitChunk(const Sweep &sweep, Slots &slots, Values accumulators);
  void storeChunk(const Sweep &sweep, Slots &slots);

  // GpuRowStages.cpp
  void setUpStages();
  void copyToStages();
  Value placeInStage(Value number);
  void evaluate(Node *node, GpuSlot &slot);

  // GpuReductions.cpp
  Values initialAccumulators(const Sweep &sweep);
  Value holdsExtrema(const Sweep &sweep);
  Value accumulate(Node *node, Slots &slots, Value old);
  Values accumulateOnline(Node *maximum, Node *sum, Slots &slots, Value oldMax,
                          Value oldSum);
  Value partial(Node *node, Slots &slots);
  Value foldLanes(const Node *node, Value vector);
  void finish(const Sweep &sweep, Values accumulators);
  Node *onlineMaximum(const Sweep &sweep, const Node *sum) const;
  bool isOnlineMaximum(const Sweep &sweep, const Node *node) const;
  /// The values of all threads of a group combined, in all of them.
  Values exchange(llvm::ArrayRef<const Node *> nodes, Values values,
                  int64_t group);
  Value withinWarp(const Node *node, Value value, int64_t width);
  Value wordOfCluster(const Node *node, Value buffer, mlir::Type type);
  void clusterBarrier();
  Value shuffle(Value value, int64_t distance);
  Value combineWide(const Node *node, Value a, Value b);
  /// What reductions of halves and narrow integers add up in.
  mlir::Type accumulatorType(const Node *node) const;
  mlir::TypedAttr wideNeutral(const Node *node);

  const RowPlan &plan;
  const GpuRowFallback *fallback;
  mlir::gpu::LaunchOp launch;
  bool isRare = false; ///< the rows at hand are exceptions
  Value lane;          ///< of the thread in its group
  Value groupRow;      ///< of the group in its block
  Value rowExists;     ///< null: always
  Row row;
  llvm::DenseMap<const Node *, Value> own;     ///< reductions of a thread alone
  llvm::DenseMap<const Node *, Value> stages;  ///< in shared memory
  llvm::DenseMap<const Node *, bool> isStaged; ///< by an earlier sweep
  Slots kept; ///< all vectors of the row, if they stay
};

} // namespace kernelbrain::strategy

#endif // KERNELBRAIN_LIB_STRATEGY_GPU_GPUROWEMITTER_H
