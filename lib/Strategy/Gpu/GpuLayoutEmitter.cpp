//===- GpuLayoutEmitter.cpp - Elements that change places -----------------===//

#include "GpuLayoutEmitter.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace kernelbrain::strategy;

GpuLayoutEmitter::GpuLayoutEmitter(const Pieces &pieces,
                                   const RowOptions &options,
                                   const GpuLayoutOptions &layout,
                                   kb::KernelOp kernel, ModuleOp module)
    : GpuEmitter(*pieces.front(), options, kernel, module), layout(layout) {
  fastMath = layout.fastMath;
  for (const auto &program : pieces)
    plans.push_back(planGpuPiece(*program, layout));
}

bool GpuLayoutEmitter::hasVectors(unsigned argument) const {
  for (const GpuPiecePlan &plan : plans) {
    if (plan.vector == 1)
      continue;
    for (const Output &output : plan.program->outputs)
      if (output.access.argument == argument)
        return true;
    for (const Node *node : plan.program->live())
      if (node->kind == Node::Kind::Input &&
          node->access.argument == argument &&
          (plan.isTransposed(node) || plan.isChunked(node)))
        return true;
  }
  return false;
}

void GpuLayoutEmitter::emitNest(bool) {
  for (const GpuPiecePlan &one : plans) {
    plan = &one;
    piece = one.program;
    one.tileAxis ? emitTiles() : emitRows();
  }
}

void GpuLayoutEmitter::beginLaunch(Launch &newLaunch) {
  launch = &newLaunch;
  values.clear();
  chunks.clear();
  coordinates.assign(piece->axes.size(), Value());
}

/// Bytes on a multiple of which vectors of all arguments have to start.
static int64_t vectorBytes(const GpuPiecePlan &plan) {
  int64_t bytes = 1;
  for (Type type : plan.program->elementTypes)
    bytes = std::max(bytes, elementBytes(type));
  return plan.vector == 1 ? 1 : plan.vector * bytes;
}

//===----------------------------------------------------------------------===//
// Threads and their places
//===----------------------------------------------------------------------===//

/// digits() in 32 bits, where divisions are cheap.
ProgramEmitter::Values
GpuLayoutEmitter::smallDigits(Value number, ArrayRef<int64_t> extents) {
  Type i32 = builder.getI32Type();
  Value rest = arith::IndexCastOp::create(builder, loc, i32, number);
  Values result(extents.size());
  for (size_t digit = extents.size(); digit-- > 0;) {
    Value extent = arith::ConstantOp::create(
        builder, loc, builder.getI32IntegerAttr(extents[digit]));
    Value value = rest;
    if (digit > 0) {
      value = arith::RemUIOp::create(builder, loc, rest, extent);
      rest = arith::DivUIOp::create(builder, loc, rest, extent);
    }
    result[digit] = arith::IndexCastUIOp::create(builder, loc,
                                                 builder.getIndexType(), value);
  }
  return result;
}

/// Splits a number into the places along the axes in `order`, the last one
/// fastest, each worked off in steps.
ProgramEmitter::Values GpuLayoutEmitter::place(Value number,
                                               ArrayRef<unsigned> order,
                                               ArrayRef<int64_t> steps) {
  SmallVector<int64_t> counts;
  double points = 1;
  for (auto [axis, step] : llvm::zip(order, steps)) {
    const Extent &extent = piece->axes[axis];
    counts.push_back(extent.isStatic() ? llvm::divideCeil(extent.factor, step)
                                       : -1);
    points *= double(counts.back());
  }
  bool isSmall = !llvm::is_contained(counts, -1) &&
                 points < double(std::numeric_limits<int32_t>::max());
  Values extents;
  if (!isSmall)
    for (auto [axis, step] : llvm::zip(order, steps))
      extents.push_back(divideUp(extentValue(piece->axes[axis]), step));
  Values found =
      isSmall ? smallDigits(number, counts) : digits(number, extents);
  for (auto [at, step] : llvm::zip(found, steps))
    at = mulIndex(at, index(step));
  return found;
}

