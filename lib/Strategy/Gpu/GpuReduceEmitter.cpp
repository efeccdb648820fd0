//===- GpuReduceEmitter.cpp - Reductions shared by many threads -----------===//

#include "GpuReduceEmitter.h"
#include "../ColumnEmitter.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kernelbrain::strategy;
using namespace kernelbrain;

bool kernelbrain::strategy::isAlongReduction(const RowProgram &program) {
  return program.vectorAxis >= program.numRowAxes;
}

int64_t kernelbrain::strategy::rowExtent(const RowProgram &program) {
  return isAlongReduction(program) ? 1
                                   : program.axes[program.vectorAxis].factor;
}

int64_t kernelbrain::strategy::outerPoints(const RowProgram &program) {
  int64_t points = 1;
  for (unsigned axis = 0; axis < program.numRowAxes; ++axis)
    if (axis != program.vectorAxis)
      points *= program.axes[axis].evaluate(program.dimHints);
  return points;
}

int64_t kernelbrain::strategy::stripsOf(const RowProgram &program,
                                        const GpuReduceOptions &options) {
  return isAlongReduction(program)
             ? 1
             : llvm::divideCeil(rowExtent(program),
                                options.lanes * options.vector);
}

std::vector<const Node *>
kernelbrain::strategy::reductionsOf(const RowPlan &plan) {
  std::vector<const Node *> all;
  for (const Sweep &sweep : plan.sweeps)
    all.insert(all.end(), sweep.reductions.begin(), sweep.reductions.end());
  return all;
}

int64_t
kernelbrain::strategy::reduceWorkspace(const RowProgram &program,
                                       const RowPlan &plan,
                                       const GpuReduceOptions &options) {
  if (options.splits == 1)
    return 0;
  int64_t points = options.splits * outerPoints(program) * rowExtent(program);
  int64_t bytes = 0;
  for (const Node *node : reductionsOf(plan))
    bytes += llvm::alignTo(points * elementBytes(node->type), partialAlignment);
  return bytes;
}

int64_t kernelbrain::strategy::reduceShared(const RowProgram &program,
                                            const RowPlan &plan,
                                            const GpuReduceOptions &options) {
  int64_t vector = isAlongReduction(program) ? 1 : options.vector;
  int64_t bytes = 0;
  for (const Node *node : reductionsOf(plan))
    bytes +=
        options.members * options.lanes * vector * elementBytes(node->type);
  return bytes;
}

int64_t kernelbrain::strategy::reduceLaunches(const RowPlan &plan,
                                              const GpuReduceOptions &options) {
  if (options.splits == 1)
    return 1;
  bool endsInReduction = !plan.sweeps.back().reductions.empty();
  return plan.sweeps.size() + endsInReduction;
}

