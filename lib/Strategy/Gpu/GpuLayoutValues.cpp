//===- GpuLayoutValues.cpp - What a thread reads and computes -------------===//

#include "GpuLayoutEmitter.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace kernelbrain::strategy;

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
