//===- GpuRowEmitter.cpp - Rows and sweeps of a block ---------------------===//

#include "GpuRowEmitter.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kernelbrain::strategy;
using namespace kernelbrain;

//===----------------------------------------------------------------------===//
// The launch
//===----------------------------------------------------------------------===//

void GpuRowEmitter::emitNest(bool) {
  Value rows = index(1);
  for (unsigned axis = 0; axis < program.numRowAxes; ++axis)
    rows = mulIndex(rows, extentValue(program.axes[axis]));
  int64_t bytes = gpu.lanes * elementSizes(program).widest;
  emitLaunch({divideUp(rows, gpu.rows)}, {gpu.threads}, {}, bytes,
             [&](Launch &launch) { emitBlock(launch); });
}

void GpuRowEmitter::emitBlock(Launch &at) {
  launch = at.op;
  isAligned = at.isAligned;
  if (!isAligned) {
    // Neighbouring threads read neighbouring elements instead.
    gpu.lanes = 1;
    gpu.vectors = 8;
  }
  if (gpu.minBlocks)
    launch->setAttr("nvvm.minctasm", builder.getI32IntegerAttr(gpu.minBlocks));
  Extent rows;
  Values extents;
  for (unsigned axis = 0; axis < program.numRowAxes; ++axis) {
    rows = rows * program.axes[axis];
    extents.push_back(extentValue(program.axes[axis]));
  }
  Value thread = at.thread[0], group = index(gpu.group());
  Value number = at.block[0];
  lane = thread;
  groupRow = index(0);
  rowExists = nullptr;
  if (gpu.rows > 1) {
    lane = arith::RemUIOp::create(builder, loc, thread, group);
    groupRow = arith::DivUIOp::create(builder, loc, thread, group);
    number = addIndex(mulIndex(number, index(gpu.rows)), groupRow);
    if (!rows.isStatic() || rows.factor % gpu.rows) {
      // Groups beyond the last row work on it too, and store nothing.
      Value count = extentValue(rows);
      rowExists = less(number, count);
      number = minIndex(number,
                        arith::SubIOp::create(builder, loc, count, index(1)));
    }
  }
  row = Row(digits(number, extents));
  kept.clear();
  emitRow();
}

void GpuRowEmitter::emitRow() {
  checkAssertions(row);
  for (const Sweep &sweep : plan.sweeps)
    emitSweep(sweep);
  if (!plan.rowOutputs.empty()) {
    Value isFirst = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, lane, index(0));
    if (rowExists)
      isFirst = arith::AndIOp::create(builder, loc, isFirst, rowExists);
    Values values, offsets;
    for (unsigned number : plan.rowOutputs) {
      const Output &output = program.outputs[number];
      values.push_back(rowValue(output.node, row));
      offsets.push_back(rowOffset(output.access, {}, row));
    }
    emitIf(isFirst, [&] {
      for (auto [number, value, offset] :
           llvm::zip(plan.rowOutputs, values, offsets))
        memref::StoreOp::create(builder, loc, value,
                                flat[program.outputs[number].access.argument],
                                offset);
    });
  }
  if (!program.guards.empty())
    emitFallback();
}

//===----------------------------------------------------------------------===//
// Guards
//===----------------------------------------------------------------------===//

Value GpuRowEmitter::guardsHold() {
  Value all;
  auto require = [&](arith::CmpFPredicate predicate, Value value, Value bound) {
    Value one = arith::CmpFOp::create(builder, loc, predicate, value, bound);
    all = all ? arith::AndIOp::create(builder, loc, all, one).getResult() : one;
  };
  for (const Guard &guard : program.guards) {
    auto size = [&](Node *node) -> Value {
      return math::AbsFOp::create(builder, loc, rowValue(node, row));
    };
    auto number = [&](double value) {
      return constant(builder.getFloatAttr(guard.value->type, value), 0);
    };
    // A comparison that a NaN never passes, whatever the bound.
    Value value = size(guard.value);
    require(arith::CmpFPredicate::OLE, value, number(guard.high));
    if (guard.low == 0)
      continue;
    Value low = number(guard.low);
    if (guard.scale)
      low = arith::MulFOp::create(builder, loc, low, size(guard.scale));
    require(arith::CmpFPredicate::OGE, value, low);
  }
  return all;
}

/// Works the rows of the block off again, by the program as it is written, if a
/// guard does not hold in one of them. All threads that exchange values take
/// the same branch.
void GpuRowEmitter::emitFallback() {
  Value isLost = arith::XOrIOp::create(
      builder, loc, guardsHold(),
      arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true)));
  if (gpu.rows > 1) {
    RowProgram scratch(builder.getContext());
    Node *zero = scratch.constant(builder.getI32IntegerAttr(0));
    Node *any = scratch.reduce(ReduceKind::OrI, zero, zero);
    Value flag =
        arith::ExtUIOp::create(builder, loc, builder.getI32Type(), isLost);
    int64_t together = gpu.group() > warpThreads
                           ? gpu.threads
                           : std::min(warpThreads, gpu.threads);
    flag = exchange({any}, {flag}, together)[0];
    isLost = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ne, flag,
        arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0)));
  }
  GpuRowOptions plain = gpu;
  plain.vectors = 1;
  plain.online = false;
  emitIf(isLost, [&] {
    GpuRowEmitter exact(*fallback->program, fallback->plan, options, plain,
                        /*fallback=*/nullptr, kernel, module);
    exact.function = function;
    exact.flat = flat;
    exact.dims = dims;
    exact.launch = launch;
    exact.isAligned = isAligned;
    exact.lane = lane;
    exact.groupRow = groupRow;
    exact.rowExists = rowExists;
    exact.row = Row(row.coordinates);
    exact.builder.setInsertionPoint(builder.getInsertionBlock(),
                                    builder.getInsertionPoint());
    exact.emitRow();
  });
}

