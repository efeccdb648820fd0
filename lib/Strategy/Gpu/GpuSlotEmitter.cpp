//===- GpuSlotEmitter.cpp - Values of row programs in a thread ------------===//

#include "GpuSlotEmitter.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace kernelbrain::strategy;

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

Value GpuSlotEmitter::rowOffset(const Access &access, ArrayRef<Node *> dynamic,
                                Row &row) {
  Values operands;
  for (Node *node : dynamic)
    operands.push_back(rowValue(node, row));
  return accessOffset(access, row.coordinates, operands);
}

Value GpuSlotEmitter::rowValue(Node *node, Row &row) {
  if (Value known = row.values.lookup(node))
    return known;
  Value result;
  switch (node->kind) {
  case Node::Kind::Constant:
    result = constant(node->value, 0);
    break;
  case Node::Kind::Index:
    result = row.coordinates[node->axis];
    break;
  case Node::Kind::Input:
    result =
        memref::LoadOp::create(builder, loc, flat[node->access.argument],
                               rowOffset(node->access, node->operands, row));
    break;
  case Node::Kind::Op: {
    Values operands;
    for (Node *operand : node->operands)
      operands.push_back(rowValue(operand, row));
    result = emitOp(*node, operands, 0);
    break;
  }
  case Node::Kind::Reduce:
  case Node::Kind::ArgReduce:
    llvm_unreachable("reductions are there when their sweep is done");
  }
  return row.values[node] = result;
}

void GpuSlotEmitter::checkAssertions(Row &row) {
  for (const Assertion &assertion : program.assertions)
    emitAssertion(assertion, rowValue(assertion.condition, row));
}

//===----------------------------------------------------------------------===//
// Rows that start anywhere
//===----------------------------------------------------------------------===//

const Access *kernelbrain::strategy::leadingAccess(const RowProgram &program) {
  for (const Output &output : program.outputs)
    if (output.access.strides.back().isOne())
      return &output.access;
  for (const Node *node : program.live())
    if (node->kind == Node::Kind::Input && node->operands.empty() &&
        node->access.strides.back().isOne())
      return &node->access;
  return nullptr;
}

void GpuSlotEmitter::setUpPeeling() {
  isPeeled = gpu.lanes > 1 && fittingLanes(program, gpu.lanes) < gpu.lanes;
}

GpuSlotEmitter::Row GpuSlotEmitter::makeRow(Values coordinates) {
  Row row;
  row.coordinates = std::move(coordinates);
  if (!isPeeled)
    return row;
  Value first = rowOffset(*leadingAccess(program), {}, row);
  Value beyond = arith::RemUIOp::create(builder, loc, first, index(gpu.lanes));
  beyond = arith::SubIOp::create(builder, loc, index(gpu.lanes), beyond);
  row.head =
      minIndex(arith::RemUIOp::create(builder, loc, beyond, index(gpu.lanes)),
               extentValue(program.reducedExtent()));
  return row;
}

Value GpuSlotEmitter::vectorsOfRow() {
  Value columns = extentValue(program.reducedExtent());
  if (!isPeeled)
    return divideUp(columns, gpu.lanes);
  Value most = arith::DivUIOp::create(builder, loc, columns, index(gpu.lanes));
  return arith::MaxUIOp::create(builder, loc, most, index(1));
}

static bool isMultiple(const Extent &stride, int64_t lanes) {
  return stride.factor % lanes == 0;
}

bool kernelbrain::strategy::liesAsLeader(const RowProgram &program,
                                         const Access &access, int64_t lanes) {
  const Access &leader = *leadingAccess(program);
  bool result = (access.offset - leader.offset) % lanes == 0;
  for (const Extent &stride : access.dynamicStrides)
    result &= isMultiple(stride, lanes);
  for (auto [stride, other] : llvm::zip(access.strides, leader.strides)) {
    bool bothFit = isMultiple(stride, lanes) && isMultiple(other, lanes);
    bool isSame = stride.isStatic() && other.isStatic() &&
                  (stride.factor - other.factor) % lanes == 0;
    result &= bothFit || isSame || stride == other;
  }
  return result;
}

/// True if vectors of the access lie on multiples of their size.
bool GpuSlotEmitter::isVectorAccess(const Access &access) const {
  if (!isAligned || gpu.lanes == 1)
    return false;
  return !isPeeled || liesAsLeader(program, access, gpu.lanes);
}

