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

void GpuSlotEmitter::setUpShifts() {
  isShifted = gpu.lanes > 1 && fittingLanes(program, gpu.lanes) < gpu.lanes;
}

GpuSlotEmitter::Row GpuSlotEmitter::makeRow(Values coordinates) {
  Row row;
  row.coordinates = std::move(coordinates);
  if (isShifted)
    row.shift = arith::RemUIOp::create(
        builder, loc, rowOffset(*leadingAccess(program), {}, row),
        index(gpu.lanes));
  return row;
}

Value GpuSlotEmitter::vectorsOfRow() {
  Value columns = extentValue(program.reducedExtent());
  if (isShifted)
    columns = addIndex(columns, index(gpu.lanes - 1));
  return divideUp(columns, gpu.lanes);
}

static bool isMultiple(const Extent &stride, int64_t lanes) {
  return stride.factor % lanes == 0;
}

/// True if vectors of the access lie on multiples of their size.
bool GpuSlotEmitter::isVectorAccess(const Access &access) const {
  if (!isAligned || gpu.lanes == 1)
    return false;
  if (!isShifted)
    return true;
  const Access &leader = *leadingAccess(program);
  bool result = (access.offset - leader.offset) % gpu.lanes == 0;
  for (const Extent &stride : access.dynamicStrides)
    result &= isMultiple(stride, gpu.lanes);
  for (auto [stride, other] : llvm::zip(access.strides, leader.strides)) {
    bool bothFit =
        isMultiple(stride, gpu.lanes) && isMultiple(other, gpu.lanes);
    bool isSame = stride.isStatic() && other.isStatic() &&
                  (stride.factor - other.factor) % gpu.lanes == 0;
    result &= bothFit || isSame || stride == other;
  }
  return result;
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
  if (!isPartial)
    return slot;
  Value columns = extentValue(program.reducedExtent());
  if (!isShifted) {
    slot.mask = less(column, columns);
    return slot;
  }
  // The first column may lie before the row.
  Value first = arith::SubIOp::create(builder, loc, column, row.shift);
  Value end = arith::AddIOp::create(builder, loc, first, index(gpu.lanes));
  auto compare = [&](arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, predicate, a, b).getResult();
  };
  slot.mask = arith::AndIOp::create(
      builder, loc, compare(arith::CmpIPredicate::sge, first, index(0)),
      compare(arith::CmpIPredicate::sle, end, columns));
  // Without a sign, columns before the row are far beyond it.
  slot.lanesExist = compare(arith::CmpIPredicate::ult, columnsOf(slot, row),
                            broadcast(columns, gpu.lanes));
  return slot;
}

/// The columns of the lanes.
Value GpuSlotEmitter::columnsOf(const GpuSlot &slot, const Row &row) {
  Value column = slot.column;
  if (row.shift)
    column = arith::SubIOp::create(builder, loc, column, row.shift);
  return ascending(column);
}

/// The numbers from `first` on, one a lane.
Value GpuSlotEmitter::ascending(Value first) {
  if (!lanes())
    return first;
  SmallVector<Attribute> steps;
  for (int64_t lane = 0; lane < lanes(); ++lane)
    steps.push_back(builder.getIndexAttr(lane));
  Value step = arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(
          cast<VectorType>(typeFor(builder.getIndexType(), lanes())), steps));
  return arith::AddIOp::create(builder, loc, broadcast(first, lanes()), step);
}

/// The coordinates of the lanes along one of the axes of columns.
Value GpuSlotEmitter::coordinateOf(unsigned axis, const GpuSlot &slot,
                                   const Row &row) {
  if (!isFolded(program))
    return columnsOf(slot, row);
  Value first = slot.along[axis - program.numRowAxes];
  return axis == program.vectorAxis ? ascending(first)
                                    : broadcast(first, lanes());
}

