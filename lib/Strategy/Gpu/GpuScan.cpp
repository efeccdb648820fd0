//===- GpuScan.cpp - Prefixes of rows -------------------------------------===//

#include "GpuScan.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kernelbrain::strategy;

/// Combines what comes before with what follows.
Value GpuScanEmitter::joined(Value before, Value next) {
  return combineExactly(&step, next, before);
}

void GpuScanEmitter::emitNest(bool) {
  int64_t count = 1, bytes = 1;
  for (unsigned axis = 0; axis < program.numRowAxes; ++axis)
    count *= program.axes[axis].factor;
  for (Type type : program.elementTypes)
    bytes = std::max(bytes, elementBytes(type));
  int64_t columns = program.columns().factor;
  Value blocks = index(llvm::divideCeil(count, shape.rows));
  emitLaunch({blocks}, {warpThreads, shape.warps, shape.rows},
             {sharedType(shape.warps * shape.rows, step.type)},
             shape.vector == 1 ? 1 : shape.vector * bytes, [&](Launch &arm) {
               launch = &arm;
               enterBlock();
               Memo memo;
               Value carry = valueOf(scan.init, {}, memo);
               if (columns <= shape.pass()) {
                 emitPass(index(0), carry);
                 return;
               }
               emitLoop(index(0), index(columns), shape.pass(), {carry},
                        [&](Value from, ValueRange old) {
                          return Values{emitPass(from, old[0])};
                        });
             });
}

void GpuScanEmitter::enterBlock() {
  lane = launch->thread[0];
  warp = launch->thread[1];
  rowInBlock = launch->thread[2];
  rowIsInside = nullptr;
  int64_t count = 1;
  Values extents;
  for (unsigned axis = 0; axis < program.numRowAxes; ++axis) {
    count *= program.axes[axis].factor;
    extents.push_back(extentValue(program.axes[axis]));
  }
  Value row =
      addIndex(mulIndex(launch->block[0], index(shape.rows)), rowInBlock);
  if (count % shape.rows) {
    // Rows beyond the last do its work in vain.
    rowIsInside = less(row, index(count));
    row = arith::MinUIOp::create(builder, loc, row, index(count - 1));
  }
  coordinates = digits(row, extents);
  coordinates.push_back(nullptr);
}

/// A vector of the row; what lies beyond its end changes nothing.
ProgramEmitter::Values GpuScanEmitter::elementsAt(Value place, Value isInside) {
  Memo memo;
  Value x = valueOf(program.outputs[0].node, place, memo);
  Values lanes(shape.vector, x);
  if (isa<VectorType>(x.getType()))
    lanes = lanesOf(x);
  if (isInside)
    for (Value &value : lanes)
      value = arith::SelectOp::create(builder, loc, isInside, value,
                                      neutralValue());
  return lanes;
}

/// Asks for the vectors of a pass from column `from` on.
SmallVector<GpuScanEmitter::Part> GpuScanEmitter::readPass(Value from) {
  int64_t vector = shape.vector, columns = program.columns().factor;
  int64_t perStep = warpThreads * vector;
  Value start = addIndex(from, mulIndex(warp, index(shape.steps * perStep)));
  start = addIndex(start, mulIndex(lane, index(vector)));
  SmallVector<Part> parts(shape.steps);
  for (auto [number, part] : llvm::enumerate(parts)) {
    part.place = addIndex(start, index(number * perStep));
    if (columns % shape.pass() != 0) {
      part.isInside = less(part.place, index(columns));
      part.place = arith::MinUIOp::create(builder, loc, part.place,
                                          index(columns - vector));
    }
    part.elements = elementsAt(part.place, part.isInside);
  }
  return parts;
}