GpuSlotEmitter::GpuSlot GpuSlotEmitter::makeSlot(unsigned number, Value column,
                                                 bool isPartial,
                                                 const Row &row) {
  GpuSlot slot(lanes(), number, column);
  if (isFolded(program)) {
    Values extents;
    for (const Extent &axis :
         ArrayRef(program.axes).drop_front(program.numRowAxes))
      extents.push_back(extentValue(axis));
    slot.along = digits(column, extents);
  }
  Value columns = extentValue(program.reducedExtent());
  if (isPeeled) {
    columns = arith::SubIOp::create(builder, loc, columns, row.head);
    column = addIndex(column, index(gpu.lanes - 1));
    slot.column = addIndex(row.head, slot.column);
  }
  if (isPartial)
    slot.mask = less(column, columns);
  return slot;
}

/// Columns before the first vector, then those behind the last.
GpuSlotEmitter::GpuSlot GpuSlotEmitter::makeEnd(unsigned number, Value place,
                                                const Row &row) {
  Value columns = extentValue(program.reducedExtent());
  Value inner = arith::SubIOp::create(builder, loc, columns, row.head);
  Value rest = arith::RemUIOp::create(builder, loc, inner, index(gpu.lanes));
  inner = arith::SubIOp::create(builder, loc, inner, rest);
  Value column = arith::SelectOp::create(builder, loc, less(place, row.head),
                                         place, addIndex(place, inner));
  GpuSlot slot(/*lanes=*/0, number, column);
  slot.mask = less(column, columns);
  return slot;
}

/// The numbers from `first` on, one a lane.
Value GpuSlotEmitter::ascending(Value first, int64_t lanes) {
  if (!lanes)
    return first;
  SmallVector<Attribute> steps;
  for (int64_t lane = 0; lane < lanes; ++lane)
    steps.push_back(builder.getIndexAttr(lane));
  Value step = arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(
          cast<VectorType>(typeFor(builder.getIndexType(), lanes)), steps));
  return arith::AddIOp::create(builder, loc, broadcast(first, lanes), step);
}

/// The coordinates of the lanes along one of the axes of columns.
Value GpuSlotEmitter::coordinateOf(unsigned axis, const GpuSlot &slot) {
  if (!isFolded(program))
    return ascending(slot.column, slot.lanes);
  Value first = slot.along[axis - program.numRowAxes];
  return axis == program.vectorAxis ? ascending(first, slot.lanes)
                                    : broadcast(first, slot.lanes);
}

