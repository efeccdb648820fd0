//===- RowOps.cpp - Code for the nodes of a row program -------------------===//

#include "RowEmitter.h"
#include "RowRange.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace kernelbrain::strategy;

Type ProgramEmitter::typeFor(Type scalar, int64_t lanes) const {
  return lanes ? Type(VectorType::get({lanes}, scalar)) : scalar;
}

Value ProgramEmitter::constant(TypedAttr value, int64_t lanes) {
  if (lanes)
    value = DenseElementsAttr::get(
        cast<VectorType>(typeFor(value.getType(), lanes)), Attribute(value));
  return arith::ConstantOp::create(builder, loc, value);
}

Value ProgramEmitter::broadcast(Value scalar, int64_t lanes) {
  if (!lanes)
    return scalar;
  return vector::BroadcastOp::create(builder, loc,
                                     typeFor(scalar.getType(), lanes), scalar);
}

Value ProgramEmitter::load(Value memref, Value offset, Type type,
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

void ProgramEmitter::store(Value value, Value memref, Value offset,
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

/// The value of a node in a slot, after evaluate().
Value RowEmitter::valueIn(Node *node, const Slot &slot) {
  Value known = program.variesAlongColumns(node) ? slot.memo.lookup(node)
                : slot.lanes                     ? rowVectors.lookup(node)
                                                 : rowValue(node);
  assert(known && "operands come before their users");
  return known;
}

/// Computes everything that the sweep needs in these slots, node by node: the
/// slots' chains of instructions run side by side.
void RowEmitter::evaluate(const Sweep &sweep, MutableArrayRef<Slot> slots) {
  for (Node *node : sweep.matrices) {
    bool isPlain = node->kind != Node::Kind::Op || isKept(node);
    if (isPlain || !isApproximated(*node)) {
      for (Slot &slot : slots)
        slot.memo[node] =
            isPlain ? leafValue(node, slot)
                    : emitOp(*node, operandsIn(node, slot), slot.lanes);
      continue;
    }
    approximateTogether(
        node, slots, slots.front().lanes,
        [&](Node *operand, Slot &slot) { return valueIn(operand, slot); });
  }
}

RowEmitter::Values RowEmitter::operandsIn(Node *node, const Slot &slot) {
  Values operands;
  for (Node *operand : node->operands)
    operands.push_back(valueIn(operand, slot));
  return operands;
}

bool RowEmitter::isKept(const Node *node) const {
  auto kept = plan.kept.find(node);
  return kept != plan.kept.end() && kept->second.sweep < sweepNumber;
}

/// Kept values, inputs and indices.
Value RowEmitter::leafValue(Node *node, const Slot &slot) {
  if (isKept(node)) {
    int output = plan.kept.at(node).output;
    if (output < 0)
      return load(stack[node], slot.column, node->type, slot);
    return load(flat[program.numInputs + output],
                addIndex(outputOffsets[output], slot.column), node->type, slot);
  }
  if (node->kind == Node::Kind::Input)
    return load(flat[node->access.argument],
                addIndex(inputOffsets.lookup(node), slot.column), node->type,
                slot);
  Value column = broadcast(slot.column, slot.lanes);
  if (!slot.lanes)
    return column;
  auto type = cast<VectorType>(typeFor(builder.getIndexType(), slot.lanes));
  return arith::AddIOp::create(builder, loc, column,
                               vector::StepOp::create(builder, loc, type));
}

bool ProgramEmitter::isApproximated(const Node &node) {
  bool isNarrow = node.type.isF16() || node.type.isBF16();
  return llvm::StringSwitch<bool>(node.name)
      .Cases({"math.exp", "math.log", "math.erf", "math.tanh", "math.rsqrt"},
             node.type.isF32() || isNarrow)
      .Default(false);
}

ProgramEmitter::Values ProgramEmitter::emitApproximation(const Node &node,
                                                         ValueRange arguments,
                                                         int64_t lanes) {
  bool isNarrow = !node.type.isF32();
  Values x(arguments);
  for (Value &value : x)
    if (isNarrow)
      value = arith::ExtFOp::create(
          builder, loc, typeFor(builder.getF32Type(), lanes), value);
  Values y;
  if (node.name == "math.exp")
    y = emitExp(builder, loc, x,
                {options.expForm, options.expDegree,
                 isNonPositive(node.operands[0]), options.expBase2});
  else if (node.name == "math.log")
    y = emitLog(builder, loc, x);
  else if (node.name == "math.erf")
    y = emitErf(builder, loc, x, options.erfDegree);
  else if (node.name == "math.tanh")
    y = emitTanh(builder, loc, x, options.expForm);
  else
    y = emitRsqrt(builder, loc, x);
  for (Value &value : y)
    if (isNarrow)
      value = arith::TruncFOp::create(builder, loc, typeFor(node.type, lanes),
                                      value);
  return y;
}

Value ProgramEmitter::emitOp(const Node &node, ArrayRef<Value> operands,
                             int64_t lanes) {
  if (isApproximated(node))
    return emitApproximation(node, operands, lanes)[0];
  return emitPlainOp(node, operands, lanes);
}

Value ProgramEmitter::emitPlainOp(const Node &node, ArrayRef<Value> operands,
                                  int64_t lanes) {
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
