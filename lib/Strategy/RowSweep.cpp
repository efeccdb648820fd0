//===- RowSweep.cpp - Sweeps over the columns of a row --------------------===//

#include "RowEmitter.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace kernelbrain::strategy;

/// Everything that a sweep needs and that does not change along the columns.
void RowEmitter::prepareSweep(const Sweep &sweep, unsigned number) {
  sweepNumber = number;
  rowVectors.clear();
  for (Node *node : sweep.rowValues) {
    bool isConstant = node->kind == Node::Kind::Constant;
    Value scalar = rowValue(node);
    rowVectors[node] = isConstant ? constant(node->value, options.lanes)
                                  : broadcast(scalar, options.lanes);
  }
  for (Node *node : sweep.matrices)
    if (node->kind == Node::Kind::Input && !inputOffsets.count(node))
      inputOffsets[node] = rowOffset(node->access, node->operands);
}

void RowEmitter::emitSweep(const Sweep &sweep, unsigned number,
                           bool nontemporal) {
  prepareSweep(sweep, number);
  Values vectors = emitVectors(sweep, initialAccumulators(sweep));
  Values scalars = combineSlots(sweep, vectors);
  if (options.tail == Tail::Scalar) {
    Value columns = extentValue(program.columns());
    Value rest =
        arith::RemUIOp::create(builder, loc, columns, index(options.lanes));
    bool isEven = program.columns().isStatic() &&
                  program.columns().factor % options.lanes == 0;
    auto scalarTail = [&] {
      scalars = emitScalars(sweep, scalars,
                            arith::SubIOp::create(builder, loc, columns, rest));
    };
    if (!isEven)
      emitTail(scalarTail);
  }
  finishReductions(sweep, scalars);
}

RowEmitter::Values RowEmitter::initialAccumulators(const Sweep &sweep) {
  Values one, all;
  for (Node *node : sweep.reductions) {
    one.push_back(constant(neutral(node), options.lanes));
    if (node->kind != Node::Kind::ArgReduce)
      continue;
    one.push_back(constant(builder.getI32IntegerAttr(0), options.lanes));
    one.push_back(constant(builder.getBoolAttr(false), options.lanes));
  }
  for (int64_t slot = 0; slot < options.unroll; ++slot)
    all.append(one);
  return all;
}

/// Runs the slots, `pack` of them side by side. Accumulators are ordered by
/// slot, then by reduction.
void RowEmitter::runSlots(const Sweep &sweep, MutableArrayRef<Slot> slots,
                          Values &accumulators) {
  size_t width = accumulators.size() / options.unroll;
  for (size_t first = 0; first < slots.size(); first += options.pack) {
    MutableArrayRef<Slot> group = slots.slice(
        first, std::min<size_t>(options.pack, slots.size() - first));
    auto position = accumulators.begin() + group.front().number * width;
    Values mine(position, position + group.size() * width);
    llvm::copy(emitSlots(sweep, group, mine), position);
  }
}

/// Emits what follows the steps that threads share. Without rows there are no
/// accumulators.
void RowEmitter::emitTail(llvm::function_ref<void()> body) {
  if (sharesColumns())
    emitOnce(body);
  else
    body();
}

/// The main loop over the columns up to `end`, a multiple of `step`.
RowEmitter::Values RowEmitter::emitSteps(Value end, int64_t step,
                                         ValueRange accumulators, Body body) {
  Value from = index(0);
  if (sharesColumns()) {
    auto [first, last] =
        partOf(arith::DivUIOp::create(builder, loc, end, index(step)));
    from = mulIndex(first, index(step));
    end = mulIndex(last, index(step));
  }
  return emitLoop(from, end, step, accumulators, body);
}

