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
    /// Where rows start anywhere: how far the vectors of this one are shifted
    /// to the left, so that they lie on multiples of their size.
    Value shift;
  };
  /// A vector of columns. Its column does not count the row's shift, and its
  /// mask is one truth value: whether all of it exists.
  struct GpuSlot : Slot {
    Value lanesExist; ///< null: all of them, or as the mask says none
    Value place;      ///< among the vectors of its thread, if anybody asks
    Values along;     ///< of a folded program: coordinates of the first lane

    using Slot::Slot;
  };
  using Slots = llvm::SmallVector<GpuSlot, 0>;

  /// To be called for each launch: where rows start off multiples of the
  /// vectors' size, whether vectors are shifted with them.
  void setUpShifts();
  Row makeRow(Values coordinates);
  /// Vectors that cover a row, wherever it starts.
  Value vectorsOfRow();
  /// `isPartial`: columns on either side of the row may be in it.
  GpuSlot makeSlot(unsigned number, Value column, bool isPartial,
                   const Row &row);
  Value rowValue(Node *node, Row &row);
  Value rowOffset(const Access &access, llvm::ArrayRef<Node *> dynamic,
                  Row &row);
  void checkAssertions(Row &row);
  /// The value in a vector, computed before or now.
  Value valueIn(Node *node, GpuSlot &slot, Row &row);
  /// `value`, and what `otherwise` says in lanes that do not exist.
  Value masked(Value value, mlir::TypedAttr otherwise, const GpuSlot &slot);
  void storeOutput(const Output &output, GpuSlot &slot, Row &row);

  Value emitOp(const Node &node, llvm::ArrayRef<Value> operands,
               int64_t lanes) override;
  Value powerOfE(Value x, int64_t lanes);
  Value minIndex(Value a, Value b);
  /// 0 where values are scalars.
  int64_t lanes() const { return gpu.lanes > 1 ? gpu.lanes : 0; }

  GpuRowOptions gpu;
  bool isAligned = true; ///< of the launch at hand
  bool isShifted = false;

private:
  bool isVectorAccess(const Access &access) const;
  Value loadSlot(Node *node, GpuSlot &slot, Row &row);
  Value placeIn(const Access &access, Value offset, const GpuSlot &slot,
                const Row &row);
  Value columnsOf(const GpuSlot &slot, const Row &row);
  Value ascending(Value first);
  Value coordinateOf(unsigned axis, const GpuSlot &slot, const Row &row);
  Value laneByLane(const Node &node, llvm::ArrayRef<Value> operands);
};

/// The access with which the vectors of rows are aligned where rows start
/// anywhere; null if there is none.
const Access *leadingAccess(const RowProgram &program);

} // namespace kernelbrain::strategy

#endif // KERNELBRAIN_LIB_STRATEGY_GPU_GPUSLOTEMITTER_H