/// A thread computes `rows` vectors.
void GpuLayoutEmitter::emitRows() {
  SmallVector<unsigned> order;
  SmallVector<int64_t> steps;
  Value count = index(1);
  bool isEven = true;
  int64_t known = 1;
  for (unsigned axis = 0; axis < piece->axes.size(); ++axis) {
    order.push_back(axis);
    steps.push_back(axis == piece->vectorAxis                 ? plan->vector
                    : axis == plan->rowAxis && plan->rows > 1 ? plan->rows
                                                              : 1);
    const Extent &extent = piece->axes[axis];
    count = mulIndex(count, divideUp(extentValue(extent), steps.back()));
    isEven &= extent.isStatic();
    known *= llvm::divideCeil(extent.factor, steps.back());
  }
  isEven &= known % plan->threads == 0;
  emitLaunch({divideUp(count, plan->threads)}, {plan->threads}, {},
             vectorBytes(*plan), [&](Launch &arm) {
               beginLaunch(arm);
               Value number = addIndex(
                   mulIndex(arm.block[0], index(plan->threads)), arm.thread[0]);
               auto all = [&] {
                 coordinates = place(number, order, steps);
                 storeResults(plan->rows);
               };
               if (isEven)
                 return all();
               Value end = index(1);
               for (auto [axis, step] : llvm::zip(order, steps))
                 end = mulIndex(end,
                                divideUp(extentValue(piece->axes[axis]), step));
               emitIf(less(number, end), all);
             });
}