/// The columns in vectors: an unrolled loop, then what is left.
RowEmitter::Values RowEmitter::emitVectors(const Sweep &sweep,
                                           Values accumulators) {
  int64_t lanes = options.lanes, step = lanes * options.unroll;
  auto unrolled = [&](Value column, ValueRange old) {
    Values all(old);
    emitPrefetch(Slot(lanes, 0, column));
    SmallVector<Slot, 0> slots;
    for (int64_t number = 0; number < options.unroll; ++number)
      slots.emplace_back(lanes, number,
                         addIndex(column, index(number * lanes)));
    runSlots(sweep, slots, all);
    return all;
  };
  const Extent &columns = program.columns();
  if (!columns.isStatic())
    return emitDynamicVectors(sweep, accumulators, unrolled);
  int64_t count = columns.factor, column = count / step * step;
  if (column)
    accumulators = emitSteps(index(column), step, accumulators, unrolled);
  SmallVector<Slot, 0> slots;
  for (; column + lanes <= count; column += lanes)
    slots.emplace_back(lanes, slots.size(), index(column));
  if (column != count && options.tail == Tail::Mask) {
    SmallVector<bool> exists(lanes);
    for (int64_t lane = 0; lane < count - column; ++lane)
      exists[lane] = true;
    Value mask = arith::ConstantOp::create(builder, loc,
                                           builder.getBoolVectorAttr(exists));
    slots.emplace_back(lanes, slots.size(), index(column), mask);
  }
  if (!slots.empty())
    emitTail([&] { runSlots(sweep, slots, accumulators); });
  return accumulators;
}

RowEmitter::Values RowEmitter::emitDynamicVectors(const Sweep &sweep,
                                                  Values accumulators,
                                                  Body unrolled) {
  int64_t lanes = options.lanes;
  Value count = extentValue(program.columns());
  auto wholeEnd = [&](int64_t size) -> Value {
    Value rest = arith::RemUIOp::create(builder, loc, count, index(size));
    return arith::SubIOp::create(builder, loc, count, rest);
  };
  Value mainEnd = wholeEnd(lanes * options.unroll);
  accumulators =
      emitSteps(mainEnd, lanes * options.unroll, accumulators, unrolled);
  bool masks = options.tail == Tail::Mask;
  auto single = [&](Value column, ValueRange old) {
    Values all(old);
    Slot slot(lanes, 0, column);
    auto type = VectorType::get({lanes}, builder.getI1Type());
    if (masks)
      slot.mask = vector::CreateMaskOp::create(
          builder, loc, type,
          ValueRange{arith::SubIOp::create(builder, loc, count, column)});
    runSlots(sweep, slot, all);
    return all;
  };
  emitTail([&] {
    accumulators = emitLoop(mainEnd, masks ? count : wholeEnd(lanes), lanes,
                            accumulators, single);
  });
  return accumulators;
}

RowEmitter::Values RowEmitter::emitScalars(const Sweep &sweep,
                                           Values accumulators, Value from) {
  return emitLoop(from, extentValue(program.columns()), 1, accumulators,
                  [&](Value column, ValueRange old) {
                    Slot slot(0, 0, column);
                    return emitSlots(sweep, slot, old);
                  });
}

/// One step: returns the new accumulators of the slots.
RowEmitter::Values RowEmitter::emitSlots(const Sweep &sweep,
                                         MutableArrayRef<Slot> slots,
                                         ValueRange accumulators) {
  evaluate(sweep, slots);
  Values results;
  size_t width = accumulators.size() / slots.size();
  for (const Slot &slot : slots)
    results.append(
        accumulate(sweep, slot, accumulators.slice(results.size(), width)));
  for (const Slot &slot : slots) {
    for (Node *node : sweep.keeps)
      storeKept(node, slot);
    for (unsigned output : sweep.stores)
      store(valueIn(program.outputs[output].node, slot),
            flat[program.numInputs + output],
            addIndex(outputOffsets[output], slot.column), slot,
            storesNontemporal && options.nontemporal[output]);
  }
  return results;
}

