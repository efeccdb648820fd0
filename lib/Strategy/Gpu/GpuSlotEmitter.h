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
    /// Where rows start anywhere: columns before the first vector, so that
    /// vectors lie on multiples of their size.
    Value head;
  };
  /// A vector of columns, or one column. Its mask is one truth value: whether
  /// all of it exists.
  struct GpuSlot : Slot {
    Value place;  ///< among the vectors of its thread, if anybody asks
    Values along; ///< of a folded program: coordinates of the first lane

    using Slot::Slot;
  };
  using Slots = llvm::SmallVector<GpuSlot, 0>;

  /// To be called for each launch: where rows start off multiples of the
  /// vectors' size, vectors do not cover the ends of rows.
  void setUpPeeling();
  Row makeRow(Values coordinates);
  /// Vectors that cover a row, or the most that lie in it; one at least.
  Value vectorsOfRow();
  /// Columns at both ends of a row that vectors may leave out.
  int64_t endsOfRow() const { return isPeeled ? 2 * gpu.lanes - 2 : 0; }
  /// A vector, `column` counted from the first vector of the row on.
  /// `isPartial`: it may lie behind the row.
  GpuSlot makeSlot(unsigned number, Value column, bool isPartial,
                   const Row &row);
  /// One of the columns at the ends, if there are so many.
  GpuSlot makeEnd(unsigned number, Value place, const Row &row);
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
  bool isPeeled = false;

private:
  bool isVectorAccess(const Access &access) const;
  Value loadSlot(Node *node, GpuSlot &slot, Row &row);
  Value placeIn(const Access &access, Value offset, const GpuSlot &slot);
  Value ascending(Value first, int64_t lanes);
  Value coordinateOf(unsigned axis, const GpuSlot &slot);
  Value laneByLane(const Node &node, llvm::ArrayRef<Value> operands);
};

/// The access with which the vectors of rows are aligned where rows start
/// anywhere; null if there is none.
const Access *leadingAccess(const RowProgram &program);
/// True if the access has its vectors on multiples of their size where that one
/// does.
bool liesAsLeader(const RowProgram &program, const Access &access,
                  int64_t lanes);

} // namespace kernelbrain::strategy

#endif // KERNELBRAIN_LIB_STRATEGY_GPU_GPUSLOTEMITTER_H
