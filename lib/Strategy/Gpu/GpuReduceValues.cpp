//===- GpuReduceValues.cpp - Values and sums of a block -------------------===//

#include "GpuReduceEmitter.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kernelbrain::strategy;

Value GpuReduceEmitter::widened(Value value, int64_t lanes) {
  return isa<VectorType>(value.getType()) ? value : broadcast(value, lanes);
}

Value GpuReduceEmitter::row(Node *node) { return valueOf(node, rows); }

Value GpuReduceEmitter::valueOf(Node *node, Step &step) {
  if (node->kind == Node::Kind::Constant)
    return constant(node->value, 0);
  if (Value known = step.memo.lookup(node))
    return known;
  Value result;
  if (node->kind == Node::Kind::Op) {
    Values operands;
    for (Node *operand : node->operands)
      operands.push_back(widened(valueOf(operand, step), width(node)));
    result = emitOp(*node, operands, width(node));
  } else {
    assert(!node->isReduction() && "reductions are finished before");
    result = leaf(node, step);
  }
  return step.memo[node] = result;
}

Value GpuReduceEmitter::leaf(Node *node, Step &step) {
  bool isWide = program.variesAlongVectors(node);
  if (node->kind == Node::Kind::Index) {
    Value at = step.coordinates[node->axis];
    if (!isWide)
      return at;
    auto type = cast<VectorType>(typeFor(node->type, vector()));
    return arith::AddIOp::create(builder, loc, broadcast(at, vector()),
                                 vector::StepOp::create(builder, loc, type));
  }
  Values operands;
  for (Node *operand : node->operands)
    operands.push_back(valueOf(operand, step));
  return loadLanes(flat[node->access.argument],
                   accessOffset(node->access, step.coordinates, operands),
                   node->type, isWide ? vector() : 0, launch->isAligned);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

Value GpuReduceEmitter::neutralOf(const Node *reduction) {
  return constant(neutral(reduction),
                  along || isVector(reduction) ? vector() : 0);
}

/// The partial results of all members of a lane, in a tree of fixed shape.
/// Vectors along the reduction become one value first.
Value GpuReduceEmitter::joinMembers(const Node *reduction, Value partial) {
  if (along) {
    Values lanes = lanesOf(partial);
    for (size_t half = lanes.size() / 2; half > 0; half /= 2)
      for (size_t at = 0; at < half; ++at)
        lanes[at] = combine(reduction, lanes[at + half], lanes[at]);
    partial = lanes[0];
  }
  if (shape.members == 1)
    return partial;
  std::vector<const Node *> all = reductionsOf(plan);
  Value buffer = launch->shared[llvm::find(all, reduction) - all.begin()];
  Type type = reduction->type;
  int64_t width = along ? 0 : vector();
  int64_t perMember = shape.lanes * std::max<int64_t>(width, 1);
  auto place = [&](Value of) {
    return addIndex(mulIndex(of, index(perMember)),
                    mulIndex(lane, index(std::max<int64_t>(width, 1))));
  };
  Value own = place(member);
  barrier();
  storeLanes(partial, buffer, own, /*isAligned=*/true);
  for (int64_t half = shape.members / 2; half > 0; half /= 2) {
    barrier();
    emitIf(less(member, index(half)), [&] {
      Value mine = loadLanes(buffer, own, type, width, /*isAligned=*/true);
      Value other = loadLanes(buffer, addIndex(own, index(half * perMember)),
                              type, width, /*isAligned=*/true);
      storeLanes(combine(reduction, other, mine), buffer, own,
                 /*isAligned=*/true);
    });
  }
  barrier();
  return loadLanes(buffer, place(index(0)), type, width, /*isAligned=*/true);
}

/// The workspace of one reduction, as elements.
Value GpuReduceEmitter::partials(const Node *reduction) {
  int64_t points = reduce.splits * outerPoints(program) * rowExtent(program);
  int64_t at = 0;
  for (const Node *node : reductionsOf(plan)) {
    if (node == reduction)
      break;
    at += llvm::alignTo(points * elementBytes(node->type), partialAlignment);
  }
  return memref::ViewOp::create(
      builder, loc, MemRefType::get({points}, reduction->type),
      function.getArguments().back(), index(at), ValueRange());
}

/// What the blocks before left, combined.
Value GpuReduceEmitter::loadPartials(const Node *reduction) {
  int64_t width = along ? 0 : vector();
  Value memory = partials(reduction);
  Value start = constant(neutral(reduction), width);
  Values results = emitLoop(
      member, index(reduce.splits), shape.members, {start},
      [&](Value number, ValueRange old) {
        Value place =
            addIndex(mulIndex(number, index(outerPoints(program))), outer);
        place = addIndex(mulIndex(place, index(rowExtent(program))), column);
        Value x = loadLanes(memory, place, reduction->type, width,
                            /*isAligned=*/true);
        return Values{combine(reduction, x, old[0])};
      });
  Value sum = results[0];
  if (along)
    sum = fromLanes(sum, reduction->type);
  return joinMembers(reduction, sum);
}

/// A reduction whose elements are all combined: its initial value joins them.
void GpuReduceEmitter::finish(Node *reduction, Value partial) {
  Value init = row(reduction->operands[1]);
  rows.memo[reduction] =
      combineExactly(reduction, partial, widened(init, along ? 0 : vector()));
}
