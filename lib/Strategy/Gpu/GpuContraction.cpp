//===- GpuContraction.cpp - Products through workgroup memory -------------===//

#include "GpuContraction.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kernelbrain::strategy;

GpuContractionEmitter::GpuContractionEmitter(const ContractionProblem &problem,
                                             const RowOptions &options,
                                             const GpuContractionOptions &tile,
                                             kb::KernelOp kernel,
                                             ModuleOp module)
    : GpuEmitter(*problem.program, options, kernel, module), problem(problem),
      tile(tile), left(planOperand(problem, true, tile.tensor)),
      right(planOperand(problem, false, tile.tensor)) {
  fastMath = tile.fastMath;
  auto limit = [&](GpuOperand &operand, int64_t length) {
    operand.vector =
        std::min({operand.vector, length * tile.tileDepth / tile.threads(),
                  operand.acrossDepth ? tile.tileDepth : length});
  };
  limit(left, tile.tileRows);
  limit(right, tile.tileColumns);
}

static bool reads(const Node *node, unsigned argument) {
  if (node->kind == Node::Kind::Input && node->access.argument == argument)
    return true;
  return llvm::any_of(node->operands, [&](const Node *operand) {
    return reads(operand, argument);
  });
}

bool GpuContractionEmitter::hasVectors(unsigned argument) const {
  return argument >= program.numInputs ||
         (left.vector > 1 && reads(left.node, argument)) ||
         (right.vector > 1 && reads(right.node, argument));
}

Value GpuContractionEmitter::extentAt(std::optional<unsigned> axis) {
  return extentValue(program.axes[*axis]);
}

//===----------------------------------------------------------------------===//
// The block
//===----------------------------------------------------------------------===//

void GpuContractionEmitter::emitNest(bool) {
  Value blocks = mulIndex(divideUp(extentAt(problem.m), tile.tileRows),
                          divideUp(extentAt(problem.n), tile.tileColumns));
  for (unsigned axis : problem.outer)
    blocks = mulIndex(blocks, extentAt(axis));
  auto elements = [&](const GpuOperand &operand, int64_t length) {
    return pitch(operand, length) *
           (liesAlongDepth(operand) ? length : tile.tileDepth);
  };
  // The widest access that any of them takes.
  int64_t bytes = std::max(left.vector * elementBytes(left.node->type),
                           right.vector * elementBytes(right.node->type));
  for (const Output &output : program.outputs)
    bytes = std::max(bytes, (tile.tensor ? 2 : tile.group()) *
                                elementBytes(output.node->type));
  emitLaunch({blocks}, {tile.threads()},
             {sharedType(elements(left, tile.tileRows), left.node->type),
              sharedType(elements(right, tile.tileColumns), right.node->type)},
             bytes, [&](Launch &arm) {
               launch = &arm;
               emitBlock();
             });
}

