//===- ColumnEmitter.cpp - Reductions with vectors across them ------------===//

#include "ColumnEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kernelbrain::strategy;
using namespace kernelbrain;

/// Of all buffers of a panel: half of a first cache.
static constexpr int64_t panelBytes = 24 << 10;

std::vector<bool>
kernelbrain::strategy::vectorNodes(const RowProgram &program) {
  std::vector<bool> result(program.nodes().size());
  for (const std::unique_ptr<Node> &node : program.nodes())
    result[node->id] =
        node->isReduction() || program.variesAlongVectors(node.get()) ||
        llvm::any_of(node->operands,
                     [&](Node *operand) { return result[operand->id]; });
  return result;
}

bool kernelbrain::strategy::isWide(const Node *node,
                                   const ColumnOptions &options) {
  return options.widen && node->kind == Node::Kind::Reduce &&
         node->reduce == ReduceKind::AddF && node->type.isF32();
}

bool kernelbrain::strategy::isBuffered(const Node *node,
                                       const ColumnOptions &options) {
  return node->kind == Node::Kind::Op || isWide(node, options) ||
         node->kind == Node::Kind::ArgReduce;
}

SmallVector<Type, 2>
kernelbrain::strategy::accumulatorTypes(const Node *node,
                                        const ColumnOptions &options) {
  MLIRContext *context = node->type.getContext();
  if (isWide(node, options))
    return {Float64Type::get(context)};
  if (node->kind == Node::Kind::ArgReduce)
    return {node->operands[0]->type, IntegerType::get(context, 32)};
  return {node->type};
}

int64_t kernelbrain::strategy::columnBufferBytes(const RowProgram &program,
                                                 const RowPlan &plan,
                                                 const ColumnOptions &options) {
  int64_t bytes = 0;
  std::vector<bool> seen(program.nodes().size());
  std::vector<bool> isVector = vectorNodes(program);
  for (const Sweep &sweep : plan.sweeps) {
    for (const Node *node : sweep.reductions)
      for (Type type : accumulatorTypes(node, options))
        bytes += elementBytes(type);
    for (const Node *node : sweep.rowValues) {
      if (!seen[node->id] && isVector[node->id] && isBuffered(node, options))
        bytes += elementBytes(node->type);
      seen[node->id] = true;
    }
  }
  return bytes;
}

int64_t kernelbrain::strategy::columnParts(const RowProgram &program,
                                           const RowOptions &options,
                                           unsigned axis) {
  int64_t extent = program.axes[axis].evaluate(program.dimHints);
  return axis == program.vectorAxis ? llvm::divideCeil(extent, options.lanes)
                                    : extent;
}

unsigned kernelbrain::strategy::columnSharedAxis(const RowProgram &program,
                                                 const RowOptions &options) {
  unsigned best = program.vectorAxis;
  // Parts of rows cost a little more than whole ones.
  double least =
      1.1 * imbalance(columnParts(program, options, best), options.threads);
  for (unsigned axis = 0; axis < program.numRowAxes; ++axis) {
    double uneven =
        imbalance(columnParts(program, options, axis), options.threads);
    if (axis == program.vectorAxis || uneven >= least)
      continue;
    best = axis;
    least = uneven;
  }
  return best;
}