RowEmitter::Values RowEmitter::accumulate(const Sweep &sweep, const Slot &slot,
                                          ValueRange accumulators) {
  Values results;
  for (Node *node : sweep.reductions) {
    ValueRange old = accumulators.slice(results.size(), accumulatorsOf(node));
    if (node->kind == Node::Kind::ArgReduce) {
      results.append(argAccumulate(node, slot, old));
      continue;
    }
    Value sum = combine(node, valueIn(node->operands[0], slot), old[0]);
    if (slot.mask)
      sum = arith::SelectOp::create(builder, loc, slot.mask, sum, old[0]);
    results.push_back(sum);
  }
  return results;
}

void RowEmitter::storeKept(Node *node, const Slot &slot) {
  int output = plan.kept.at(node).output;
  const Sweep &sweep = plan.sweeps[sweepNumber];
  bool isStored = output >= 0 && llvm::is_contained(sweep.stores, output) &&
                  program.outputs[output].node == node;
  if (isStored)
    return;
  Value value = valueIn(node, slot);
  if (output < 0)
    store(value, stack[node], slot.column, slot, false);
  else
    store(value, flat[program.numInputs + output],
          addIndex(outputOffsets[output], slot.column), slot, false);
}

RowEmitter::Values RowEmitter::combineSlots(const Sweep &sweep,
                                            const Values &accumulators) {
  Values scalars;
  size_t width = accumulators.size() / options.unroll, position = 0;
  for (Node *node : sweep.reductions) {
    SmallVector<Values> slots;
    for (int64_t slot = 0; slot < options.unroll; ++slot) {
      auto first = accumulators.begin() + slot * width + position;
      slots.emplace_back(first, first + accumulatorsOf(node));
    }
    position += accumulatorsOf(node);
    if (node->kind == Node::Kind::ArgReduce) {
      scalars.append(argCombine(node, slots));
      continue;
    }
    while (slots.size() > 1) {
      for (size_t pair = 0; pair + 1 < slots.size(); ++pair) {
        slots[pair][0] = combine(node, slots[pair][0], slots[pair + 1][0]);
        slots.erase(slots.begin() + pair + 1);
      }
    }
    scalars.push_back(reduceLanes(node, slots[0][0]));
  }
  return scalars;
}

void RowEmitter::finishReductions(const Sweep &sweep,
                                  const Values &accumulators) {
  size_t position = 0;
  for (Node *node : sweep.reductions) {
    Value result = accumulators[position];
    if (node->kind == Node::Kind::ArgReduce) {
      rowValues[node] =
          argFinish(node, ValueRange(accumulators).slice(position, 3));
    } else {
      const Node *init = node->operands[1];
      bool isNeutral =
          init->kind == Node::Kind::Constant && init->value == neutral(node);
      if (!isNeutral)
        result = combineExactly(node, result, rowValue(node->operands[1]));
      rowValues[node] = result;
    }
    position += accumulatorsOf(node);
  }
}

/// Asks for the rows to come while the row at hand is read.
void RowEmitter::emitPrefetch(const Slot &slot) {
  int64_t ahead = sweepNumber == 0 ? options.prefetchRows : 0;
  int64_t elements = options.prefetchElements;
  if (!ahead && !elements)
    return;
  for (Node *node : plan.sweeps[sweepNumber].matrices) {
    bool isStream = node->kind == Node::Kind::Input && node->operands.empty() &&
                    program.variesAlongColumns(node) &&
                    (elements || program.variesAlongRows(node));
    if (!isStream)
      continue;
    Value offset = addIndex(inputOffsets.lookup(node), slot.column);
    if (ahead)
      offset = addIndex(
          offset,
          mulIndex(index(ahead),
                   extentValue(node->access.strides[program.numRowAxes - 1])));
    int64_t perLine = 64 / elementBytes(node->type);
    for (int64_t at = 0; at < options.lanes * options.unroll; at += perLine)
      memref::PrefetchOp::create(
          builder, loc, flat[node->access.argument],
          ValueRange{addIndex(offset, index(at + elements))},
          /*isWrite=*/false, /*localityHint=*/3, /*isDataCache=*/true);
  }
}
