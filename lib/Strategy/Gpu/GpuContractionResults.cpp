//===- GpuContractionResults.cpp - From sums to results -------------------===//

#include "GpuContraction.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace kernelbrain::strategy;

SmallVector<GpuContractionEmitter::Run>
GpuContractionEmitter::runsOf(ArrayRef<Value> sums) {
  SmallVector<Run> runs;
  Value row = addIndex(rowStart, ownRow);
  if (tile.tensor) {
    // Rows 4 lanes each, two columns a lane; the same eight rows below.
    Value g = arith::DivUIOp::create(builder, loc, lane, index(4));
    Value t = arith::RemUIOp::create(builder, loc, lane, index(4));
    row = addIndex(row, g);
    Value column =
        addIndex(columnStart, mulIndex(ownColumn, index(tile.columns)));
    column = addIndex(column, mulIndex(t, index(2)));
    for (int64_t i = 0; i < tile.rows; i += 16)
      for (int64_t j = 0; j < tile.columns; j += 8)
        for (int64_t half : {0, 8}) {
          runs.push_back({addIndex(row, index(i + half)),
                          addIndex(column, index(j)),
                          Values(sums.take_front(2))});
          sums = sums.drop_front(2);
        }
    return runs;
  }
  int64_t group = tile.group();
  Value column = addIndex(columnStart, mulIndex(ownColumn, index(group)));
  for (int64_t i = 0; i < tile.rows; ++i)
    for (int64_t first = 0; first < tile.columns; first += group) {
      runs.push_back(
          {addIndex(row, index(i)),
           addIndex(column, index(first * (tile.tileColumns / tile.columns))),
           Values(sums.take_front(group))});
      sums = sums.drop_front(group);
    }
  return runs;
}

/// True if no tile reaches beyond the edge.
static bool isWhole(const Extent &extent, int64_t tile) {
  return extent.isStatic() && extent.factor % tile == 0;
}

/// True if runs of so many neighbouring results start on a multiple of their
/// number.
static bool storesVectors(const ContractionProblem &problem, int64_t lanes) {
  const RowProgram &program = *problem.program;
  if (!isWhole(program.axes[problem.n], lanes))
    return false;
  return llvm::all_of(program.outputs, [&](const Output &output) {
    bool even = output.access.offset % lanes == 0;
    for (auto [axis, stride] : llvm::enumerate(output.access.strides))
      even &= axis == problem.n || stride.factor % lanes == 0;
    return even;
  });
}

/// The results of some neighbouring columns.
void GpuContractionEmitter::finish(const Run &run) {
  bool together = storesVectors(problem, run.sums.size());
  Value isInside;
  auto limit = [&](Value place, unsigned axis, int64_t length) {
    if (isWhole(program.axes[axis], length))
      return;
    Value fits = less(place, extentAt(axis));
    isInside =
        isInside
            ? arith::AndIOp::create(builder, loc, isInside, fits).getResult()
            : fits;
  };
  limit(run.row, *problem.m, tile.tileRows);
  Value isRow = isInside;
  size_t step = together ? run.sums.size() : 1;
  for (size_t first = 0; first < run.sums.size(); first += step) {
    Value column = addIndex(run.column, index(first));
    isInside = isRow;
    limit(column, problem.n, tile.tileColumns);
    auto all = [&] {
      finishLanes(run.row, column, ArrayRef(run.sums).slice(first, step));
    };
    isInside ? emitIf(isInside, all) : all();
  }
}

void GpuContractionEmitter::finishLanes(Value row, Value column,
                                        ArrayRef<Value> sums) {
  SmallVector<Values> results(program.outputs.size());
  Values at = coordinates;
  at[*problem.m] = row;
  for (auto [lane, sum] : llvm::enumerate(sums)) {
    at[problem.n] = addIndex(column, index(lane));
    Memo memo;
    Value init =
        evaluate(problem.reduction->operands[1], at, std::nullopt, 0, memo);
    memo[problem.reduction] = combineExactly(problem.reduction, sum, init);
    for (auto [output, lanes] : llvm::zip(program.outputs, results))
      lanes.push_back(evaluate(output.node, at, std::nullopt, 0, memo));
  }
  at[problem.n] = column;
  for (auto [output, lanes] : llvm::zip(program.outputs, results))
    storeLanes(lanes.size() == 1 ? lanes[0]
                                 : fromLanes(lanes, output.node->type),
               flat[output.access.argument],
               accessOffset(output.access, at, {}), launch->isAligned);
}

/// The place of an access whose clamped dimensions are brought inside.
Value GpuContractionEmitter::clampedOffset(const Access &access,
                                           ArrayRef<Value> at,
                                           ArrayRef<Value> operands) {
  if (access.clamps.empty())
    return accessOffset(access, at, operands);
  Access rest = access;
  Values free(at);
  Value inside = index(0);
  for (const Clamp &clamp : access.clamps) {
    rest.offset -= clamp.constant * clamp.stride;
    auto scaled = [&](unsigned axis, int64_t scale) -> Value {
      free[axis] = nullptr;
      return arith::MulIOp::create(builder, loc, at[axis], index(scale));
    };
    // Of any sign: without the flags of addIndex.
    Value place = scaled(clamp.axis, clamp.scale);
    for (auto [axis, scale] : clamp.also)
      place = arith::AddIOp::create(builder, loc, place, scaled(axis, scale));
    place = arith::AddIOp::create(builder, loc, place, index(clamp.constant));
    place = arith::MaxSIOp::create(builder, loc, place, index(0));
    place =
        arith::MinSIOp::create(builder, loc, place, index(clamp.extent - 1));
    inside = addIndex(inside, mulIndex(place, index(clamp.stride)));
  }
  return addIndex(inside, accessOffset(rest, free, operands));
}

/// A scalar, or a vector along `along` where the value changes there.
Value GpuContractionEmitter::evaluate(Node *node, ArrayRef<Value> at,
                                      std::optional<unsigned> along,
                                      int64_t lanes, Memo &memo) {
  if (node->kind == Node::Kind::Constant)
    return constant(node->value, 0);
  if (Value known = memo.lookup(node))
    return known;
  int64_t width = lanes && (node->varies >> *along & 1) ? lanes : 0;
  Values operands;
  for (Node *operand : node->operands)
    operands.push_back(evaluate(operand, at, along, lanes, memo));
  Value result;
  if (node->kind == Node::Kind::Op) {
    for (Value &operand : operands)
      if (width && !isa<VectorType>(operand.getType()))
        operand = broadcast(operand, width);
    result = emitOp(*node, operands, width);
  } else if (node->kind == Node::Kind::Index) {
    result = at[node->axis];
    if (width)
      result = arith::AddIOp::create(
          builder, loc, broadcast(result, width),
          vector::StepOp::create(builder, loc,
                                 cast<VectorType>(typeFor(node->type, width))));
  } else {
    assert(node->kind == Node::Kind::Input && "sums are known");
    result = loadLanes(flat[node->access.argument],
                       clampedOffset(node->access, at, operands), node->type,
                       width, launch->isAligned);
  }
  return memo[node] = result;
}