/// Where the slot is in memory, given where the row's first column is.
Value GpuSlotEmitter::placeIn(const Access &access, Value offset,
                              const GpuSlot &slot, const Row &row) {
  if (access.strides.back().isZero()) {
    auto strides = ArrayRef(access.strides).drop_front(program.numRowAxes);
    for (auto [at, stride] : llvm::zip(slot.along, strides))
      if (!stride.isZero())
        offset = addIndex(offset, mulIndex(at, extentValue(stride)));
    return offset;
  }
  if (!row.shift)
    return addIndex(offset, slot.column);
  offset = arith::SubIOp::create(builder, loc, offset, row.shift);
  return arith::AddIOp::create(builder, loc, offset, slot.column);
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

Value GpuSlotEmitter::valueIn(Node *node, GpuSlot &slot, Row &row) {
  if (!program.variesAlongColumns(node)) {
    bool isConstant = node->kind == Node::Kind::Constant;
    return isConstant ? constant(node->value, lanes())
                      : broadcast(rowValue(node, row), lanes());
  }
  if (Value known = slot.memo.lookup(node))
    return known;
  Value result;
  if (node->kind == Node::Kind::Op) {
    Values operands;
    for (Node *operand : node->operands)
      operands.push_back(valueIn(operand, slot, row));
    result = emitOp(*node, operands, lanes());
  } else {
    result = node->kind == Node::Kind::Input
                 ? loadSlot(node, slot, row)
                 : coordinateOf(node->axis, slot, row);
  }
  return slot.memo[node] = result;
}

/// What does not exist is read from the row's first column.
Value GpuSlotEmitter::loadSlot(Node *node, GpuSlot &slot, Row &row) {
  Value &offset = row.offsets[node];
  if (!offset)
    offset = rowOffset(node->access, node->operands, row);
  Value memref = flat[node->access.argument];
  bool isVector = isVectorAccess(node->access);
  Value place = placeIn(node->access, offset, slot, row);
  if (!slot.lanesExist) {
    if (slot.mask)
      place = arith::SelectOp::create(builder, loc, slot.mask, place, offset);
    // The same in all lanes of a vector.
    if (!program.variesAlongVectors(node))
      return broadcast(loadLanes(memref, place, node->type, 0, isVector),
                       lanes());
    return loadLanes(memref, place, node->type, lanes(), isVector);
  }
  auto loadEach = [&]() -> Value {
    Values values;
    for (int64_t lane = 0; lane < gpu.lanes; ++lane) {
      Value exists =
          vector::ExtractOp::create(builder, loc, slot.lanesExist, lane);
      Value at = arith::AddIOp::create(builder, loc, place, index(lane));
      at = arith::SelectOp::create(builder, loc, exists, at, offset);
      values.push_back(memref::LoadOp::create(builder, loc, memref, at));
    }
    return fromLanes(values, node->type);
  };
  if (!isVector)
    return loadEach();
  auto choice = scf::IfOp::create(
      builder, loc, TypeRange(typeFor(node->type, gpu.lanes)), slot.mask,
      /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(builder, loc,
                       loadLanes(memref, place, node->type, gpu.lanes, true));
  builder.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(builder, loc, loadEach());
  return choice.getResult(0);
}

Value GpuSlotEmitter::masked(Value value, TypedAttr otherwise,
                             const GpuSlot &slot) {
  Value mask = slot.lanesExist ? slot.lanesExist : slot.mask;
  if (!mask)
    return value;
  return arith::SelectOp::create(builder, loc, mask, value,
                                 constant(otherwise, lanes()));
}

void GpuSlotEmitter::storeOutput(const Output &output, GpuSlot &slot,
                                 Row &row) {
  Value value = valueIn(output.node, slot, row);
  Value memref = flat[output.access.argument];
  Value place =
      placeIn(output.access, rowOffset(output.access, {}, row), slot, row);
  bool isVector = isVectorAccess(output.access);
  auto storeAll = [&] { storeLanes(value, memref, place, isVector); };
  if (!slot.mask)
    return storeAll();
  if (!slot.lanesExist)
    return emitIf(slot.mask, storeAll);
  auto choice = scf::IfOp::create(builder, loc, slot.mask,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  storeAll();
  builder.setInsertionPointToStart(choice.elseBlock());
  for (auto [lane, element] : llvm::enumerate(lanesOf(value))) {
    Value exists =
        vector::ExtractOp::create(builder, loc, slot.lanesExist, lane);
    emitIf(exists, [&, lane = int64_t(lane), element = element] {
      memref::StoreOp::create(
          builder, loc, element, memref,
          arith::AddIOp::create(builder, loc, place, index(lane)).getResult());
    });
  }
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
