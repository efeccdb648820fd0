//===- GpuRowEmitter.cpp - Rows and sweeps of a block ---------------------===//

#include "GpuRowEmitter.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/SaveAndRestore.h"

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
  Value blocks = mulIndex(divideUp(rows, gpu.rows), index(gpu.cluster));
  emitLaunch({blocks}, {gpu.threads}, {}, bytes,
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
  Value number = at.block[0], group = index(gpu.group());
  lane = thread = at.thread[0];
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
  if (gpu.cluster > 1) {
    launch->setAttr("nvvm.cluster_dim",
                    builder.getDenseI32ArrayAttr(
                        {static_cast<int32_t>(gpu.cluster), 1, 1}));
    Value size = index(gpu.cluster);
    Value rank = arith::RemUIOp::create(builder, loc, number, size);
    number = arith::DivUIOp::create(builder, loc, number, size);
    lane = addIndex(mulIndex(rank, index(gpu.threads)), thread);
  }
  setUpPeeling();
  row = makeRow(digits(number, extents));
  kept.clear();
  emitRow();
}

void GpuRowEmitter::emitRow() {
  checkAssertions(row);
  setUpStages();
  const Sweep *lastExchange = nullptr;
  for (const Sweep &sweep : plan.sweeps)
    if (!sweep.reductions.empty())
      lastExchange = &sweep;
  for (const Sweep &sweep : plan.sweeps) {
    emitSweep(sweep);
    for (const Node *node : sweep.matrices)
      isStaged[node] = true;
    if (gpu.cluster > 1 && &sweep == lastExchange)
      NVVM::ClusterArriveOp::create(builder, loc, /*aligned=*/UnitAttr());
  }
  // A block must not end while others read what it has left them. All have said
  // before they began to store that they do not any more.
  if (gpu.cluster > 1)
    NVVM::ClusterWaitOp::create(builder, loc, /*aligned=*/UnitAttr());
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
  // One column at a time: its registers are lost to all other rows.
  GpuRowOptions plain = gpu;
  plain.lanes = plain.vectors = 1;
  plain.online = false;
  plain.stage = Staging::Never;
  emitIf(isLost, [&] {
    GpuRowEmitter exact(*fallback->program, fallback->plan, options, plain,
                        /*fallback=*/nullptr, kernel, module);
    exact.function = function;
    exact.flat = flat;
    exact.dims = dims;
    exact.launch = launch;
    exact.isRare = true;
    exact.isAligned = isAligned;
    exact.thread = thread;
    exact.lane = lane;
    exact.groupRow = groupRow;
    exact.rowExists = rowExists;
    exact.row.coordinates = row.coordinates;
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
  if (Value holds = holdsExtrema(sweep))
    accumulators = emitVectorsIf(holds, sweep, accumulators);
  else
    accumulators = emitVectors(sweep, accumulators);
  finish(sweep, accumulators);
}

/// What the branch computes is forgotten behind it.
GpuRowEmitter::Values GpuRowEmitter::emitVectorsIf(Value condition,
                                                   const Sweep &sweep,
                                                   const Values &accumulators) {
  auto choice =
      scf::IfOp::create(builder, loc, TypeRange(ValueRange(accumulators)),
                        condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  llvm::SaveAndRestore keptBefore(kept, Slots(kept));
  llvm::SaveAndRestore rowBefore(row, Row(row));
  builder.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(builder, loc, emitVectors(sweep, accumulators));
  builder.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(builder, loc, accumulators);
  return Values(choice.getResults());
}

/// `count` vectors of the thread, from its vector number `first` on; `column`
/// is where the thread would be for number 0.
GpuRowEmitter::Slots GpuRowEmitter::slotsAt(Value column, int64_t first,
                                            int64_t count) {
  Slots slots;
  int64_t step = gpu.group() * gpu.lanes;
  for (int64_t number = first; number < first + count; ++number) {
    // A peeled row may have fewer vectors than another one.
    bool isEdge = (number + 1) * step + (isPeeled ? gpu.lanes - 1 : 0) >
                  program.reducedExtent().factor;
    slots.push_back(makeSlot(
        slots.size(), addIndex(column, index(number * step)), isEdge, row));
    slots.back().place = index(number);
  }
  return slots;
}

/// The thread's share of the columns at the ends of the row.
void GpuRowEmitter::addEnds(Slots &slots) {
  for (int64_t first = 0; first < endsOfRow(); first += gpu.group())
    slots.push_back(makeEnd(slots.size(), addIndex(lane, index(first)), row));
}

GpuRowEmitter::Values GpuRowEmitter::emitVectors(const Sweep &sweep,
                                                 Values accumulators) {
  Value column = mulIndex(lane, index(gpu.lanes));
  if (!keepsRows(program, gpu))
    return emitChunks(sweep, column, accumulators);
  if (kept.empty()) {
    kept = slotsAt(column, 0, vectorsPerThread(program, gpu));
    addEnds(kept);
  }
  return emitChunk(sweep, kept, accumulators);
}

/// A loop over chunks that exist as a whole, and behind it what is left.
GpuRowEmitter::Values GpuRowEmitter::emitChunks(const Sweep &sweep,
                                                Value column,
                                                Values accumulators) {
  int64_t step = gpu.group() * gpu.lanes;
  Value columns = extentValue(program.reducedExtent());
  if (isPeeled)
    columns = arith::SubIOp::create(
        builder, loc,
        arith::MaxUIOp::create(builder, loc, columns, index(gpu.lanes - 1)),
        index(gpu.lanes - 1));
  Value chunks =
      arith::DivUIOp::create(builder, loc, columns, index(step * gpu.vectors));
  // A number that the optimizer does not know keeps it from unrolling loops:
  // registers for rows that hardly ever come are lost to all others.
  if (isRare)
    chunks = mulIndex(chunks, launch.getGridSize().y);
  bool goesBack = gpu.backwards && sweep.reductions.empty();
  if (goesBack)
    emitRest(sweep, column, chunks, accumulators);
  accumulators = emitLoop(
      index(0), chunks, 1, accumulators, [&](Value at, ValueRange old) {
        if (goesBack)
          at = arith::SubIOp::create(
              builder, loc, arith::SubIOp::create(builder, loc, chunks, at),
              index(1));
        Value base = addIndex(mulIndex(at, index(step * gpu.vectors)), column);
        Slots slots;
        Value place = mulIndex(at, index(gpu.vectors));
        for (int64_t number = 0; number < gpu.vectors; ++number) {
          slots.push_back(makeSlot(number, addIndex(base, index(number * step)),
                                   /*isPartial=*/false, row));
          slots.back().place = addIndex(place, index(number));
        }
        return emitChunk(sweep, slots, Values(old));
      });
  return goesBack ? accumulators
                  : emitRest(sweep, column, chunks, accumulators);
}

/// What is behind `chunks` whole chunks from `column` on.
GpuRowEmitter::Values GpuRowEmitter::emitRest(const Sweep &sweep, Value column,
                                              Value chunks,
                                              Values accumulators) {
  int64_t step = gpu.group() * gpu.lanes;
  const Extent columns = program.reducedExtent();
  if (columns.isStatic()) {
    int64_t whole =
        std::max<int64_t>(columns.factor - (isPeeled ? gpu.lanes - 1 : 0), 0);
    int64_t done = whole / (step * gpu.vectors) * gpu.vectors;
    Slots slots = slotsAt(mulIndex(lane, index(gpu.lanes)), done,
                          vectorsPerThread(program, gpu) - done);
    addEnds(slots);
    return slots.empty() ? accumulators : emitChunk(sweep, slots, accumulators);
  }
  Value from = addIndex(column, mulIndex(chunks, index(step * gpu.vectors)));
  Value end = mulIndex(vectorsOfRow(), index(gpu.lanes));
  accumulators =
      emitLoop(from, end, step, accumulators, [&](Value at, ValueRange old) {
        Slots slots;
        slots.push_back(makeSlot(0, at, /*isPartial=*/true, row));
        return emitChunk(sweep, slots, Values(old));
      });
  Slots ends;
  addEnds(ends);
  return ends.empty() ? accumulators : emitChunk(sweep, ends, accumulators);
}

GpuRowEmitter::Values GpuRowEmitter::emitChunk(const Sweep &sweep, Slots &slots,
                                               Values accumulators) {
  // Node by node, so that the loads of all slots come first.
  for (Node *node : sweep.matrices)
    for (GpuSlot &slot : slots)
      evaluate(node, slot);
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
  if (sweep.stores.empty())
    return;
  auto storeAll = [&] {
    for (GpuSlot &slot : slots)
      for (unsigned number : sweep.stores)
        storeOutput(program.outputs[number], slot, row);
  };
  if (rowExists)
    emitIf(rowExists, storeAll);
  else
    storeAll();
}

func::FuncOp kernelbrain::strategy::emitGpuRows(
    const RowProgram &program, const RowPlan &plan, const RowOptions &options,
    const GpuRowOptions &gpu, const GpuRowFallback *fallback,
    kb::KernelOp kernel, ModuleOp module) {
  return GpuRowEmitter(program, plan, options, gpu, fallback, kernel, module)
      .run();
}
