//===- ContractionExpressions.cpp - Values of nodes at a point ------------===//

#include "ContractionEmitter.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace kernelbrain::strategy;

Value ContractionEmitter::loadVector(Value memref, Value offset, Type type,
                                     int64_t lanes, Value mask) {
  auto vector = cast<VectorType>(typeFor(type, lanes));
  if (!mask)
    return vector::LoadOp::create(builder, loc, vector, memref, offset);
  // Lanes that do not exist hold 1 in integers: they may become divisors.
  TypedAttr filler = isa<FloatType>(type)
                         ? TypedAttr(builder.getFloatAttr(type, 0))
                         : TypedAttr(builder.getIntegerAttr(type, 1));
  return vector::MaskedLoadOp::create(builder, loc, vector, memref, offset,
                                      mask, constant(filler, lanes));
}

void ContractionEmitter::storeVector(Value value, Value memref, Value offset,
                                     Value mask) {
  if (mask)
    vector::MaskedStoreOp::create(builder, loc, memref, offset, mask, value);
  else
    vector::StoreOp::create(builder, loc, value, memref, offset);
}

Value ContractionEmitter::offsetOf(const Access &access,
                                   ArrayRef<Node *> dynamic, Point &point) {
  Values operands;
  for (Node *node : dynamic)
    operands.push_back(evaluate(node, point));
  return accessOffset(access, point.axes, operands);
}

/// The value of a node for the lanes of the point.
Value ContractionEmitter::valueAt(Node *node, Point &point) {
  Value value = evaluate(node, point);
  if (!point.lanes || isa<VectorType>(value.getType()))
    return value;
  return node->kind == Node::Kind::Constant ? constant(node->value, point.lanes)
                                            : broadcast(value, point.lanes);
}

/// A vector if the node varies along the lanes, else one element.
Value ContractionEmitter::evaluate(Node *node, Point &point) {
  if (Value known = point.memo.lookup(node))
    return known;
  int64_t lanes = isWide(node, point) ? point.lanes : 0;
  Value result;
  switch (node->kind) {
  case Node::Kind::Constant:
    result = constant(node->value, 0);
    break;
  case Node::Kind::Index:
    result = broadcast(point.axes[node->axis], lanes);
    if (lanes)
      result = arith::AddIOp::create(
          builder, loc, result,
          vector::StepOp::create(builder, loc,
                                 cast<VectorType>(result.getType())));
    break;
  case Node::Kind::Input: {
    Value memref = flat[node->access.argument];
    Value offset = offsetOf(node->access, node->operands, point);
    result = lanes ? loadVector(memref, offset, node->type, lanes, point.mask)
                   : memref::LoadOp::create(builder, loc, memref, offset);
    break;
  }
  case Node::Kind::Op: {
    Values operands;
    for (Node *operand : node->operands)
      operands.push_back(lanes ? valueAt(operand, point)
                               : evaluate(operand, point));
    result = emitOp(*node, operands, lanes);
    break;
  }
  case Node::Kind::Reduce:
  case Node::Kind::ArgReduce:
    llvm_unreachable("the sums are known before anything that needs them");
  }
  return point.memo[node] = result;
}

/// Computes the nodes, operands first, at all points: chains of instructions
/// run side by side.
void ContractionEmitter::evaluateAll(ArrayRef<Node *> nodes,
                                     MutableArrayRef<Point> points) {
  for (Node *node : nodes) {
    bool isTogether = node->kind == Node::Kind::Op && isApproximated(*node) &&
                      isWide(node, points.front());
    if (!isTogether) {
      for (Point &point : points)
        evaluate(node, point);
      continue;
    }
    approximateTogether(
        node, points, points.front().lanes,
        [&](Node *operand, Point &point) { return valueAt(operand, point); });
  }
}