/// Combines within vectors, and sets what comes before each in the warp.
/// Returns all of the warp.
Value GpuScanEmitter::joinWarp(MutableArrayRef<Part> parts) {
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        lane, index(0));
  Value ofWarp = neutralValue();
  for (Part &part : parts) {
    for (int64_t at = 1; at < shape.vector; ++at)
      part.elements[at] = joined(part.elements[at - 1], part.elements[at]);
    Value sum = part.elements.back();
    for (int64_t distance = 1; distance < warpThreads; distance *= 2) {
      Value other = fromLane(sum, gpu::ShuffleMode::UP, distance);
      Value isThere = less(index(distance - 1), lane);
      sum = arith::SelectOp::create(builder, loc, isThere, joined(other, sum),
                                    sum);
    }
    Value before = fromLane(sum, gpu::ShuffleMode::UP, 1);
    before =
        arith::SelectOp::create(builder, loc, isFirst, neutralValue(), before);
    part.before = joined(ofWarp, before);
    ofWarp =
        joined(ofWarp, fromLane(sum, gpu::ShuffleMode::IDX, warpThreads - 1));
  }
  return ofWarp;
}

/// What comes before the warp in the row, and before the next pass.
std::pair<Value, Value> GpuScanEmitter::joinWarps(Value ofWarp, Value carry) {
  if (shape.warps == 1)
    return {carry, joined(carry, ofWarp)};
  Value shared = launch->shared[0];
  Value own = mulIndex(rowInBlock, index(shape.warps));
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        lane, index(0));
  barrier();
  emitIf(isFirst, [&] {
    memref::StoreOp::create(builder, loc, ofWarp, shared, addIndex(own, warp));
  });
  barrier();
  Value before = carry, all = carry;
  for (int64_t number = 0; number < shape.warps; ++number) {
    Value other = memref::LoadOp::create(builder, loc, shared,
                                         addIndex(own, index(number)));
    all = joined(all, other);
    before = arith::SelectOp::create(builder, loc, less(index(number), warp),
                                     joined(before, other), before);
  }
  return {before, all};
}

/// Writes the prefixes from column `from` on; returns what the next pass starts
/// with.
Value GpuScanEmitter::emitPass(Value from, Value carry) {
  SmallVector<Part> parts = readPass(from);
  auto [before, all] = joinWarps(joinWarp(parts), carry);
  for (const Part &part : parts)
    storePart(part, joined(before, part.before));
  return all;
}

void GpuScanEmitter::storePart(const Part &part, Value base) {
  const Output &output = program.outputs[0];
  Values results;
  for (int64_t at = 0; at < shape.vector; ++at) {
    bool isBase = scan.exclusive && at == 0;
    results.push_back(
        isBase ? base
               : joined(base, part.elements[at - int64_t(scan.exclusive)]));
  }
  Values at = coordinates;
  at.back() = part.place;
  auto store = [&] {
    storeLanes(fromLanes(results, step.type), flat[output.access.argument],
               accessOffset(output.access, at, {}), launch->isAligned);
  };
  Value condition = rowIsInside;
  if (part.isInside)
    condition = condition ? arith::AndIOp::create(builder, loc, condition,
                                                  part.isInside)
                                .getResult()
                          : part.isInside;
  condition ? emitIf(condition, store) : store();
}

/// At the vector from column `place` on; a scalar if it is the same in it.
Value GpuScanEmitter::valueOf(Node *node, Value place, Memo &memo) {
  if (node->kind == Node::Kind::Constant)
    return constant(node->value, 0);
  if (Value known = memo.lookup(node))
    return known;
  int64_t lanes = program.variesAlongColumns(node) ? shape.vector : 0;
  Values operands, at = coordinates;
  at.back() = place;
  for (Node *operand : node->operands)
    operands.push_back(valueOf(operand, place, memo));
  Value result;
  if (node->kind == Node::Kind::Op) {
    for (Value &operand : operands)
      if (lanes && !isa<VectorType>(operand.getType()))
        operand = broadcast(operand, lanes);
    result = emitOp(*node, operands, lanes);
  } else if (node->kind == Node::Kind::Index) {
    result = at[node->axis];
    if (lanes)
      result = arith::AddIOp::create(
          builder, loc, broadcast(result, lanes),
          vector::StepOp::create(builder, loc,
                                 cast<VectorType>(typeFor(node->type, lanes))));
  } else {
    result = loadLanes(flat[node->access.argument],
                       accessOffset(node->access, at, operands), node->type,
                       lanes, launch->isAligned);
  }
  return memo[node] = result;
}
