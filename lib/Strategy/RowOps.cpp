//===- RowOps.cpp - Code for the nodes of a row program -------------------===//

#include "RowEmitter.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace kernelbrain::strategy;

Type RowEmitter::typeFor(Type scalar, int64_t lanes) const {
  return lanes ? Type(VectorType::get({lanes}, scalar)) : scalar;
}

Value RowEmitter::constant(TypedAttr value, int64_t lanes) {
  if (lanes)
    value = DenseElementsAttr::get(
        cast<VectorType>(typeFor(value.getType(), lanes)), Attribute(value));
  return arith::ConstantOp::create(builder, loc, value);
}

Value RowEmitter::broadcast(Value scalar, int64_t lanes) {
  if (!lanes)
    return scalar;
  return vector::BroadcastOp::create(builder, loc,
                                     typeFor(scalar.getType(), lanes), scalar);
}

Value RowEmitter::load(Value memref, Value offset, Type type,
                       const Slot &slot) {
  if (!slot.lanes)
    return memref::LoadOp::create(builder, loc, memref, offset);
  auto vector = cast<VectorType>(typeFor(type, slot.lanes));
  if (!slot.mask)
    return vector::LoadOp::create(builder, loc, vector, memref, offset);
  // Lanes that do not exist hold 1 in integers: they may become divisors.
  TypedAttr filler = isa<FloatType>(type)
                         ? TypedAttr(builder.getFloatAttr(type, 0))
                         : TypedAttr(builder.getIntegerAttr(type, 1));
  return vector::MaskedLoadOp::create(builder, loc, vector, memref, offset,
                                      slot.mask, constant(filler, slot.lanes));
}

void RowEmitter::store(Value value, Value memref, Value offset,
                       const Slot &slot, bool nontemporal) {
  if (!slot.lanes) {
    memref::StoreOp::create(builder, loc, value, memref, offset);
    return;
  }
  if (slot.mask) {
    vector::MaskedStoreOp::create(builder, loc, memref, offset, slot.mask,
                                  value);
    return;
  }
  auto type = cast<VectorType>(value.getType());
  auto op = vector::StoreOp::create(builder, loc, value, memref, offset);
  if (!nontemporal)
    return;
  op.setNontemporal(true);
  // Without it LLVM writes elements one by one; with it the address must be
  // aligned, which the caller has tested.
  int64_t bytes = slot.lanes * elementBytes(type.getElementType());
  op.setAlignmentAttr(builder.getI64IntegerAttr(std::min<int64_t>(bytes, 64)));
}

Value RowEmitter::matrixValue(Node *node, Slot &slot) {
  if (!program.variesAlongColumns(node)) {
    Value known = slot.lanes ? rowVectors.lookup(node) : rowValue(node);
    assert(known && "row values are there before the sweep starts");
    return known;
  }
  if (Value known = slot.memo.lookup(node))
    return known;
  auto kept = plan.kept.find(node);
  Value result;
  if (kept != plan.kept.end() && kept->second.sweep < sweepNumber) {
    int output = kept->second.output;
    Value offset =
        output < 0 ? slot.column : addIndex(outputOffsets[output], slot.column);
    Value memref = output < 0 ? stack[node] : flat[program.numInputs + output];
    result = load(memref, offset, node->type, slot);
  } else if (node->kind == Node::Kind::Input) {
    Value offset = inputOffsets.lookup(node);
    // Columns of zero stride come here through a gather in the row only.
    result = load(flat[node->access.argument], addIndex(offset, slot.column),
                  node->type, slot);
  } else if (node->kind == Node::Kind::Index) {
    result = broadcast(slot.column, slot.lanes);
    if (slot.lanes)
      result = arith::AddIOp::create(
          builder, loc, result,
          vector::StepOp::create(
              builder, loc,
              cast<VectorType>(typeFor(builder.getIndexType(), slot.lanes))));
  } else {
    Values operands;
    for (Node *operand : node->operands)
      operands.push_back(matrixValue(operand, slot));
    result = emitOp(*node, operands, slot.lanes);
  }
  return slot.memo[node] = result;
}

Value RowEmitter::emitApproximation(const Node &node, Value x) {
  if (node.name == "math.exp")
    return emitExp(builder, loc, x, options.expForm, options.expDegree,
                   isNonPositive(node.operands[0]));
  if (node.name == "math.log")
    return emitLog(builder, loc, x);
  if (node.name == "math.erf")
    return emitErf(builder, loc, x, options.erfDegree);
  if (node.name == "math.tanh")
    return emitTanh(builder, loc, x, options.expForm);
  if (node.name == "math.rsqrt")
    return emitRsqrt(builder, loc, x);
  return nullptr;
}

Value RowEmitter::emitOp(const Node &node, ArrayRef<Value> operands,
                         int64_t lanes) {
  bool isNarrow = node.type.isF16() || node.type.isBF16();
  bool isApproximated = llvm::StringSwitch<bool>(node.name)
                            .Cases({"math.exp", "math.log", "math.erf",
                                    "math.tanh", "math.rsqrt"},
                                   node.type.isF32() || isNarrow)
                            .Default(false);
  if (isApproximated) {
    Value x = operands[0];
    Type wide = typeFor(builder.getF32Type(), lanes);
    if (isNarrow)
      x = arith::ExtFOp::create(builder, loc, wide, x);
    x = emitApproximation(node, x);
    if (isNarrow)
      x = arith::TruncFOp::create(builder, loc, typeFor(node.type, lanes), x);
    return x;
  }
  OperationState state(loc, node.name);
  state.addOperands(operands);
  state.addTypes(typeFor(node.type, lanes));
  if (node.attributes)
    state.addAttributes(node.attributes.getValue());
  // LLVM fuses a multiplication into an addition where both allow it. Narrower
  // types are rounded after each operation, as the program says.
  bool mayFuse = options.contract && (node.type.isF32() || node.type.isF64()) &&
                 (node.name == "arith.addf" || node.name == "arith.subf" ||
                  node.name == "arith.mulf");
  if (mayFuse && !(node.attributes && node.attributes.get("fastmath")))
    state.addAttribute(
        "fastmath", arith::FastMathFlagsAttr::get(
                        builder.getContext(), arith::FastMathFlags::contract));
  return builder.create(state)->getResult(0);
}

Value RowEmitter::rowValue(Node *node) {
  if (Value known = rowValues.lookup(node))
    return known;
  Value result;
  switch (node->kind) {
  case Node::Kind::Constant:
    result = constant(node->value, 0);
    break;
  case Node::Kind::Index:
    result = rows[node->axis];
    break;
  case Node::Kind::Input:
    result = memref::LoadOp::create(builder, loc, flat[node->access.argument],
                                    rowOffset(node->access, node->operands));
    break;
  case Node::Kind::Op: {
    Values operands;
    for (Node *operand : node->operands)
      operands.push_back(rowValue(operand));
    result = emitOp(*node, operands, 0);
    break;
  }
  case Node::Kind::Reduce:
  case Node::Kind::ArgReduce:
    llvm_unreachable("reductions are there when their sweep is done");
  }
  return rowValues[node] = result;
}
