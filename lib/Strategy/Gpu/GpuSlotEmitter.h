//===- GpuSlotEmitter.h - Values of row programs in a thread ----*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_STRATEGY_GPU_GPUSLOTEMITTER_H
#define KERNELBRAIN_LIB_STRATEGY_GPU_GPUSLOTEMITTER_H

#include "GpuEmitter.h"
#include "GpuRowCodegen.h"

namespace kernelbrain::strategy {

/// Values of nodes in a row, and in vectors of its columns.
class GpuSlotEmitter : public GpuEmitter {
public:
  GpuSlotEmitter(const RowProgram &program, const RowOptions &options,
                 const GpuRowOptions &gpu, kb::KernelOp kernel,
                 mlir::ModuleOp module)
      : GpuEmitter(program, options, kernel, module), gpu(gpu) {
    fastMath = gpu.fastMath;
  }

protected:
  /// One row at hand, as far as it was asked for.
  struct Row {
    Values coordinates; ///< one a row axis
    Memo values, offsets;

    explicit Row(Values coordinates = {})
        : coordinates(std::move(coordinates)) {}
  };
  /// The mask of a slot is one truth value: whether all of it exists.
  Value rowValue(Node *node, Row &row);
  Value rowOffset(const Access &access, llvm::ArrayRef<Node *> dynamic,
                  Row &row);
  void checkAssertions(Row &row);
  /// The value in a vector, computed before or now.
  Value valueIn(Node *node, Slot &slot, Row &row);
  void storeOutput(const Output &output, Slot &slot, Row &row);

  Value emitOp(const Node &node, llvm::ArrayRef<Value> operands,
               int64_t lanes) override;
  Value exactExp(Value x, int64_t lanes);
  Value minIndex(Value a, Value b);
  /// 0 where values are scalars.
  int64_t lanes() const { return gpu.lanes > 1 ? gpu.lanes : 0; }

  GpuRowOptions gpu;
  bool isAligned = true; ///< of the launch at hand

private:
  Value leafValue(Node *node, Slot &slot, Row &row);
  Value laneByLane(const Node &node, llvm::ArrayRef<Value> operands);
};

} // namespace kernelbrain::strategy

#endif // KERNELBRAIN_LIB_STRATEGY_GPU_GPUSLOTEMITTER_H
