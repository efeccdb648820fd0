//===- GpuLayoutEmitter.cpp - Elements that change places -----------------===//

#include "GpuLayoutEmitter.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

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

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value GpuLayoutEmitter::indexOf(unsigned axis, Point point) {
  Value at = coordinates[axis];
  if (axis == piece->vectorAxis)
    return addIndex(at, index(point.lane));
  if (axis == plan->rowAxis && plan->rows > 1)
    return addIndex(at, index(point.row));
  return at;
}

Value GpuLayoutEmitter::valueOf(Node *node, Point point) {
  if (node->kind == Node::Kind::Constant)
    return constant(node->value, 0);
  auto varies = [&](unsigned axis) { return node->varies >> axis & 1; };
  if (plan->rows == 1 || !varies(plan->rowAxis))
    point.row = 0;
  if (!varies(piece->vectorAxis))
    point.lane = 0;
  std::tuple<unsigned, unsigned, unsigned> key(node->id, point.row, point.lane);
  auto known = values.find(key);
  if (known != values.end())
    return known->second;
  Value result;
  if (node->kind == Node::Kind::Op) {
    Values operands;
    for (Node *operand : node->operands)
      operands.push_back(valueOf(operand, point));
    result = emitOp(*node, operands, 0);
  } else if (node->kind == Node::Kind::Index) {
    result = indexOf(node->axis, point);
  } else {
    result = inputValue(node, point);
  }
  return values[key] = result;
}

/// `at`, which may be negative, brought into [0, most].
Value GpuLayoutEmitter::clamped(Value at, int64_t most) {
  at = arith::MaxSIOp::create(builder, loc, at, index(0));
  return arith::MinSIOp::create(builder, loc, at, index(most));
}

/// scale * at + constant, of any sign.
static Value scaledIndex(OpBuilder &builder, Location loc, Value at,
                         int64_t scale, int64_t constant) {
  auto number = [&](int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value).getResult();
  };
  if (scale != 1)
    at = arith::MulIOp::create(builder, loc, at, number(scale));
  return constant ? arith::AddIOp::create(builder, loc, at, number(constant))
                        .getResult()
                  : at;
}

static const Clamp *clampOf(const Access &access, unsigned axis) {
  for (const Clamp &clamp : access.clamps)
    if (clamp.axis == axis)
      return &clamp;
  return nullptr;
}

/// What is the same for all threads: the offset without the clamped dimensions,
/// in the thread's row `row`.
int64_t GpuLayoutEmitter::constantOf(const Node *node, unsigned row) const {
  const Access &access = node->access;
  int64_t constant = access.offset;
  for (const Clamp &clamp : access.clamps)
    constant -= clamp.constant * clamp.stride;
  if (plan->rows > 1 && !clampOf(access, plan->rowAxis))
    constant += int64_t(row) * access.strides[plan->rowAxis].factor;
  return constant;
}

Value GpuLayoutEmitter::rowPlace(const Node *node, Point point,
                                 int64_t constant) {
  Access rest = node->access;
  rest.offset = constant;
  Values at = coordinates, operands;
  at[piece->vectorAxis] = nullptr;
  Value clampedPart = index(0);
  for (const Clamp &clamp : node->access.clamps) {
    if (clamp.axis == piece->vectorAxis)
      continue;
    int64_t shift = clamp.constant;
    if (plan->rows > 1 && clamp.axis == plan->rowAxis)
      shift += clamp.scale * int64_t(point.row);
    Value place = clamped(
        scaledIndex(builder, loc, coordinates[clamp.axis], clamp.scale, shift),
        clamp.extent - 1);
    clampedPart = addIndex(clampedPart, mulIndex(place, index(clamp.stride)));
    at[clamp.axis] = nullptr;
  }
  for (Node *operand : node->operands)
    operands.push_back(valueOf(operand, point));
  return addIndex(clampedPart, accessOffset(rest, at, operands));
}

Value GpuLayoutEmitter::inputValue(Node *node, Point point) {
  if (plan->isChunked(node))
    return chunkLane(node, point);
  unsigned along = piece->vectorAxis;
  const Access &access = node->access;
  Value column = indexOf(along, point);
  if (const Clamp *clamp = clampOf(access, along))
    column = mulIndex(clamped(scaledIndex(builder, loc, column, clamp->scale,
                                          clamp->constant),
                              clamp->extent - 1),
                      index(clamp->stride));
  else
    column = access.strides[along].isZero()
                 ? index(0)
                 : mulIndex(column, extentValue(access.strides[along]));
  Value place =
      addIndex(rowPlace(node, point, constantOf(node, point.row)), column);
  return memref::LoadOp::create(builder, loc, flat[access.argument], place);
}

/// One element of the aligned vectors that a thread reads of an input; each is
/// read once.
Value GpuLayoutEmitter::chunkLane(Node *node, Point point) {
  unsigned along = piece->vectorAxis;
  const Access &access = node->access;
  int64_t vector = plan->vector, stride = access.strides[along].factor;
  const Clamp *clamp = clampOf(access, along);
  int64_t constant = constantOf(node, point.row);
  int64_t first =
      (clamp ? clamp->constant : constant) + stride * int64_t(point.lane);
  int64_t chunk = llvm::divideFloorSigned(first, vector);
  std::string key;
  llvm::raw_string_ostream os(key);
  os << access.argument << ' ' << (clamp ? constant : 0) << ' ' << chunk;
  for (const Extent &extent : access.strides) {
    os << ' ' << extent.factor;
    for (unsigned dim : extent.dims)
      os << '*' << dim;
  }
  for (const Clamp &other : access.clamps) {
    bool isRow = plan->rows > 1 && other.axis == plan->rowAxis;
    os << ' ' << other.axis << ':' << other.scale << ':'
       << (&other == clamp ? 0
                           : other.constant +
                                 (isRow ? other.scale * int64_t(point.row) : 0))
       << ':' << other.extent << ':' << other.stride;
  }
  for (const Node *operand : node->operands)
    os << " n" << operand->id << '@' << point.row;
  Values &lanes = chunks[key];
  if (lanes.empty()) {
    Value start =
        scaledIndex(builder, loc, coordinates[along], stride, chunk * vector);
    if (clamp)
      start = clamped(start, clamp->extent - vector);
    Value place = addIndex(rowPlace(node, point, clamp ? constant : 0), start);
    lanes = lanesOf(loadLanes(flat[access.argument], place, node->type, vector,
                              launch->isAligned));
  }
  return lanes[first - chunk * vector];
}