/// Where the slot is in memory, given where the row's first column is.
Value GpuSlotEmitter::placeIn(const Access &access, Value offset,
                              const GpuSlot &slot) {
  if (!access.strides.back().isZero())
    return addIndex(offset, slot.column);
  auto strides = ArrayRef(access.strides).drop_front(program.numRowAxes);
  for (auto [at, stride] : llvm::zip(slot.along, strides))
    if (!stride.isZero())
      offset = addIndex(offset, mulIndex(at, extentValue(stride)));
  return offset;
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

Value GpuSlotEmitter::valueIn(Node *node, GpuSlot &slot, Row &row) {
  if (!program.variesAlongColumns(node)) {
    bool isConstant = node->kind == Node::Kind::Constant;
    return isConstant ? constant(node->value, slot.lanes)
                      : broadcast(rowValue(node, row), slot.lanes);
  }
  if (Value known = slot.memo.lookup(node))
    return known;
  Value result;
  if (node->kind == Node::Kind::Op) {
    Values operands;
    for (Node *operand : node->operands)
      operands.push_back(valueIn(operand, slot, row));
    result = emitOp(*node, operands, slot.lanes);
  } else {
    result = node->kind == Node::Kind::Input ? loadSlot(node, slot, row)
                                             : coordinateOf(node->axis, slot);
  }
  return slot.memo[node] = result;
}

/// What does not exist is read from where something does, or not at all if rows
/// may be shorter than that.
Value GpuSlotEmitter::loadSlot(Node *node, GpuSlot &slot, Row &row) {
  Value &offset = row.offsets[node];
  if (!offset)
    offset = rowOffset(node->access, node->operands, row);
  Value memref = flat[node->access.argument];
  bool isVector = isVectorAccess(node->access);
  auto load = [&](Value place) {
    // One number may be the same in all lanes.
    bool isWide = program.variesAlongVectors(node);
    Value value = loadLanes(memref, place, node->type, isWide ? slot.lanes : 0,
                            isVector, gpu.nontemporal);
    return isWide ? value : broadcast(value, slot.lanes);
  };
  Value place = placeIn(node->access, offset, slot);
  if (!slot.mask)
    return load(place);
  const Extent columns = program.reducedExtent();
  bool isLong = columns.isStatic() && columns.factor >= 2 * gpu.lanes;
  if (!isPeeled || isLong) {
    bool hasHead = isPeeled && slot.lanes;
    Value other = hasHead ? addIndex(offset, row.head) : offset;
    return load(arith::SelectOp::create(builder, loc, slot.mask, place, other));
  }
  auto choice = scf::IfOp::create(
      builder, loc, TypeRange(typeFor(node->type, slot.lanes)), slot.mask,
      /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(builder, loc, load(place));
  builder.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(
      builder, loc,
      constant(cast<TypedAttr>(builder.getZeroAttr(node->type)), slot.lanes));
  return choice.getResult(0);
}

Value GpuSlotEmitter::masked(Value value, TypedAttr otherwise,
                             const GpuSlot &slot) {
  if (!slot.mask)
    return value;
  return arith::SelectOp::create(builder, loc, slot.mask, value,
                                 constant(otherwise, slot.lanes));
}

void GpuSlotEmitter::storeOutput(const Output &output, GpuSlot &slot,
                                 Row &row) {
  Value value = valueIn(output.node, slot, row);
  Value memref = flat[output.access.argument];
  Value place = placeIn(output.access, rowOffset(output.access, {}, row), slot);
  auto storeAll = [&] {
    storeLanes(value, memref, place, isVectorAccess(output.access));
  };
  slot.mask ? emitIf(slot.mask, storeAll) : storeAll();
}

Value GpuSlotEmitter::minIndex(Value a, Value b) {
  return arith::MinUIOp::create(builder, loc, a, b);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// e^x by the power of two of the hardware. The error grows with x, unless what
/// rounding took from the product with log2(e) is multiplied in.
Value GpuSlotEmitter::powerOfE(Value x, int64_t lanes) {
  auto number = [&](double value) {
    return constant(builder.getF32FloatAttr(static_cast<float>(value)), lanes);
  };
  constexpr float log2e = 1.44269504088896341f;
  Value high = number(log2e);
  Value t = arith::MulFOp::create(builder, loc, x, high);
  Value y = math::Exp2Op::create(builder, loc, t, arith::FastMathFlags::afn);
  if (!gpu.exactExp)
    return y;
  Value low = number(1.44269504088896341 - double(log2e));
  Value negated = arith::NegFOp::create(builder, loc, t);
  Value rest = math::FmaOp::create(builder, loc, x, high, negated);
  rest = math::FmaOp::create(builder, loc, x, low, rest);
  Value share =
      arith::MulFOp::create(builder, loc, rest, number(0.69314718055994531));
  Value result = math::FmaOp::create(builder, loc, y, share, y);
  // Infinity times a rest of 0, and the rest of an infinite x, are NaN.
  Value isFinite = arith::CmpFOp::create(
      builder, loc, arith::CmpFPredicate::OLT,
      math::AbsFOp::create(builder, loc, x), number(87.0));
  return arith::SelectOp::create(builder, loc, isFinite, result, y);
}

/// Functions that come from a library take one number at a time.
Value GpuSlotEmitter::laneByLane(const Node &node, ArrayRef<Value> operands) {
  SmallVector<Values> lanesOfOperands;
  for (Value operand : operands)
    lanesOfOperands.push_back(lanesOf(operand));
  Values results;
  for (size_t lane = 0; lane < lanesOfOperands[0].size(); ++lane) {
    Values scalars;
    for (const Values &values : lanesOfOperands)
      scalars.push_back(values[lane]);
    results.push_back(GpuEmitter::emitOp(node, scalars, 0));
  }
  return fromLanes(results, node.type);
}

static bool isLibraryFunction(const Node &node) {
  if (!StringRef(node.name).starts_with("math."))
    return false;
  if (node.type.isF64())
    return node.name != "math.fma" && node.name != "math.absf" &&
           node.name != "math.sqrt";
  return llvm::StringSwitch<bool>(node.name)
      .Cases({"math.exp", "math.exp2", "math.log", "math.log2", "math.sqrt",
              "math.rsqrt", "math.tanh", "math.fma", "math.absf",
              "math.copysign", "math.floor", "math.ceil", "math.trunc",
              "math.roundeven", "math.absi"},
             false)
      .Default(true);
}

Value GpuSlotEmitter::emitOp(const Node &node, ArrayRef<Value> operands,
                             int64_t lanes) {
  if (node.type.isF32()) {
    if (node.name == "math.exp")
      return powerOfE(operands[0], lanes);
    if (node.name == "math.erf" || node.name == "math.log" ||
        node.name == "math.tanh")
      return emitApproximation(node, operands, lanes)[0];
  }
  if (lanes && isLibraryFunction(node))
    return laneByLane(node, operands);
  return GpuEmitter::emitOp(node, operands, lanes);
}