int64_t kernelbrain::strategy::columnPanel(const RowProgram &program,
                                           const RowPlan &plan,
                                           const RowOptions &options,
                                           const ColumnOptions &columns) {
  int64_t length = program.axes[program.vectorAxis].factor;
  int64_t strip = options.lanes * columns.vectors;
  int64_t perLane =
      std::max<int64_t>(1, columnBufferBytes(program, plan, columns));
  int64_t fits = std::max<int64_t>(1, panelBytes / perLane / strip) * strip;
  if (options.threads == 1 ||
      columnSharedAxis(program, options) != program.vectorAxis)
    return std::min(length, fits);
  // As many for each thread.
  int64_t panels =
      llvm::alignTo(llvm::divideCeil(length, fits), options.threads);
  return llvm::alignTo(llvm::divideCeil(length, panels), options.lanes);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Works off the panel at hand in strips of so many vectors.
void ColumnEmitter::forSlots(int64_t length, int64_t vectors,
                             llvm::function_ref<void(Slots &)> body) {
  int64_t lanes = options.lanes, step = lanes * vectors;
  int64_t whole = length / step * step;
  auto strip = [&](Value first, int64_t count) {
    Slots slots;
    for (int64_t at = 0; at < count; at += lanes) {
      Slot slot(lanes, slots.size(), addIndex(first, index(at)));
      if (count - at < lanes) {
        SmallVector<bool> exists(lanes);
        std::fill_n(exists.begin(), count - at, true);
        slot.mask = arith::ConstantOp::create(
            builder, loc, builder.getBoolVectorAttr(exists));
      }
      slots.push_back(slot);
    }
    body(slots);
  };
  if (whole == step)
    strip(panelStart, step);
  else if (whole)
    emitLoop(index(0), index(whole), step, {}, [&](Value at, ValueRange) {
      strip(addIndex(panelStart, at), step);
      return Values();
    });
  if (whole != length)
    strip(addIndex(panelStart, index(whole)), length - whole);
}

void ColumnEmitter::emitNest(bool nontemporal) {
  OpBuilder::InsertionGuard guard(builder);
  storesNontemporal = nontemporal;
  coordinates.assign(program.axes.size(), Value());
  scf::ForOp outermost;
  unsigned shared = columnSharedAxis(program, options);
  for (unsigned axis = 0; axis < program.numRowAxes; ++axis) {
    if (axis == program.vectorAxis)
      continue;
    Value from = index(0), to = extentValue(program.axes[axis]);
    if (axis == shared)
      std::tie(from, to) = partOf(to);
    auto loop = scf::ForOp::create(builder, loc, from, to, index(1));
    if (!outermost)
      outermost = loop;
    coordinates[axis] = loop.getInductionVar();
    builder.setInsertionPoint(loop.getBody()->getTerminator());
  }
  emitScalars();
  int64_t length = program.axes[program.vectorAxis].factor;
  forSteps(index(0), length, panel, shared == program.vectorAxis,
           [&](Value start, int64_t lanes) { emitPanel(start, lanes); });
  if (nontemporal)
    emitFence(outermost);
}

/// What no sweep and no lane changes.
void ColumnEmitter::emitScalars() {
  scalars.clear();
  for (Node *node : program.live())
    if (!isVector[node->id] && !program.variesAlongColumns(node))
      scalarValue(node);
}

void ColumnEmitter::emitPanel(Value start, int64_t length) {
  panelStart = start;
  if (exact) {
    Value yes =
        arith::ConstantOp::create(builder, loc, builder.getI8IntegerAttr(1));
    memref::StoreOp::create(builder, loc, yes, guardsHeld, index(0));
  }
  unsigned done = 0;
  for (const Sweep &sweep : plan.sweeps) {
    emitBetween(done, sweep.level, &sweep, length);
    done = sweep.level + 1;
    emitSweep(sweep, length);
  }
  emitBetween(done, ~0u, nullptr, length);
  if (exact)
    emitFallback(length);
}

/// What lies between two sweeps: values and results of the levels `from` to
/// `to`, and the initial values of the reductions to come.
void ColumnEmitter::emitBetween(unsigned from, unsigned to, const Sweep *next,
                                int64_t length) {
  auto isDue = [&](const Node *node) {
    return level[node->id] >= from && level[node->id] <= to;
  };
  forSlots(length, 1, [&](Slots &slots) {
    Slot &slot = slots.front();
    std::vector<bool> seen(program.nodes().size());
    for (const Sweep &sweep : plan.sweeps)
      for (Node *node : sweep.rowValues) {
        if (!isDue(node) || seen[node->id] || !buffers.count(node))
          continue;
        seen[node->id] = true;
        toBuffer(rowVector(node, slot), buffers[node], slot);
      }
    for (unsigned number : plan.rowOutputs) {
      const Output &output = program.outputs[number];
      if (!isDue(output.node))
        continue;
      Value offset = accessOffset(output.access, coordinates, {});
      store(rowVector(output.node, slot), flat[program.numInputs + number],
            addIndex(offset, slot.column), slot, /*nontemporal=*/false);
    }
    if (next)
      for (const Node *node : next->reductions)
        initialize(node, slot);
    else if (exact)
      checkGuards(slot);
  });
}

void ColumnEmitter::emitSweep(const Sweep &sweep, int64_t length) {
  const Extent &steps = program.columns();
  bool isEven = steps.isStatic() && steps.factor % columns.chunk == 0;
  Value count = extentValue(steps);
  emitLoop(index(0), count, columns.chunk, {}, [&](Value from, ValueRange) {
    Value to = addIndex(from, index(columns.chunk));
    if (!isEven)
      to = arith::MinUIOp::create(builder, loc, to, count);
    forSlots(length, columns.vectors,
             [&](Slots &slots) { emitChunk(sweep, slots, from, to); });
    return Values();
  });
}

void ColumnEmitter::emitChunk(const Sweep &sweep, Slots &slots, Value from,
                              Value to) {
  Values inits;
  for (Slot &slot : slots) {
    for (Node *node : sweep.rowValues) {
      if (!isVector[node->id])
        continue;
      if (Value buffer = buffers.lookup(node))
        slot.memo[node] = inBuffer(buffer, node->type, slot);
      else
        rowVector(node, slot);
    }
    for (const Node *node : sweep.reductions) {
      if (isWide(node, columns)) {
        inits.push_back(
            constant(builder.getFloatAttr(node->type, 0), slot.lanes));
        continue;
      }
      for (auto [type, memory] :
           llvm::zip(accumulatorTypes(node, columns), accumulators[node]))
        inits.push_back(inBuffer(memory, type, slot));
    }
  }
  Values results =
      emitLoop(from, to, 1, inits, [&](Value step, ValueRange old) {
        coordinates.back() = step;
        Memo outside = scalars;
        Slots inside = slots;
        Values next = emitStep(sweep, inside, old);
        scalars = std::move(outside);
        coordinates.back() = nullptr;
        return next;
      });
  auto result = results.begin();
  for (Slot &slot : slots)
    for (const Node *node : sweep.reductions)
      for (auto [type, memory] :
           llvm::zip(accumulatorTypes(node, columns), accumulators[node])) {
        Value sum = *result++;
        if (isWide(node, columns))
          sum = arith::AddFOp::create(
              builder, loc, inBuffer(memory, type, slot),
              arith::ExtFOp::create(builder, loc, typeFor(type, slot.lanes),
                                    sum));
        toBuffer(sum, memory, slot);
      }
}

/// One step of a strip: returns the new accumulators, ordered by slot.
ColumnEmitter::Values ColumnEmitter::emitStep(const Sweep &sweep, Slots &slots,
                                              ValueRange old) {
  emitPrefetch(sweep, slots);
  evaluate(sweep, slots);
  Values results;
  for (Slot &slot : slots)
    for (const Node *node : sweep.reductions)
      results.append(accumulate(
          node, slot, old.slice(results.size(), accumulators[node].size())));
  for (unsigned number : sweep.stores) {
    const Output &output = program.outputs[number];
    Value offset = accessOffset(output.access, coordinates, {});
    for (Slot &slot : slots)
      store(operandIn(output.node, slot), flat[program.numInputs + number],
            addIndex(offset, slot.column), slot,
            storesNontemporal && options.nontemporal[number]);
  }
  return results;
}

/// Hops between rows are beyond what the hardware's prefetchers follow.
void ColumnEmitter::emitPrefetch(const Sweep &sweep, const Slots &slots) {
  if (!columns.prefetchSteps)
    return;
  for (Node *node : sweep.matrices) {
    if (node->kind != Node::Kind::Input || !node->operands.empty() ||
        !isVector[node->id])
      continue;
    Values ahead = coordinates;
    ahead.back() = addIndex(coordinates.back(), index(columns.prefetchSteps));
    Value offset =
        addIndex(accessOffset(node->access, ahead, {}), slots.front().column);
    int64_t perLine = 64 / elementBytes(node->type);
    int64_t count = options.lanes * slots.size();
    for (int64_t at = 0; at < count; at += perLine)
      memref::PrefetchOp::create(builder, loc, flat[node->access.argument],
                                 ValueRange{addIndex(offset, index(at))},
                                 /*isWrite=*/false, /*localityHint=*/3,
                                 /*isDataCache=*/true);
  }
}

func::FuncOp kernelbrain::strategy::emitColumnProgram(
    const RowProgram &program, const RowPlan &plan, const RowOptions &options,
    const ColumnOptions &columns, const RowFallback *fallback,
    kb::KernelOp kernel, ModuleOp module) {
  int64_t panel = columnPanel(program, plan, options, columns);
  return ColumnEmitter(program, plan, options, columns, fallback, panel, kernel,
                       module)
      .run();
}
