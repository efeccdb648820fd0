//===- GpuArithmetic.cpp - Operations as a GPU wants them -----------------===//

#include "GpuEmitter.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace kernelbrain::strategy;

/// True for 1 + e^x, the divisor of a logistic function.
static bool isAtLeastOne(const Node *node) {
  if (!node->isOp("arith.addf"))
    return false;
  auto [a, b] = std::pair(node->operands[0], node->operands[1]);
  auto isThat = [](const Node *exponential, const Node *number) {
    return exponential->isOp("math.exp") &&
           constantValue(number).value_or(0) >= 1;
  };
  return isThat(a, b) || isThat(b, a);
}

/// Without the care that quotients take of denormal divisors.
ProgramEmitter::Value GpuEmitter::timesReciprocal(Value a, Value b) {
  Values reciprocals;
  for (Value lane : lanesOf(b))
    reciprocals.push_back(NVVM::RcpApproxFtzF32Op::create(
        builder, loc, builder.getF32Type(), lane));
  Value reciprocal = isa<VectorType>(b.getType())
                         ? fromLanes(reciprocals, builder.getF32Type())
                         : reciprocals.front();
  return arith::MulFOp::create(builder, loc, a, reciprocal);
}

/// Functions that the hardware approximates; null for others.
Value GpuEmitter::fastFunction(const Node &node, ArrayRef<Value> operands,
                               int64_t lanes) {
  auto afn = arith::FastMathFlagsAttr::get(
      builder.getContext(),
      arith::FastMathFlags::afn |
          (options.contract ? arith::FastMathFlags::contract
                            : arith::FastMathFlags::none));
  auto make = [&](StringRef name, ArrayRef<Value> values) {
    OperationState state(loc, name);
    state.addOperands(values);
    state.addTypes(values[0].getType());
    state.addAttribute("fastmath", afn);
    return builder.create(state)->getResult(0);
  };
  auto scaled = [&](Value value, double factor) {
    Value by = constant(builder.getF32FloatAttr(factor), lanes);
    return make("arith.mulf", {value, by});
  };
  if (node.name == "math.exp")
    return make("math.exp2", {scaled(operands[0], M_LOG2E)});
  if (node.name == "math.log")
    return scaled(make("math.log2", {operands[0]}), M_LN2);
  if (node.name == "arith.divf" && isAtLeastOne(node.operands[1]))
    return timesReciprocal(operands[0], operands[1]);
  bool isFast = llvm::StringSwitch<bool>(node.name)
                    .Cases({"math.exp2", "math.log2", "math.sqrt", "math.rsqrt",
                            "math.tanh", "arith.divf"},
                           true)
                    .Default(false);
  return isFast ? make(node.name, operands) : Value();
}

/// Halves or vectors of them as f32. A bf16 is the upper half of its f32: two
/// that share a register take one instruction each.
Value GpuEmitter::widened(Value value) {
  Type f32 = builder.getF32Type();
  auto vector = dyn_cast<VectorType>(value.getType());
  if (!vector)
    return arith::ExtFOp::create(builder, loc, f32, value);
  if (!vector.getElementType().isBF16() || vector.getNumElements() % 2)
    return arith::ExtFOp::create(builder, loc, vector.clone(f32), value);
  int64_t pairs = vector.getNumElements() / 2;
  auto words = VectorType::get(pairs, builder.getI32Type());
  auto floats = VectorType::get(pairs, f32);
  auto splat = [&](int32_t word) {
    return arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(words, builder.getI32IntegerAttr(word)));
  };
  Value both = vector::BitCastOp::create(builder, loc, words, value);
  Value first = arith::ShLIOp::create(builder, loc, both, splat(16));
  Value second = arith::AndIOp::create(builder, loc, both, splat(0xffff0000));
  return vector::InterleaveOp::create(
      builder, loc, arith::BitcastOp::create(builder, loc, floats, first),
      arith::BitcastOp::create(builder, loc, floats, second));
}

Value GpuEmitter::emitOp(const Node &node, ArrayRef<Value> operands,
                         int64_t lanes) {
  StringRef name = node.name;
  if (name == "arith.extf" && node.type.isF32())
    return widened(operands[0]);
  bool isHalf = node.type.isF16() || node.type.isBF16();
  bool isCast = name == "arith.truncf" || name == "arith.extf" ||
                name == "arith.bitcast" || name == "arith.select";
  if (!isHalf || isCast) {
    if (fastMath && node.type.isF32())
      if (Value fast = fastFunction(node, operands, lanes))
        return fast;
    return emitPlainOp(node, operands, lanes);
  }
  // One rounding of an f32 result is that of the operation itself.
  Type f32 = builder.getF32Type();
  Values wide(operands);
  for (Value &operand : wide)
    if (getElementTypeOrSelf(operand.getType()) == node.type)
      operand = widened(operand);
  Node model = node;
  model.type = f32;
  Value result = fastMath ? fastFunction(model, wide, lanes) : Value();
  // Without fusion, which would skip a rounding.
  if (!result) {
    OperationState state(loc, name);
    state.addOperands(wide);
    state.addTypes(typeFor(f32, lanes));
    if (node.attributes)
      state.addAttributes(node.attributes.getValue());
    result = builder.create(state)->getResult(0);
  }
  return arith::TruncFOp::create(builder, loc, typeFor(node.type, lanes),
                                 result);
}
