//===- ColumnValues.cpp - Buffers and values of columns -------------------===//

#include "ColumnEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kernelbrain::strategy;

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Value ColumnEmitter::newBuffer(Type type) {
  int64_t length = llvm::alignTo(panel, options.lanes);
  return memref::AllocaOp::create(builder, loc, MemRefType::get({length}, type),
                                  builder.getI64IntegerAttr(64));
}

void ColumnEmitter::setUpBuffers() {
  accumulators.clear();
  buffers.clear();
  for (const Sweep &sweep : plan.sweeps) {
    for (const Node *node : sweep.reductions)
      for (Type type : accumulatorTypes(node, columns))
        accumulators[node].push_back(newBuffer(type));
    for (const Node *node : sweep.rowValues)
      if (isVector[node->id] && isBuffered(node, columns) &&
          !buffers.count(node))
        buffers[node] = newBuffer(node->type);
  }
  if (!exact)
    return;
  guardsHeld = memref::AllocaOp::create(
      builder, loc, MemRefType::get({1}, builder.getI8Type()));
  exact->builder.setInsertionPoint(builder.getInsertionBlock(),
                                   builder.getInsertionPoint());
  exact->function = function;
  exact->flat = flat;
  exact->dims = dims;
  exact->setUpBuffers();
}

/// Buffers hold whole vectors: no lane of theirs needs a mask.
static Value inPanel(OpBuilder &builder, Location loc, Value column,
                     Value start) {
  APInt value;
  if (matchPattern(start, m_ConstantInt(&value)) && value.isZero())
    return column;
  return arith::SubIOp::create(builder, loc, column, start);
}

Value ColumnEmitter::inBuffer(Value buffer, Type type, const Slot &slot) {
  return load(buffer, inPanel(builder, loc, slot.column, panelStart), type,
              Slot(slot.lanes, 0, slot.column));
}

void ColumnEmitter::toBuffer(Value value, Value buffer, const Slot &slot) {
  store(value, buffer, inPanel(builder, loc, slot.column, panelStart),
        Slot(slot.lanes, 0, slot.column), /*nontemporal=*/false);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Of a node that is the same in all lanes, where its operands are there.
Value ColumnEmitter::scalarValue(Node *node) {
  if (node->kind == Node::Kind::Constant)
    return constant(node->value, 0);
  if (Value known = scalars.lookup(node))
    return known;
  Values operands;
  for (Node *operand : node->operands)
    operands.push_back(scalarValue(operand));
  Value result;
  if (node->kind == Node::Kind::Index)
    result = coordinates[node->axis];
  else if (node->kind == Node::Kind::Input)
    result = memref::LoadOp::create(
        builder, loc, flat[node->access.argument],
        accessOffset(node->access, coordinates, operands));
  else
    result = emitOp(*node, operands, 0);
  return scalars[node] = result;
}

Value ColumnEmitter::operandIn(Node *node, const Slot &slot) {
  if (node->kind == Node::Kind::Constant)
    return constant(node->value, slot.lanes);
  if (!isVector[node->id])
    return broadcast(scalarValue(node), slot.lanes);
  Value known = slot.memo.lookup(node);
  assert(known && "operands come before their users");
  return known;
}

/// Inputs and indices that change along the vector.
Value ColumnEmitter::leafValue(Node *node, const Slot &slot) {
  if (node->kind == Node::Kind::Index) {
    auto type = cast<VectorType>(typeFor(node->type, slot.lanes));
    return arith::AddIOp::create(builder, loc,
                                 broadcast(slot.column, slot.lanes),
                                 vector::StepOp::create(builder, loc, type));
  }
  Values operands;
  for (Node *operand : node->operands)
    operands.push_back(scalarValue(operand));
  Value offset = accessOffset(node->access, coordinates, operands);
  return load(flat[node->access.argument], addIndex(offset, slot.column),
              node->type, slot);
}

/// Of a value that does not change along the reduced axis.
Value ColumnEmitter::rowVector(Node *node, Slot &slot) {
  if (!isVector[node->id])
    return operandIn(node, slot);
  if (Value known = slot.memo.lookup(node))
    return known;
  Value result;
  if (node->isReduction()) {
    result = finished(node, slot);
  } else if (node->kind == Node::Kind::Op) {
    Values operands;
    for (Node *operand : node->operands)
      operands.push_back(rowVector(operand, slot));
    result = emitOp(*node, operands, slot.lanes);
  } else {
    result = leafValue(node, slot);
  }
  return slot.memo[node] = result;
}

/// A reduction whose sweep is done.
Value ColumnEmitter::finished(Node *node, Slot &slot) {
  const Values &memory = accumulators[node];
  SmallVector<Type, 2> types = accumulatorTypes(node, columns);
  Value result = inBuffer(memory.back(), types.back(), slot);
  Type type = typeFor(node->type, slot.lanes);
  if (isWide(node, columns))
    return arith::TruncFOp::create(builder, loc, type, result);
  if (node->kind == Node::Kind::Reduce)
    return result;
  Value zero = constant(builder.getI32IntegerAttr(0), slot.lanes);
  Value found = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge,
                                      result, zero);
  return arith::SelectOp::create(builder, loc, found,
                                 castInteger(builder, loc, result, type),
                                 rowVector(node->operands[2], slot));
}

/// Everything that changes along the reduced axis, node by node.
void ColumnEmitter::evaluate(const Sweep &sweep, Slots &slots) {
  for (Node *node : sweep.matrices) {
    if (!isVector[node->id]) {
      scalarValue(node);
      continue;
    }
    if (node->kind == Node::Kind::Op && isApproximated(*node)) {
      approximateTogether(
          node, slots, options.lanes,
          [&](Node *operand, Slot &slot) { return operandIn(operand, slot); });
      continue;
    }
    for (Slot &slot : slots) {
      Values operands;
      if (node->kind == Node::Kind::Op)
        for (Node *operand : node->operands)
          operands.push_back(operandIn(operand, slot));
      slot.memo[node] = node->kind == Node::Kind::Op
                            ? emitOp(*node, operands, slot.lanes)
                            : leafValue(node, slot);
    }
  }
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Starts from the initial value, as the loop of the input does.
void ColumnEmitter::initialize(const Node *node, Slot &slot) {
  Value init = rowVector(node->operands[1], slot);
  if (isWide(node, columns))
    init = arith::ExtFOp::create(
        builder, loc, typeFor(builder.getF64Type(), slot.lanes), init);
  toBuffer(init, accumulators[node][0], slot);
  if (node->kind == Node::Kind::ArgReduce)
    toBuffer(constant(builder.getI32IntegerAttr(-1), slot.lanes),
             accumulators[node][1], slot);
}

ColumnEmitter::Values
ColumnEmitter::accumulate(const Node *node, const Slot &slot, ValueRange old) {
  Value x = operandIn(node->operands[0], slot);
  if (node->kind == Node::Kind::Reduce)
    return {combine(node, x, old[0])};
  auto predicate =
      node->smallest ? arith::CmpFPredicate::OLT : arith::CmpFPredicate::OGT;
  Value better = arith::CmpFOp::create(builder, loc, predicate, x, old[0]);
  Value best =
      node->smallest
          ? arith::MinimumFOp::create(builder, loc, x, old[0]).getResult()
          : arith::MaximumFOp::create(builder, loc, x, old[0]).getResult();
  Value step =
      castInteger(builder, loc, coordinates.back(), builder.getI32Type());
  return {best, arith::SelectOp::create(builder, loc, better,
                                        broadcast(step, slot.lanes), old[1])};
}