//===----------------------------------------------------------------------===//
// Sweeps
//===----------------------------------------------------------------------===//

/// Everything without columns that loops need is there before them.
void GpuRowEmitter::prepare(const Sweep &sweep) {
  for (Node *node : sweep.rowValues)
    rowValue(node, row);
  for (Node *node : sweep.matrices)
    if (node->kind == Node::Kind::Input && !row.offsets.lookup(node))
      row.offsets[node] = rowOffset(node->access, node->operands, row);
}

void GpuRowEmitter::emitSweep(const Sweep &sweep) {
  prepare(sweep);
  Values accumulators = initialAccumulators(sweep);
  accumulators = program.columns().isStatic()
                     ? emitVectors(sweep, accumulators)
                     : emitDynamicVectors(sweep, accumulators);
  finish(sweep, accumulators);
}

/// `count` vectors of the thread, from its vector number `first` on; `column`
/// is where the thread would be for number 0.
GpuRowEmitter::Slots GpuRowEmitter::slotsAt(Value column, int64_t first,
                                            int64_t count) {
  Slots slots;
  int64_t step = gpu.group() * gpu.lanes;
  for (int64_t number = first; number < first + count; ++number) {
    slots.emplace_back(lanes(), slots.size(),
                       addIndex(column, index(number * step)));
    bool exists = (number + 1) * step <= program.columns().factor;
    if (!exists)
      slots.back().mask =
          less(slots.back().column, extentValue(program.columns()));
  }
  return slots;
}

GpuRowEmitter::Values GpuRowEmitter::emitVectors(const Sweep &sweep,
                                                 Values accumulators) {
  Value column = mulIndex(lane, index(gpu.lanes));
  int64_t all = vectorsPerThread(program, gpu);
  if (keepsRows(program, gpu)) {
    if (kept.empty())
      kept = slotsAt(column, 0, all);
    return emitChunk(sweep, kept, accumulators);
  }
  int64_t step = gpu.group() * gpu.lanes;
  int64_t whole = program.columns().factor / (step * gpu.vectors);
  auto rest = [&] {
    int64_t first = whole * gpu.vectors;
    Slots slots = slotsAt(column, first, all - first);
    if (!slots.empty())
      accumulators = emitChunk(sweep, slots, accumulators);
  };
  bool goesBack = gpu.backwards && sweep.reductions.empty();
  if (goesBack)
    rest();
  if (whole > 0)
    accumulators = emitLoop(
        index(0), index(whole), 1, accumulators, [&](Value at, ValueRange old) {
          if (goesBack)
            at = arith::SubIOp::create(builder, loc, index(whole - 1), at);
          Value base =
              addIndex(mulIndex(at, index(step * gpu.vectors)), column);
          Slots slots = slotsAt(base, 0, gpu.vectors);
          return emitChunk(sweep, slots, Values(old));
        });
  if (!goesBack)
    rest();
  return accumulators;
}

/// One vector at a time; columns that do not exist are masked.
GpuRowEmitter::Values GpuRowEmitter::emitDynamicVectors(const Sweep &sweep,
                                                        Values accumulators) {
  int64_t step = gpu.group() * gpu.lanes;
  Value columns = extentValue(program.columns());
  return emitLoop(
      index(0), columns, step, accumulators, [&](Value at, ValueRange old) {
        Slots slots;
        slots.emplace_back(lanes(), 0,
                           addIndex(at, mulIndex(lane, index(gpu.lanes))));
        slots[0].mask = less(slots[0].column, columns);
        return emitChunk(sweep, slots, Values(old));
      });
}

GpuRowEmitter::Values GpuRowEmitter::emitChunk(const Sweep &sweep, Slots &slots,
                                               Values accumulators) {
  // Node by node, so that the loads of all slots come first.
  for (Node *node : sweep.matrices)
    for (Slot &slot : slots)
      valueIn(node, slot, row);
  Values results;
  for (auto [number, node] : llvm::enumerate(sweep.reductions)) {
    if (isOnlineMaximum(sweep, node)) {
      results.push_back(nullptr); // comes with its sum
      continue;
    }
    if (Node *maximum = onlineMaximum(sweep, node)) {
      size_t at =
          llvm::find(sweep.reductions, maximum) - sweep.reductions.begin();
      Values both = accumulateOnline(maximum, node, slots, accumulators[at],
                                     accumulators[number]);
      results[at] = both[0];
      results.push_back(both[1]);
      continue;
    }
    results.push_back(accumulate(node, slots, accumulators[number]));
  }
  storeChunk(sweep, slots);
  return results;
}

void GpuRowEmitter::storeChunk(const Sweep &sweep, Slots &slots) {
  for (Slot &slot : slots) {
    Value mask = slot.mask;
    if (rowExists)
      slot.mask =
          mask
              ? arith::AndIOp::create(builder, loc, mask, rowExists).getResult()
              : rowExists;
    for (unsigned number : sweep.stores)
      storeOutput(program.outputs[number], slot, row);
    slot.mask = mask;
  }
}

func::FuncOp kernelbrain::strategy::emitGpuRows(
    const RowProgram &program, const RowPlan &plan, const RowOptions &options,
    const GpuRowOptions &gpu, const GpuRowFallback *fallback,
    kb::KernelOp kernel, ModuleOp module) {
  return GpuRowEmitter(program, plan, options, gpu, fallback, kernel, module)
      .run();
}
