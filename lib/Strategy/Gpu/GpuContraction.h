//===- GpuContraction.h - Products through workgroup memory -----*- C++ -*-===//
//
// A block computes a tile of the result. For each step of k it brings the rows
// of the left and the columns of the right operand into workgroup memory, while
// the next ones are already asked for; threads keep their part of the sums in
// registers. Products of half precision go through the tensor cores, a warp at
// a time.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_LIB_STRATEGY_GPU_GPUCONTRACTION_H
#define KERNELBRAIN_LIB_STRATEGY_GPU_GPUCONTRACTION_H

#include "../ContractionProblem.h"
#include "GpuEmitter.h"

namespace kernelbrain::strategy {

struct GpuContractionOptions {
  int64_t tileRows = 64, tileColumns = 64, tileDepth = 8; ///< of a block
  int64_t rows = 4, columns = 4; ///< of a thread, or of a warp with `tensor`
  bool tensor = false;           ///< on tensor cores
  bool fastMath = true;

  /// A thread's columns lie in groups of this many.
  int64_t group() const { return std::min<int64_t>(columns, 4); }
  int64_t threads() const {
    return tileRows / rows * (tileColumns / columns) * (tensor ? 32 : 1);
  }
};

/// An operand as it is brought in.
struct GpuOperand {
  Node *node = nullptr;
  std::optional<unsigned> own; ///< m or n
  bool acrossDepth = false;    ///< vectors lie along k, not along `own`
  int64_t vector = 1;
};
/// `tensor`: as the tensor cores take it.
GpuOperand planOperand(const ContractionProblem &problem, bool isLeft,
                       bool tensor);
/// The value in half precision that an operand widens; null if it is no such.
Node *halfOperand(const ContractionProblem &problem, bool isLeft);
/// Bytes of workgroup memory.
int64_t contractionShared(const ContractionProblem &problem,
                          const GpuContractionOptions &options);

class GpuContractionEmitter : public GpuEmitter {
public:
  GpuContractionEmitter(const ContractionProblem &problem,
                        const RowOptions &options,
                        const GpuContractionOptions &tile, kb::KernelOp kernel,
                        mlir::ModuleOp module);

private:
  /// Sums of neighbouring columns, of one row.
  struct Run {
    Value row, column;
    Values sums;
  };

  bool hasVectors(unsigned argument) const override;
  void emitNest(bool nontemporal) override;
  void emitBlock();
  Values ask(const GpuOperand &operand, int64_t length, Value start,
             Value from);
  void keep(const GpuOperand &operand, int64_t length, Value shared,
            llvm::ArrayRef<Value> values);
  std::pair<Value, Value> placeIn(const GpuOperand &operand, int64_t length,
                                  int64_t number);
  int64_t accesses(const GpuOperand &operand, int64_t length) const;
  int64_t pitch(const GpuOperand &operand, int64_t length) const;
  bool liesAlongDepth(const GpuOperand &operand) const;

  Values startSums();
  Values addStep(mlir::ValueRange sums);
  Values addStepTensor(mlir::ValueRange sums);
  Values runOf(Value shared, const GpuOperand &operand, int64_t length,
               Value first, int64_t count, int64_t depth);
  Value fragment(const GpuOperand &operand, int64_t length, Value shared,
                 Value at, Value depth);
  llvm::SmallVector<Run> runsOf(llvm::ArrayRef<Value> sums);
  void finish(const Run &run);
  void finishLanes(Value row, Value column, llvm::ArrayRef<Value> sums);
  Value extentAt(std::optional<unsigned> axis);

  Value clampedOffset(const Access &access, llvm::ArrayRef<Value> at,
                      llvm::ArrayRef<Value> operands);
  Value evaluate(Node *node, llvm::ArrayRef<Value> coordinates,
                 std::optional<unsigned> along, int64_t lanes, Memo &memo);

  const ContractionProblem &problem;
  const GpuContractionOptions &tile;
  GpuOperand left, right;
  // Of the launch at hand.
  Launch *launch = nullptr;
  Value thread, rowStart, columnStart, ownRow, ownColumn, lane;
  Values coordinates; ///< of the outer axes
};

} // namespace kernelbrain::strategy

#endif // KERNELBRAIN_LIB_STRATEGY_GPU_GPUCONTRACTION_H
