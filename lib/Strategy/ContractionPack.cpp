//===- ContractionPack.cpp - Operands in the order of their use -----------===//

#include "ContractionEmitter.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace kernelbrain::strategy;

/// The index, or the last one that exists. Blocks of `step` hold all indices in
/// question; 0: they may lie anywhere.
Value ContractionEmitter::clamp(Value at, std::optional<unsigned> axis,
                                int64_t step) {
  if (!axis)
    return index(0);
  const Extent &extent = program.axes[*axis];
  if (step > 0 && divides(step, extent))
    return at;
  return minIndex(at, subIndex(extentValue(extent), index(1)));
}

/// Which lanes from `at` on exist; null if all do.
Value ContractionEmitter::maskFor(Value at, unsigned axis, int64_t lanes,
                                  int64_t step) {
  const Extent &extent = program.axes[axis];
  if (divides(step, extent) && step % lanes == 0)
    return nullptr;
  Value end = extentValue(extent);
  // Panels may begin behind the end.
  Value left = subIndex(arith::MaxUIOp::create(builder, loc, end, at), at);
  auto type = VectorType::get({lanes}, builder.getI1Type());
  return vector::CreateMaskOp::create(builder, loc, type, ValueRange{left});
}

Type ContractionEmitter::packedType(const Node *node) {
  return options.pairs ? builder.getI32Type() : node->type;
}

/// The operand at the point; of pairs this step of k and the next one, which is
/// 0 behind the end.
Value ContractionEmitter::packedValue(const Side &side, Point &point) {
  if (!options.pairs)
    return point.lanes ? valueAt(side.node, point) : evaluate(side.node, point);
  unsigned k = problem.k.back();
  int64_t lanes = point.lanes;
  if (lanes && point.along == k) {
    point.lanes = 2 * lanes;
    Value both = valueAt(side.node, point);
    return vector::BitCastOp::create(
        builder, loc, cast<VectorType>(typeFor(builder.getI32Type(), lanes)),
        both);
  }
  Type type = typeFor(builder.getI32Type(), lanes);
  auto widen = [&](Point &at) -> Value {
    Value value = lanes ? valueAt(side.node, at) : evaluate(side.node, at);
    return arith::ExtUIOp::create(builder, loc, type, value);
  };
  Point next = point;
  Value first = widen(point);
  Value after = addIndex(point.axes[k], index(1));
  next.axes[k] = clamp(after, k, 2);
  Value second = widen(next);
  Value bits = constant(builder.getI32IntegerAttr(16), lanes);
  second = arith::ShLIOp::create(builder, loc, second, bits);
  if (!divides(2, program.axes[k])) {
    Value exists =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, after,
                              extentValue(program.axes[k]));
    Value zero = constant(builder.getI32IntegerAttr(0), lanes);
    second = arith::SelectOp::create(builder, loc, exists, second, zero);
  }
  return arith::OrIOp::create(builder, loc, first, second);
}

/// Transposes a square of n vectors of n elements, in log2(n) rounds that swap
/// blocks of 1, 2, 4, ... between rows.
ContractionEmitter::Values ContractionEmitter::transpose(Values rows) {
  int64_t size = rows.size();
  for (int64_t block = 1; block < size; block *= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < size; ++lane) {
      bool isOther = lane & block;
      low.push_back(isOther ? size + lane - block : lane);
      high.push_back(isOther ? size + lane : lane + block);
    }
    Values next(size);
    for (int64_t row = 0; row < size; ++row) {
      if (row & block)
        continue;
      next[row] = vector::ShuffleOp::create(builder, loc, rows[row],
                                            rows[row + block], low);
      next[row + block] = vector::ShuffleOp::create(builder, loc, rows[row],
                                                    rows[row + block], high);
    }
    rows = next;
  }
  return rows;
}

