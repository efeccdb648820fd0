//===- ContractionAccumulator.cpp - Types in which sums are taken ---------===//

#include "ContractionProblem.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace kernelbrain;
using namespace kernelbrain::strategy;

Node *kernelbrain::strategy::narrowed(RowProgram &program, Node *node,
                                      Type type) {
  if (node->type == type)
    return node;
  unsigned bits = type.getIntOrFloatBitWidth();
  if (node->kind == Node::Kind::Constant)
    return program.constant(IntegerAttr::get(
        type, cast<IntegerAttr>(node->value).getValue().trunc(bits)));
  if (node->isOp("arith.muli") || node->isOp("arith.addi") ||
      node->isOp("arith.subi"))
    return program.op(node->name, type,
                      {narrowed(program, node->operands[0], type),
                       narrowed(program, node->operands[1], type)});
  bool extends = node->isOp("arith.extsi") || node->isOp("arith.extui");
  if (extends || node->isOp("arith.trunci")) {
    Node *source = node->operands[0];
    if (source->type.getIntOrFloatBitWidth() < bits)
      return program.op(node->name, type, {source});
    return narrowed(program, source, type);
  }
  return program.op("arith.trunci", type, {node});
}

/// Replaces `from` by `to` in everything that is live.
static void substitute(RowProgram &program, Node *from, Node *to) {
  llvm::DenseMap<Node *, Node *> made;
  for (Node *node : program.live()) {
    SmallVector<Node *> operands;
    for (Node *operand : node->operands)
      operands.push_back(made.lookup(operand));
    made[node] = node == from ? to : program.remake(*node, operands);
  }
  for (Output &output : program.outputs)
    output.node = made.lookup(output.node);
}

/// The type to which every user of an integer sum cuts it, if there is one.
static Type commonTruncation(const RowProgram &program, const Node *sum) {
  Type type;
  for (const Node *node : program.live())
    if (llvm::is_contained(node->operands, sum)) {
      if (!node->isOp("arith.trunci") || (type && type != node->type))
        return nullptr;
      type = node->type;
    }
  for (const Output &output : program.outputs)
    if (output.node == sum)
      return nullptr;
  return type;
}

static Node *widened(RowProgram &program, Node *node, Type type) {
  bool isArithmetic = node->isOp("arith.mulf") || node->isOp("arith.addf") ||
                      node->isOp("arith.subf");
  if (!isArithmetic)
    return program.op("arith.extf", type, {node});
  return program.op(node->name, type,
                    {widened(program, node->operands[0], type),
                     widened(program, node->operands[1], type)});
}

/// trunci(extsi(x)) = x.
static void dropRoundTrips(RowProgram &program) {
  for (Node *node : program.live())
    if (node->isOp("arith.trunci") && node->operands[0]->isOp("arith.extsi") &&
        node->operands[0]->operands[0]->type == node->type)
      return substitute(program, node, node->operands[0]->operands[0]);
}

void kernelbrain::strategy::chooseAccumulator(RowProgram &program, Node *sum,
                                              const Numerics &numerics) {
  bool isNarrowFloat = sum->type.isF16() || sum->type.isBF16();
  if (sum->reduce == ReduceKind::AddI) {
    if (Type type = commonTruncation(program, sum)) {
      Node *narrow =
          program.reduce(sum->reduce, narrowed(program, sum->operands[0], type),
                         narrowed(program, sum->operands[1], type));
      Type old = sum->type;
      substitute(program, sum, program.op("arith.extsi", old, {narrow}));
    }
  } else if (sum->reduce == ReduceKind::AddF && isNarrowFloat &&
             numerics.skipIntermediateRounding) {
    Type f32 = Float32Type::get(program.getContext());
    Type old = sum->type;
    Node *wide =
        program.reduce(sum->reduce, widened(program, sum->operands[0], f32),
                       program.op("arith.extf", f32, {sum->operands[1]}));
    substitute(program, sum, program.op("arith.truncf", old, {wide}));
  }
  dropRoundTrips(program);
}
