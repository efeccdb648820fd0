//===- ContractionTile.cpp - One tile of results in registers -------------===//

#include "ContractionEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace kernelbrain::strategy;

Value ContractionEmitter::columnOf(const Tile &tile, int64_t vector) {
  return addIndex(tile.column, index(vector * options.lanes));
}

ContractionEmitter::Point
ContractionEmitter::pointAt(const Tile &tile, Value row, int64_t vector) {
  Point point;
  point.axes = axes;
  if (problem.m)
    point.axes[*problem.m] = row;
  point.axes[problem.n] = columnOf(tile, vector);
  point.along = problem.n;
  point.lanes = options.lanes;
  point.mask = maskFor(point.axes[problem.n], problem.n, options.lanes,
                       layout.rightWidth);
  return point;
}

//===----------------------------------------------------------------------===//
// Along k
//===----------------------------------------------------------------------===//

/// sum + left0 * right0 + left1 * right1 for pairs of i16.
Value ContractionEmitter::combinePairs(Value leftValue, Value rightValue,
                                       Value sum) {
  auto pairs =
      cast<VectorType>(typeFor(builder.getI16Type(), 2 * options.lanes));
  Value a = vector::BitCastOp::create(builder, loc, pairs, leftValue);
  Value b = vector::BitCastOp::create(builder, loc, pairs, rightValue);
  const char *name = options.lanes == 16  ? "llvm.x86.avx512.pmaddw.d.512"
                     : options.lanes == 8 ? "llvm.x86.avx2.pmadd.wd"
                                          : "llvm.x86.sse2.pmadd.wd";
  Value products = LLVM::CallIntrinsicOp::create(builder, loc, sum.getType(),
                                                 builder.getStringAttr(name),
                                                 ValueRange{a, b})
                       .getResult(0);
  return arith::AddIOp::create(builder, loc, products, sum);
}

/// sum (+) body(left, right).
Value ContractionEmitter::combineBody(Value leftValue, Value rightValue,
                                      Value sum) {
  if (options.pairs)
    return combinePairs(leftValue, rightValue, sum);
  bool isFloat = isa<FloatType>(problem.reduction->type);
  if (problem.isProduct && isFloat && options.contract)
    return vector::FMAOp::create(builder, loc, leftValue, rightValue, sum);
  Point point;
  point.along = problem.n;
  point.lanes = options.lanes;
  point.memo[problem.left] = leftValue;
  point.memo[problem.right] = rightValue;
  Value value;
  for (Node *node : problem.body)
    value = valueAt(node, point);
  return combineExactly(problem.reduction, value, sum);
}

ContractionEmitter::Values ContractionEmitter::stepOnce(const Tile &tile,
                                                        ValueRange indices,
                                                        Value step,
                                                        ValueRange sums) {
  auto here = [&](Value row, int64_t vector) {
    Point point = pointAt(tile, row, vector);
    for (auto [axis, at] : llvm::zip(problem.k, indices))
      point.axes[axis] = at;
    return point;
  };
  Values columns;
  for (int64_t vector = 0; vector < options.vectors; ++vector) {
    if (!options.packRight) {
      Point point = here(tile.row, vector);
      columns.push_back(valueAt(problem.right, point));
      continue;
    }
    Value offset =
        addIndex(tile.rightPanel, mulIndex(step, index(layout.rightWidth)));
    columns.push_back(loadVector(
        right.buffer, addIndex(offset, index(vector * options.lanes)),
        packedType(problem.right), options.lanes, {}));
  }
  Values results;
  for (int64_t row = 0; row < options.rows; ++row) {
    Value element;
    if (options.packLeft) {
      Value offset =
          addIndex(tile.leftPanel, mulIndex(step, index(layout.leftWidth)));
      element = memref::LoadOp::create(
          builder, loc, left.buffer, ValueRange{addIndex(offset, index(row))});
    } else {
      Point point = here(
          clamp(addIndex(tile.row, index(row)), problem.m, options.rows), 0);
      point.lanes = 0;
      element = evaluate(problem.left, point);
    }
    Value wide = broadcast(element, options.lanes);
    for (int64_t vector = 0; vector < options.vectors; ++vector)
      results.push_back(combineBody(wide, columns[vector],
                                    sums[row * options.vectors + vector]));
  }
  return results;
}

ContractionEmitter::Values
ContractionEmitter::accumulate(Range k, const Tile &tile, Values sums) {
  return emitDepth(
      k, options.unroll, sums,
      [&](ValueRange indices, Value step, int64_t steps, ValueRange carried) {
        Values values(carried);
        if (options.prefetch && !options.packRight) {
          Point point = pointAt(tile, tile.row, 0);
          for (auto [axis, at] : llvm::zip(problem.k, indices))
            point.axes[axis] = at;
          prefetchRight(point);
        }
        for (int64_t ahead = 0; ahead < steps; ++ahead) {
          Values at(indices);
          at.back() = addIndex(at.back(), index(ahead));
          values = stepOnce(tile, at, addIndex(step, index(ahead)), values);
        }
        return values;
      });
}

/// Asks for the columns to come in this row of the right operand.
void ContractionEmitter::prefetchRight(Point &point) {
  Node *node = problem.right;
  while (node->kind == Node::Kind::Op)
    node = node->operands[0];
  if (node->kind != Node::Kind::Input)
    return;
  Value offset = offsetOf(node->access, node->operands, point);
  int64_t perLine = 64 / elementBytes(node->type);
  for (int64_t at = 0; at < options.vectors * options.lanes; at += perLine)
    memref::PrefetchOp::create(
        builder, loc, flat[node->access.argument],
        ValueRange{addIndex(offset, index(at + options.prefetch))},
        /*isWrite=*/false, /*localityHint=*/3, /*isDataCache=*/true);
}

