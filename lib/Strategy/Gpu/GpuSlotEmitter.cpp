//===- GpuSlotEmitter.cpp - Values of row programs in a thread ------------===//

#include "GpuSlotEmitter.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
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
  for (const Assertion &assertion : program.assertions) {
    Value holds = rowValue(assertion.condition, row);
    if (!program.columns().isStatic()) {
      // A row without elements asks for nothing.
      Value isEmpty =
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                extentValue(program.columns()), index(0));
      holds = arith::OrIOp::create(builder, loc, holds, isEmpty);
    }
    cf::AssertOp::create(builder, loc, holds, assertion.message);
  }
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

Value GpuSlotEmitter::valueIn(Node *node, Slot &slot, Row &row) {
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
    result = leafValue(node, slot, row);
  }
  return slot.memo[node] = result;
}

/// Inputs and indices. What does not exist is read from the row's first column.
Value GpuSlotEmitter::leafValue(Node *node, Slot &slot, Row &row) {
  Value column = slot.column;
  if (node->kind == Node::Kind::Input) {
    if (slot.mask)
      column =
          arith::SelectOp::create(builder, loc, slot.mask, column, index(0));
    Value &offset = row.offsets[node];
    if (!offset)
      offset = rowOffset(node->access, node->operands, row);
    return loadLanes(flat[node->access.argument], addIndex(offset, column),
                     node->type, lanes(), isAligned);
  }
  if (!lanes())
    return column;
  SmallVector<Attribute> steps;
  for (int64_t lane = 0; lane < lanes(); ++lane)
    steps.push_back(builder.getIndexAttr(lane));
  Value step = arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(
          cast<VectorType>(typeFor(builder.getIndexType(), lanes())), steps));
  return arith::AddIOp::create(builder, loc, broadcast(column, lanes()), step);
}

void GpuSlotEmitter::storeOutput(const Output &output, Slot &slot, Row &row) {
  Value value = valueIn(output.node, slot, row);
  Value offset = addIndex(rowOffset(output.access, {}, row), slot.column);
  auto write = [&] {
    storeLanes(value, flat[output.access.argument], offset, isAligned);
  };
  if (slot.mask)
    emitIf(slot.mask, write);
  else
    write();
}

Value GpuSlotEmitter::minIndex(Value a, Value b) {
  return arith::MinUIOp::create(builder, loc, a, b);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// e^x by the power of two of the hardware, with what rounding took from the
/// product with log2(e) multiplied in: without, the error grows with x.
Value GpuSlotEmitter::exactExp(Value x, int64_t lanes) {
  auto number = [&](double value) {
    return constant(builder.getF32FloatAttr(static_cast<float>(value)), lanes);
  };
  constexpr float log2e = 1.44269504088896341f;
  Value high = number(log2e);
  Value low = number(1.44269504088896341 - double(log2e));
  Value t = arith::MulFOp::create(builder, loc, x, high);
  Value negated = arith::NegFOp::create(builder, loc, t);
  Value rest = math::FmaOp::create(builder, loc, x, high, negated);
  rest = math::FmaOp::create(builder, loc, x, low, rest);
  Value y = math::Exp2Op::create(builder, loc, t, arith::FastMathFlags::afn);
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
    if (node.name == "math.exp" && gpu.exactExp)
      return exactExp(operands[0], lanes);
    if (node.name == "math.erf" || node.name == "math.log" ||
        node.name == "math.tanh")
      return emitApproximation(node, operands, lanes)[0];
  }
  if (lanes && isLibraryFunction(node))
    return laneByLane(node, operands);
  return GpuEmitter::emitOp(node, operands, lanes);
}