void GpuLayoutEmitter::storeResults(unsigned rows) {
  int64_t lanes = plan->vector;
  for (const Output &output : piece->outputs)
    for (unsigned row = 0; row < rows; ++row) {
      Values elements;
      for (unsigned lane = 0; lane < lanes; ++lane)
        elements.push_back(valueOf(output.node, {row, lane}));
      Values at = coordinates;
      if (row > 0)
        at[plan->rowAxis] = addIndex(at[plan->rowAxis], index(row));
      Value value =
          lanes == 1 ? elements[0] : fromLanes(elements, output.node->type);
      storeLanes(value, flat[output.access.argument],
                 accessOffset(output.access, at, {}), launch->isAligned);
    }
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

namespace {
/// Where the vectors of a tile lie in workgroup memory: swizzled, so that
/// neither those of a row nor those of a column share banks.
struct Swizzle {
  int64_t vectors, mask;
  Swizzle(const GpuPiecePlan &plan, Type type)
      : vectors(plan.tileColumns / plan.vector) {
    constexpr int64_t bankBytes = 128;
    int64_t perRound =
        std::max<int64_t>(1, bankBytes / (plan.vector * elementBytes(type)));
    mask = std::min(vectors, perRound) - 1;
  }
};
} // namespace

/// A block moves a tile through workgroup memory.
void GpuLayoutEmitter::emitTiles() {
  unsigned along = piece->vectorAxis, across = *plan->tileAxis;
  SmallVector<unsigned> order;
  SmallVector<int64_t> steps;
  for (unsigned axis = 0; axis < piece->axes.size(); ++axis)
    if (axis != along && axis != across)
      order.push_back(axis);
  steps.assign(order.size(), 1);
  order.push_back(layout.alongInput ? along : across);
  order.push_back(layout.alongInput ? across : along);
  steps.push_back(layout.alongInput ? plan->tileRows : plan->tileColumns);
  steps.push_back(layout.alongInput ? plan->tileColumns : plan->tileRows);
  Value blocks = index(1);
  for (auto [axis, step] : llvm::zip(order, steps))
    blocks = mulIndex(blocks, divideUp(extentValue(piece->axes[axis]), step));
  SmallVector<MemRefType> shared;
  for (const Node *node : plan->transposed)
    shared.push_back(
        sharedType(plan->tileRows * plan->tileColumns, node->type));
  emitLaunch(
      {blocks}, {layout.threads}, shared, vectorBytes(*plan), [&](Launch &arm) {
        beginLaunch(arm);
        Values found = place(arm.block[0], order, steps);
        for (auto [axis, at] : llvm::zip(order, found))
          coordinates[axis] = at;
        Value row = coordinates[along], column = coordinates[across];
        loadTiles(column, row);
        barrier();
        int64_t vectors = plan->tileRows * plan->tileColumns / plan->vector;
        for (int64_t first = 0; first < vectors; first += layout.threads)
          storeTile(column, row, addIndex(arm.thread[0], index(first)));
      });
}

static bool isWhole(const Extent &extent, int64_t step) {
  return extent.factor % step == 0;
}

/// Reads vectors along the inputs' rows, all of them before the first is put
/// down.
void GpuLayoutEmitter::loadTiles(Value column, Value row) {
  unsigned along = piece->vectorAxis, across = *plan->tileAxis;
  int64_t vector = plan->vector;
  int64_t perRow = plan->tileColumns / vector;
  int64_t vectors = plan->tileRows * perRow;
  const Extent &rows = piece->axes[along], &columns = piece->axes[across];
  struct Loaded {
    Value value, shared, place;
  };
  SmallVector<Loaded> loaded;
  for (auto [node, shared] : llvm::zip(plan->transposed, launch->shared))
    for (int64_t first = 0; first < vectors; first += plan->threads) {
      Swizzle swizzle(*plan, node->type);
      Value number = addIndex(launch->thread[0], index(first));
      Values at = smallDigits(number, {plan->tileRows, perRow});
      // Beyond the edge the last ones are read again.
      Values source = coordinates;
      source[along] = addIndex(row, at[0]);
      if (!isWhole(rows, plan->tileRows))
        source[along] = arith::MinUIOp::create(builder, loc, source[along],
                                               index(rows.factor - 1));
      source[across] = addIndex(column, mulIndex(at[1], index(vector)));
      if (!isWhole(columns, plan->tileColumns))
        source[across] = arith::MinUIOp::create(builder, loc, source[across],
                                                index(columns.factor - vector));
      Values operands;
      for (Node *operand : node->operands)
        operands.push_back(valueOf(operand, {}));
      Value value =
          loadLanes(flat[node->access.argument],
                    accessOffset(node->access, source, operands), node->type,
                    vector == 1 ? 0 : vector, launch->isAligned);
      Value turn = arith::AndIOp::create(
          builder, loc,
          arith::DivUIOp::create(builder, loc, at[0], index(vector)),
          index(swizzle.mask));
      Value chunk = arith::XOrIOp::create(builder, loc, at[1], turn);
      Value target = addIndex(mulIndex(at[0], index(plan->tileColumns)),
                              mulIndex(chunk, index(vector)));
      loaded.push_back({value, shared, target});
    }
  for (const Loaded &one : loaded)
    storeLanes(one.value, one.shared, one.place, /*isAligned=*/true);
}

/// The vector `number` of the tile's part of the results.
void GpuLayoutEmitter::storeTile(Value column, Value row, Value number) {
  unsigned along = piece->vectorAxis, across = *plan->tileAxis;
  int64_t vector = plan->vector;
  const Extent &rows = piece->axes[along], &columns = piece->axes[across];
  Values at = smallDigits(number, {plan->tileColumns, plan->tileRows / vector});
  Value start = mulIndex(at[1], index(vector));
  coordinates[along] = addIndex(row, start);
  coordinates[across] = addIndex(column, at[0]);
  auto all = [&] {
    values.clear();
    chunks.clear();
    for (auto [node, shared] : llvm::zip(plan->transposed, launch->shared)) {
      Swizzle swizzle(*plan, node->type);
      Value turn =
          arith::AndIOp::create(builder, loc, at[1], index(swizzle.mask));
      Value chunk = arith::DivUIOp::create(builder, loc, at[0], index(vector));
      chunk = arith::XOrIOp::create(builder, loc, chunk, turn);
      Value within = arith::RemUIOp::create(builder, loc, at[0], index(vector));
      Value first = addIndex(mulIndex(chunk, index(vector)), within);
      first = addIndex(first, mulIndex(start, index(plan->tileColumns)));
      for (unsigned lane = 0; lane < vector; ++lane)
        values[{node->id, 0, lane}] = memref::LoadOp::create(
            builder, loc, shared,
            addIndex(first, index(lane * plan->tileColumns)));
    }
    storeResults(/*rows=*/1);
  };
  Value inside;
  if (!isWhole(rows, plan->tileRows))
    inside = less(coordinates[along], index(rows.factor));
  if (!isWhole(columns, plan->tileColumns)) {
    Value other = less(coordinates[across], index(columns.factor));
    inside =
        inside ? arith::AndIOp::create(builder, loc, inside, other).getResult()
               : other;
  }
  inside ? emitIf(inside, all) : all();
}