void GpuContractionEmitter::emitBlock() {
  thread = launch->thread[0];
  coordinates.assign(program.axes.size(), Value());
  Values extents;
  for (unsigned axis : problem.outer)
    extents.push_back(extentAt(axis));
  extents.push_back(divideUp(extentAt(problem.m), tile.tileRows));
  extents.push_back(divideUp(extentAt(problem.n), tile.tileColumns));
  Values at = digits(launch->block[0], extents);
  for (auto [axis, place] : llvm::zip(problem.outer, at))
    coordinates[axis] = place;
  rowStart = mulIndex(at[at.size() - 2], index(tile.tileRows));
  columnStart = mulIndex(at.back(), index(tile.tileColumns));
  Value part = thread;
  if (tile.tensor) {
    lane = arith::RemUIOp::create(builder, loc, thread, index(warpThreads));
    part = arith::DivUIOp::create(builder, loc, thread, index(warpThreads));
  }
  Value across = index(tile.tileColumns / tile.columns);
  ownColumn = arith::RemUIOp::create(builder, loc, part, across);
  ownRow = mulIndex(arith::DivUIOp::create(builder, loc, part, across),
                    index(tile.rows));

  Values state = startSums();
  size_t numSums = state.size();
  auto askBoth = [&](Value from) {
    Values values = ask(left, tile.tileRows, rowStart, from);
    values.append(ask(right, tile.tileColumns, columnStart, from));
    return values;
  };
  state.append(askBoth(index(0)));
  size_t numLeft = accesses(left, tile.tileRows);
  Value depth = index(problem.depth());
  Values results = emitLoop(
      index(0), depth, tile.tileDepth, state, [&](Value from, ValueRange old) {
        Values asked(old.drop_front(numSums));
        keep(left, tile.tileRows, launch->shared[0],
             ArrayRef(asked).take_front(numLeft));
        keep(right, tile.tileColumns, launch->shared[1],
             ArrayRef(asked).drop_front(numLeft));
        barrier();
        Values next = askBoth(addIndex(from, index(tile.tileDepth)));
        Values sums = tile.tensor ? addStepTensor(old.take_front(numSums))
                                  : addStep(old.take_front(numSums));
        barrier();
        sums.append(next);
        return sums;
      });
  for (const Run &run : runsOf(ArrayRef(results).take_front(numSums)))
    finish(run);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

bool GpuContractionEmitter::liesAlongDepth(const GpuOperand &operand) const {
  return tile.tensor && operand.acrossDepth;
}

/// Elements from one row of the buffer to the next: banks are not shared, and
/// vectors stay aligned.
int64_t GpuContractionEmitter::pitch(const GpuOperand &operand,
                                     int64_t length) const {
  return (liesAlongDepth(operand) ? tile.tileDepth : length) +
         (tile.tensor ? 8 : 4);
}

int64_t GpuContractionEmitter::accesses(const GpuOperand &operand,
                                        int64_t length) const {
  return length * tile.tileDepth / (operand.vector * tile.threads());
}

/// Which element the thread brings: along the operand's own axis, and along k.
std::pair<Value, Value>
GpuContractionEmitter::placeIn(const GpuOperand &operand, int64_t length,
                               int64_t number) {
  Value all = addIndex(thread, index(number * tile.threads()));
  int64_t perRow =
      (operand.acrossDepth ? tile.tileDepth : length) / operand.vector;
  Value inner = mulIndex(
      arith::RemUIOp::create(builder, loc, all, index(perRow)).getResult(),
      index(operand.vector));
  Value outer = arith::DivUIOp::create(builder, loc, all, index(perRow));
  return operand.acrossDepth ? std::pair(outer, inner)
                             : std::pair(inner, outer);
}

/// What the thread brings of a step that starts at `from`. Places beyond the
/// edges are read inside of them; beyond the end of k they count as zero.
ProgramEmitter::Values GpuContractionEmitter::ask(const GpuOperand &operand,
                                                  int64_t length, Value start,
                                                  Value from) {
  Values values;
  int64_t lanes = operand.vector == 1 ? 0 : operand.vector;
  int64_t depth = problem.depth();
  Values extents;
  for (unsigned axis : problem.k)
    extents.push_back(extentAt(axis));
  for (int64_t number = 0; number < accesses(operand, length); ++number) {
    auto [own, within] = placeIn(operand, length, number);
    Values at = coordinates;
    Value last =
        arith::SubIOp::create(builder, loc, extentAt(operand.own),
                              index(operand.acrossDepth ? 1 : operand.vector));
    at[*operand.own] =
        arith::MinUIOp::create(builder, loc, addIndex(start, own), last);
    Value k = addIndex(from, within);
    Value isInside;
    if (depth % tile.tileDepth)
      isInside = less(k, index(depth));
    k = arith::MinUIOp::create(
        builder, loc, k,
        index(depth - (operand.acrossDepth ? operand.vector : 1)));
    for (auto [axis, place] : llvm::zip(problem.k, digits(k, extents)))
      at[axis] = place;
    Memo memo;
    Value value = evaluate(
        operand.node, at, operand.acrossDepth ? problem.k.back() : *operand.own,
        lanes, memo);
    if (lanes && !isa<VectorType>(value.getType()))
      value = broadcast(value, lanes);
    if (isInside)
      value = arith::SelectOp::create(
          builder, loc, isInside, value,
          constant(builder.getZeroAttr(operand.node->type), lanes));
    values.push_back(value);
  }
  return values;
}

void GpuContractionEmitter::keep(const GpuOperand &operand, int64_t length,
                                 Value shared, ArrayRef<Value> values) {
  int64_t row = pitch(operand, length);
  for (auto [number, value] : llvm::enumerate(values)) {
    auto [own, within] = placeIn(operand, length, number);
    bool along = liesAlongDepth(operand);
    Value place = along ? addIndex(mulIndex(own, index(row)), within)
                        : addIndex(mulIndex(within, index(row)), own);
    if (along || !operand.acrossDepth) {
      storeLanes(value, shared, place, /*isAligned=*/true);
      continue;
    }
    for (auto [lane, element] : llvm::enumerate(lanesOf(value)))
      memref::StoreOp::create(builder, loc, element, shared,
                              addIndex(place, index(lane * row)));
  }
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

ProgramEmitter::Values GpuContractionEmitter::startSums() {
  if (!tile.tensor)
    return Values(tile.rows * tile.columns,
                  constant(neutral(problem.reduction), 0));
  return Values(tile.rows * tile.columns / warpThreads,
                constant(builder.getF32FloatAttr(0), 0));
}

ProgramEmitter::Values GpuContractionEmitter::addStep(ValueRange old) {
  Values sums(old);
  int64_t group = tile.group();
  int64_t leftRow = pitch(left, tile.tileRows);
  int64_t rightRow = pitch(right, tile.tileColumns);
  auto read = [&](Value shared, Value from, int64_t count, Type type) {
    return lanesOf(loadLanes(shared, from, type, count, /*isAligned=*/true));
  };
  for (int64_t depth = 0; depth < tile.tileDepth; ++depth) {
    Values a, b;
    for (int64_t row = 0; row < tile.rows;
         row += std::min<int64_t>(4, tile.rows))
      a.append(read(launch->shared[0],
                    addIndex(ownRow, index(depth * leftRow + row)),
                    std::min<int64_t>(4, tile.rows), left.node->type));
    for (int64_t first = 0; first < tile.columns; first += group)
      b.append(read(launch->shared[1],
                    addIndex(mulIndex(ownColumn, index(group)),
                             index(depth * rightRow +
                                   first * (tile.tileColumns / tile.columns))),
                    group, right.node->type));
    auto sum = sums.begin();
    for (Value x : a)
      for (Value y : b) {
        Memo memo{{problem.left, x}, {problem.right, y}};
        for (Node *node : problem.body) {
          Values operands;
          for (Node *operand : node->operands)
            operands.push_back(operand->kind == Node::Kind::Constant
                                   ? constant(operand->value, 0)
                                   : memo.lookup(operand));
          memo[node] = emitOp(*node, operands, 0);
        }
        *sum =
            combineExactly(problem.reduction,
                           memo.lookup(problem.reduction->operands[0]), *sum);
        ++sum;
      }
  }
  return sums;
}