GpuReduceEmitter::GpuReduceEmitter(const RowProgram &program,
                                   const RowPlan &plan,
                                   const RowOptions &options,
                                   const GpuReduceOptions &reduce,
                                   const GpuReduceFallback *fallback,
                                   kb::KernelOp kernel, ModuleOp module)
    : GpuEmitter(program, options, kernel, module), plan(plan), reduce(reduce),
      along(isAlongReduction(program)), vectorNode(program.nodes().size()) {
  if (!program.guards.empty())
    exact = std::make_unique<GpuReduceEmitter>(
        *fallback->program, fallback->plan, options, reduce,
        /*fallback=*/nullptr, kernel, module);
  fastMath = reduce.fastMath;
  workspaceBytes = reduceWorkspace(program, plan, reduce);
  vectorNode =
      along ? std::vector<bool>(program.nodes().size()) : vectorNodes(program);
  if (along)
    for (const std::unique_ptr<Node> &node : program.nodes())
      vectorNode[node->id] = program.variesAlongColumns(node.get());
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// All sweeps in one launch, or one launch a sweep where blocks share them.
void GpuReduceEmitter::emitNest(bool) {
  if (reduce.splits == 1)
    return emitStage(0, plan.sweeps.size());
  for (size_t sweep = 0; sweep < plan.sweeps.size(); ++sweep)
    emitStage(sweep, 1);
  if (!plan.sweeps.back().reductions.empty())
    emitStage(plan.sweeps.size(), 0);
}

/// The launch for `count` sweeps, and for the values of rows behind the last.
void GpuReduceEmitter::emitStage(size_t first, size_t count) {
  shape = reduce;
  if (count == 0) {
    // Few steps are left: the partial results.
    shape.splits = 1;
    shape.members =
        std::min<int64_t>(reduce.members, llvm::PowerOf2Ceil(reduce.splits));
    if (!along)
      shape.vector = 1;
  }
  SmallVector<MemRefType> shared;
  for (const Node *node : reductionsOf(plan))
    shared.push_back(sharedType(
        shape.members * shape.lanes * (along ? 1 : shape.vector), node->type));
  if (exact)
    for (const Node *node : reductionsOf(exact->plan))
      shared.push_back(sharedType(shape.members * shape.lanes, node->type));
  Value blocks = index(stripsOf(program, shape));
  for (unsigned axis = 0; axis < program.numRowAxes; ++axis)
    if (axis != program.vectorAxis)
      blocks = mulIndex(blocks, extentValue(program.axes[axis]));
  int64_t bytes = 1;
  for (Type type : program.elementTypes)
    bytes = std::max(bytes, shape.vector * elementBytes(type));
  bool isLast = first + count == plan.sweeps.size() &&
                (shape.splits == 1 || plan.sweeps.back().reductions.empty());
  emitLaunch({blocks, index(shape.splits)}, {shape.lanes, shape.members},
             shared, shape.vector == 1 ? 1 : bytes, [&](Launch &arm) {
               launch = &arm;
               enterBlock(shape);
               if (shape.splits > 1 || count == 0)
                 for (size_t before = 0; before < first; ++before)
                   for (Node *node : plan.sweeps[before].reductions)
                     finish(node, loadPartials(node));
               if (exact)
                 return emitGuarded();
               for (size_t sweep = first; sweep < first + count; ++sweep)
                 emitSweep(plan.sweeps[sweep]);
               if (isLast)
                 storeRows();
             });
}

/// Computes what guards ask for, then the rest, or all of it in the other way.
void GpuReduceEmitter::emitGuarded() {
  // Guards look at values without columns, which the first sweep has brought.
  emitSweep(plan.sweeps.front());
  Value holds;
  for (const Guard &guard : program.guards) {
    Value one = guardHolds(guard);
    holds = holds ? arith::AndIOp::create(builder, loc, holds, one).getResult()
                  : one;
  }
  auto choice = scf::IfOp::create(builder, loc, holds, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard inside(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  for (const Sweep &sweep : ArrayRef(plan.sweeps).drop_front())
    emitSweep(sweep);
  storeRows();
  exact->builder.setInsertionPointToStart(choice.elseBlock());
  Launch rest = *launch;
  rest.shared.erase(rest.shared.begin(),
                    rest.shared.begin() + reductionsOf(plan).size());
  exact->launch = &rest;
  exact->shape = shape;
  exact->flat = flat;
  exact->dims = dims;
  exact->function = function;
  exact->enterBlock(shape);
  for (const Sweep &sweep : exact->plan.sweeps)
    exact->emitSweep(sweep);
  exact->storeRows();
}

/// low * |scale| <= |value| <= high, without NaN.
Value GpuReduceEmitter::guardHolds(const Guard &guard) {
  Type type = guard.value->type;
  auto magnitude = [&](Node *node) -> Value {
    return math::AbsFOp::create(builder, loc, row(node));
  };
  auto number = [&](double value) {
    return constant(builder.getFloatAttr(type, value), 0);
  };
  Value value = magnitude(guard.value), low = number(guard.low);
  if (guard.scale)
    low = arith::MulFOp::create(builder, loc, low, magnitude(guard.scale));
  Value above = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGE,
                                      value, low);
  Value below = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLE,
                                      value, number(guard.high));
  return arith::AndIOp::create(builder, loc, above, below);
}

/// What the thread stands for.
void GpuReduceEmitter::enterBlock(const GpuReduceOptions &shape) {
  lane = launch->thread[0];
  member = launch->thread[1];
  split = launch->block[1];
  rows = Step();
  rows.coordinates.assign(program.axes.size(), Value());
  SmallVector<Value> extents;
  for (unsigned axis = 0; axis < program.numRowAxes; ++axis)
    if (axis != program.vectorAxis)
      extents.push_back(extentValue(program.axes[axis]));
  extents.push_back(index(stripsOf(program, shape)));
  Values place = digits(launch->block[0], extents);
  auto digit = place.begin();
  outer = index(0);
  auto extent = extents.begin();
  for (unsigned axis = 0; axis < program.numRowAxes; ++axis)
    if (axis != program.vectorAxis) {
      outer = addIndex(mulIndex(outer, *extent++), *digit);
      rows.coordinates[axis] = *digit++;
    }
  column = index(0);
  isInside = nullptr;
  if (along)
    return;
  int64_t length = rowExtent(program), strip = shape.lanes * shape.vector;
  column = addIndex(mulIndex(*digit, index(strip)),
                    mulIndex(lane, index(shape.vector)));
  if (length % strip) {
    // Lanes beyond the edge do the work of the last one in vain.
    isInside = less(column, index(length));
    column = arith::MinUIOp::create(builder, loc, column,
                                    index(length - shape.vector));
  }
  rows.coordinates[program.vectorAxis] = column;
}

//===----------------------------------------------------------------------===//
// Sweeps
//===----------------------------------------------------------------------===//

void GpuReduceEmitter::emitSweep(const Sweep &sweep) {
  Extent reduced = program.reducedExtent();
  Value count = extentValue(reduced);
  if (along)
    count = divideUp(count, vector());
  Value from = index(0), to = count;
  bool isEven = reduced.isStatic();
  int64_t steps = reduced.factor / (along ? vector() : 1);
  if (shape.splits > 1) {
    // Whole rounds of the block for each, but the last.
    int64_t round = shape.members * shape.unroll;
    isEven &= steps % (round * shape.splits) == 0;
    Value share = divideUp(count, shape.splits);
    share = mulIndex(divideUp(share, round), index(round));
    from = arith::MinUIOp::create(builder, loc, mulIndex(split, share), count);
    to = arith::MinUIOp::create(builder, loc, addIndex(from, share), count);
  }
  isEven &= steps % (shape.members * shape.unroll) == 0;
  Values inits;
  for (const Node *node : sweep.reductions)
    inits.push_back(neutralOf(node));
  // Row values stand before the loop.
  for (Node *node : sweep.rowValues)
    row(node);
  int64_t round = shape.members * shape.unroll;
  Value even = to;
  if (!isEven) {
    Value whole = arith::SubIOp::create(builder, loc, to, from);
    whole = arith::DivUIOp::create(builder, loc, whole, index(round));
    even = addIndex(from, mulIndex(whole, index(round)));
  }
  Values results = emitSteps(sweep, from, even, shape.unroll, inits);
  if (!isEven)
    results = emitSteps(sweep, even, to, 1, results);
  for (size_t number = 0; number < results.size(); ++number) {
    Node *node = sweep.reductions[number];
    Value joined = joinMembers(node, results[number]);
    if (shape.splits == 1) {
      finish(node, joined);
      continue;
    }
    emitIf(whenFirst(), [&] {
      Value place =
          addIndex(mulIndex(split, index(outerPoints(program))), outer);
      place = addIndex(mulIndex(place, index(rowExtent(program))), column);
      storeLanes(joined, partials(node), place, /*isAligned=*/true);
    });
  }
}

/// Steps of this member from `from` to `to`, `unroll` at once.
ProgramEmitter::Values GpuReduceEmitter::emitSteps(const Sweep &sweep,
                                                   Value from, Value to,
                                                   int64_t unroll,
                                                   ValueRange inits) {
  int64_t round = shape.members * unroll;
  return emitLoop(
      addIndex(from, member), to, round, inits, [&](Value at, ValueRange old) {
        SmallVector<Step, 0> steps(unroll, rows);
        for (auto [number, step] : llvm::enumerate(steps)) {
          Value place = addIndex(at, index(number * shape.members));
          enterStep(step, along ? mulIndex(place, index(vector())) : place);
        }
        // Loads of all steps come first: the nodes are in order.
        for (Node *node : sweep.matrices)
          for (Step &step : steps)
            valueOf(node, step);
        Values results(old);
        for (Step &step : steps) {
          for (auto [node, sum] : llvm::zip(sweep.reductions, results)) {
            Value x = widened(valueOf(node->operands[0], step),
                              along || isVector(node) ? vector() : 0);
            sum = combine(node, x, sum);
          }
          emitStores(sweep, step);
        }
        return results;
      });
}

/// Brings a step to an element of the reduction.
void GpuReduceEmitter::enterStep(Step &step, Value element) {
  Values extents;
  for (const Extent &axis :
       ArrayRef(program.axes).drop_front(program.numRowAxes))
    extents.push_back(extentValue(axis));
  llvm::copy(digits(element, extents),
             step.coordinates.begin() + program.numRowAxes);
}

void GpuReduceEmitter::store(const Output &output, Value value,
                             ArrayRef<Value> coordinates) {
  const Extent &stride = output.access.strides[program.vectorAxis];
  if (!stride.isZero())
    value = widened(value, vector());
  storeLanes(value, flat[output.access.argument],
             accessOffset(output.access, coordinates, {}), launch->isAligned);
}

void GpuReduceEmitter::emitStores(const Sweep &sweep, Step &step) {
  if (sweep.stores.empty())
    return;
  auto all = [&] {
    for (unsigned number : sweep.stores) {
      const Output &output = program.outputs[number];
      store(output, valueOf(output.node, step), step.coordinates);
    }
  };
  isInside ? emitIf(isInside, all) : all();
}

/// The first member of each lane; of all blocks that share it, where only one
/// may write.
Value GpuReduceEmitter::whenFirst() {
  Value first = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      member, index(0));
  return isInside
             ? arith::AndIOp::create(builder, loc, first, isInside).getResult()
             : first;
}

void GpuReduceEmitter::storeRows() {
  if (plan.rowOutputs.empty())
    return;
  Value first = whenFirst();
  if (shape.splits > 1)
    first = arith::AndIOp::create(
        builder, loc, first,
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, split,
                              index(0)));
  emitIf(first, [&] {
    Step saved = rows;
    for (unsigned number : plan.rowOutputs) {
      const Output &output = program.outputs[number];
      store(output, row(output.node), rows.coordinates);
    }
    rows = saved;
  });
}