/// Rows (columns) of a block of an operand, a panel for each tile.
void ContractionEmitter::emitPack(const Side &side, Range k, Range own) {
  emitLoop(own.from, own.to, side.width, {}, [&](Value first, ValueRange) {
    Value number = arith::DivUIOp::create(
        builder, loc, subIndex(first, own.from), index(side.width));
    Value panel = mulIndex(number, index(layout.steps * side.stride));
    packPanel(side, k, first, panel);
    return Values();
  });
}

void ContractionEmitter::packPanel(const Side &side, Range k, Value first,
                                   Value panel) {
  if (side.form == OperandForm::Along)
    packAlong(side, k, first, panel);
  else if (side.form == OperandForm::Across && side.tile > 1)
    packAcross(side, k, first, panel);
  else
    emitDepth(k, 1, {},
              [&](ValueRange indices, Value step, int64_t, ValueRange) {
                packElements(side, indices, step, first, panel);
                return Values();
              });
}

void ContractionEmitter::packAlong(const Side &side, Range k, Value first,
                                   Value panel) {
  emitDepth(k, 1, {}, [&](ValueRange indices, Value step, int64_t, ValueRange) {
    Value row = addIndex(panel, mulIndex(step, index(side.stride)));
    for (int64_t lane = 0; lane < side.stride; lane += side.tile) {
      Point point;
      point.axes = axes;
      for (auto [axis, at] : llvm::zip(problem.k, indices))
        point.axes[axis] = at;
      point.axes[*side.axis] = addIndex(first, index(lane));
      point.along = *side.axis;
      point.lanes = side.tile;
      point.mask =
          maskFor(point.axes[*side.axis], *side.axis, side.tile, side.width);
      storeVector(packedValue(side, point), side.buffer,
                  addIndex(row, index(lane)), {});
    }
    return Values();
  });
}

void ContractionEmitter::packElements(const Side &side, ValueRange indices,
                                      Value step, Value first, Value panel) {
  Value row = addIndex(panel, mulIndex(step, index(side.stride)));
  emitLoop(index(0), index(side.width), 1, {}, [&](Value lane, ValueRange) {
    Point point;
    point.axes = axes;
    for (auto [axis, at] : llvm::zip(problem.k, indices))
      point.axes[axis] = at;
    if (side.axis)
      point.axes[*side.axis] =
          clamp(addIndex(first, lane), side.axis, side.width);
    memref::StoreOp::create(builder, loc, packedValue(side, point), side.buffer,
                            ValueRange{addIndex(row, lane)});
    return Values();
  });
}

/// Squares that are read along k and written along the operand's own axis.
void ContractionEmitter::packAcross(const Side &side, Range k, Value first,
                                    Value panel) {
  bool staysInside = side.stride == side.width || side.tile >= side.width;
  auto body = [&](ValueRange indices, Value step, int64_t steps, ValueRange) {
    if (steps == 1) {
      packElements(side, indices, step, first, panel);
      return Values();
    }
    emitLoop(index(0), index(side.stride), side.tile, {},
             [&](Value lane, ValueRange) {
               Values rows;
               int64_t wanted = std::min(side.tile, side.width);
               for (int64_t row = 0; row < side.tile; ++row) {
                 if (row >= wanted) {
                   rows.push_back(rows.back());
                   continue;
                 }
                 Point point;
                 point.axes = axes;
                 for (auto [axis, at] : llvm::zip(problem.k, indices))
                   point.axes[axis] = at;
                 point.axes[*side.axis] =
                     clamp(addIndex(addIndex(first, lane), index(row)),
                           side.axis, staysInside ? side.width : 0);
                 point.along = problem.k.back();
                 point.lanes = side.tile;
                 rows.push_back(packedValue(side, point));
               }
               rows = transpose(rows);
               for (auto [number, column] : llvm::enumerate(rows)) {
                 Value at = addIndex(step, index(number));
                 Value offset = addIndex(addIndex(panel, lane),
                                         mulIndex(at, index(side.stride)));
                 storeVector(column, side.buffer, offset, {});
               }
               return Values();
             });
    return Values();
  };
  emitDepth(k, side.tile, {}, body);
}