//===----------------------------------------------------------------------===//
// Before and after
//===----------------------------------------------------------------------===//

/// Where a sum waits between blocks of k.
Value ContractionEmitter::partialOffset(Value row, Value column) {
  if (layout.partialBytes) {
    int64_t width = llvm::alignTo(problem.columns(), layout.rightWidth);
    return addIndex(mulIndex(row, index(width)), column);
  }
  Point point;
  point.axes = axes;
  if (problem.m)
    point.axes[*problem.m] = row;
  point.axes[problem.n] = column;
  return offsetOf(program.outputs[*problem.partialOutput()].access, {}, point);
}

ContractionEmitter::Values ContractionEmitter::initialSums(Range k,
                                                           const Tile &tile) {
  Values zeros(options.rows * options.vectors,
               constant(neutral(problem.reduction), options.lanes));
  if (!layout.splitsK)
    return zeros;
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        k.from, index(0));
  auto choice = scf::IfOp::create(builder, loc, TypeRange(ValueRange(zeros)),
                                  isFirst, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(builder, loc, zeros);
  builder.setInsertionPointToStart(choice.elseBlock());
  Values loaded;
  for (int64_t row = 0; row < options.rows; ++row)
    for (int64_t vector = 0; vector < options.vectors; ++vector) {
      Value at = addIndex(tile.row, index(row));
      if (!layout.partialBytes)
        at = clamp(at, problem.m, options.rows);
      Point point = pointAt(tile, at, vector);
      loaded.push_back(
          loadVector(partials, partialOffset(at, columnOf(tile, vector)),
                     problem.reduction->type, options.lanes, point.mask));
    }
  scf::YieldOp::create(builder, loc, loaded);
  return llvm::to_vector(ValueRange(choice.getResults()));
}

void ContractionEmitter::emitTile(Range k, const Tile &tile) {
  finish(k, tile, accumulate(k, tile, initialSums(k, tile)));
}

void ContractionEmitter::finish(Range k, const Tile &tile, Values sums) {
  if (!layout.splitsK)
    return storeAll(tile, sums, true);
  Value isLast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge,
                                       addIndex(k.from, index(layout.kBlock)),
                                       axisEnd(problem.k.back()));
  emitIf(
      isLast, [&] { storeAll(tile, sums, true); },
      [&] { storeAll(tile, sums, false); });
}

void ContractionEmitter::storeAll(const Tile &tile, ValueRange sums,
                                  bool isLast) {
  auto inlined = [&] {
    for (int64_t row = 0; row < options.rows; ++row)
      storeRow(tile, addIndex(tile.row, index(row)),
               sums.slice(row * options.vectors, options.vectors), isLast);
  };
  if (isLast && !options.inlineEpilogue)
    return storeStaged(tile, sums, isLast);
  if (!problem.m || divides(options.rows, program.axes[*problem.m]))
    return inlined();
  Value end = addIndex(tile.row, index(options.rows));
  Value isWhole = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule,
                                        end, axisEnd(problem.m));
  emitIf(isWhole, inlined, [&] { storeStaged(tile, sums, isLast); });
}

/// Through memory, in a loop over the rows that exist.
void ContractionEmitter::storeStaged(const Tile &tile, ValueRange sums,
                                     bool isLast) {
  int64_t lanes = options.lanes;
  for (auto [number, sum] : llvm::enumerate(sums))
    storeVector(sum, stage, index(number * lanes), {});
  Value count =
      minIndex(index(options.rows), subIndex(axisEnd(problem.m), tile.row));
  emitLoop(index(0), count, 1, {}, [&](Value row, ValueRange) {
    Value base = mulIndex(row, index(options.vectors * lanes));
    Values loaded;
    for (int64_t vector = 0; vector < options.vectors; ++vector)
      loaded.push_back(loadVector(stage, addIndex(base, index(vector * lanes)),
                                  problem.reduction->type, lanes, {}));
    storeRow(tile, addIndex(tile.row, row), loaded, isLast);
    return Values();
  });
}

void ContractionEmitter::storeRow(const Tile &tile, Value row, ValueRange sums,
                                  bool isLast) {
  SmallVector<Point, 4> points;
  for (auto [vector, sum] : llvm::enumerate(sums)) {
    points.push_back(pointAt(tile, row, vector));
    Point &point = points.back();
    if (!isLast) {
      storeVector(sum, partials, partialOffset(row, columnOf(tile, vector)),
                  point.mask);
      continue;
    }
    const Node *init = problem.reduction->operands[1];
    bool isNeutral = init->kind == Node::Kind::Constant &&
                     init->value == neutral(problem.reduction);
    Value total = sum;
    if (!isNeutral)
      total = combineExactly(problem.reduction, sum,
                             valueAt(problem.reduction->operands[1], point));
    point.memo[problem.reduction] = total;
  }
  if (!isLast)
    return;
  evaluateAll(problem.epilogue, points);
  for (Point &point : points)
    for (auto [number, output] : llvm::enumerate(program.outputs))
      storeVector(valueAt(output.node, point), flat[program.numInputs + number],
                  offsetOf(output.access, {}, point), point.mask);
}
