//===- GpuReductions.cpp - Reductions of a group of threads ---------------===//

#include "GpuRowEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

#include <limits>

using namespace mlir;
using namespace kernelbrain::strategy;

//===----------------------------------------------------------------------===//
// A thread's own columns
//===----------------------------------------------------------------------===//

static bool isHalf(Type type) { return type.isF16() || type.isBF16(); }

Type GpuRowEmitter::accumulatorType(const Node *node) const {
  Type type = node->operands[0]->type;
  return isHalf(type) ? Type(Float32Type::get(type.getContext())) : type;
}

TypedAttr GpuRowEmitter::wideNeutral(const Node *node) {
  TypedAttr value = neutral(node);
  auto number = dyn_cast<FloatAttr>(value);
  if (!number || !isHalf(number.getType()))
    return value;
  return builder.getF32FloatAttr(static_cast<float>(number.getValueAsDouble()));
}

/// Two values of which any may be an element: unlike `x > old ? x : old`, it
/// drops a NaN on either side.
Value GpuRowEmitter::combineWide(const Node *node, Value a, Value b) {
  if (node->reduce == ReduceKind::MaxSelectF)
    return arith::MaxNumFOp::create(builder, loc, a, b);
  if (node->reduce == ReduceKind::MinSelectF)
    return arith::MinNumFOp::create(builder, loc, a, b);
  return combineExactly(node, a, b);
}

GpuRowEmitter::Values GpuRowEmitter::initialAccumulators(const Sweep &sweep) {
  Values result;
  for (const Node *node : sweep.reductions) {
    // A maximum that a sum follows is one number a thread.
    bool isOnline = isOnlineMaximum(sweep, node);
    result.push_back(constant(wideNeutral(node), isOnline ? 0 : lanes()));
  }
  return result;
}

/// The slots' elements combined, lane by lane; single columns in the first
/// lane.
Value GpuRowEmitter::partial(Node *node, Slots &slots) {
  Values vectors, ends;
  Type wide = accumulatorType(node);
  for (GpuSlot &slot : slots) {
    Value value = valueIn(node->operands[0], slot, row);
    Type type = typeFor(wide, slot.lanes);
    if (value.getType() != type)
      value = arith::ExtFOp::create(builder, loc, type, value);
    (slot.lanes == lanes() ? vectors : ends)
        .push_back(masked(value, wideNeutral(node), slot));
  }
  auto fold = [&](Values &values) {
    while (values.size() > 1)
      for (size_t pair = 0; pair + 1 < values.size(); ++pair) {
        values[pair] = combineWide(node, values[pair], values[pair + 1]);
        values.erase(values.begin() + pair + 1);
      }
  };
  fold(vectors);
  fold(ends);
  Value sum =
      vectors.empty() ? constant(wideNeutral(node), lanes()) : vectors.front();
  if (ends.empty())
    return sum;
  Value first = vector::ExtractOp::create(builder, loc, sum, int64_t(0));
  return vector::InsertOp::create(
      builder, loc, combineWide(node, first, ends.front()), sum, int64_t(0));
}

Value GpuRowEmitter::accumulate(Node *node, Slots &slots, Value old) {
  return combineWide(node, old, partial(node, slots));
}

Value GpuRowEmitter::foldLanes(const Node *node, Value vector) {
  auto type = dyn_cast<VectorType>(vector.getType());
  if (!type)
    return vector;
  Values values = lanesOf(vector);
  for (size_t half = values.size() / 2; half > 0; half /= 2)
    for (size_t at = 0; at < half; ++at)
      values[at] = combineWide(node, values[at], values[at + half]);
  return values.front();
}

//===----------------------------------------------------------------------===//
// The place of an extremum
//===----------------------------------------------------------------------===//

Node *kernelbrain::strategy::soughtExtremum(const Node *reduction) {
  const Node *term = reduction->operands[0];
  if (!term->isOp("arith.select") || !term->operands[0]->isOp("arith.cmpf"))
    return nullptr;
  const Node *isFound = term->operands[0], *none = term->operands[2];
  auto predicate =
      isFound->attributes.getAs<arith::CmpFPredicateAttr>("predicate");
  Node *extremum = isFound->operands[1];
  bool isExtremum = extremum->kind == Node::Kind::Reduce &&
                    (extremum->reduce == ReduceKind::MaximumF ||
                     extremum->reduce == ReduceKind::MinimumF) &&
                    extremum->operands[0] == isFound->operands[0];
  bool skips = none == reduction->operands[1] &&
               none->kind == Node::Kind::Constant &&
               (reduction->reduce == ReduceKind::MinSI ||
                reduction->reduce == ReduceKind::MaxSI);
  bool isEqual = predicate.getValue() == arith::CmpFPredicate::OEQ;
  return isExtremum && skips && isEqual ? extremum : nullptr;
}

bool kernelbrain::strategy::seeksExtrema(const Sweep &sweep) {
  return sweep.stores.empty() && !sweep.reductions.empty() &&
         llvm::all_of(sweep.reductions, soughtExtremum);
}

/// Whether an extremum is among the thread's own columns; null if the sweep
/// does more than look for it.
Value GpuRowEmitter::holdsExtrema(const Sweep &sweep) {
  Value any;
  if (!seeksExtrema(sweep))
    return any;
  for (const Node *node : sweep.reductions) {
    Node *extremum = soughtExtremum(node);
    Value mine = own.lookup(extremum), all = rowValue(extremum, row);
    if (all.getType() != mine.getType())
      all = arith::ExtFOp::create(builder, loc, mine.getType(), all);
    Value holds = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ,
                                        mine, all);
    any = any ? arith::OrIOp::create(builder, loc, any, holds).getResult()
              : holds;
  }
  return any;
}

//===----------------------------------------------------------------------===//
// A maximum and its sums in one sweep
//===----------------------------------------------------------------------===//

bool kernelbrain::strategy::isOnlineSum(const Node *sum, const Node *maximum) {
  if (sum->kind != Node::Kind::Reduce || sum->reduce != ReduceKind::AddF ||
      maximum->kind != Node::Kind::Reduce || !sum->type.isF32())
    return false;
  const Node *term = sum->operands[0];
  std::optional<double> from = constantValue(maximum->operands[1]);
  bool isMaximum = maximum->reduce == ReduceKind::MaximumF ||
                   maximum->reduce == ReduceKind::MaxNumF ||
                   maximum->reduce == ReduceKind::MaxSelectF;
  return isMaximum && from == -std::numeric_limits<double>::infinity() &&
         term->isOp("math.exp") && term->operands[0]->isOp("arith.subf") &&
         term->operands[0]->operands[0] == maximum->operands[0] &&
         term->operands[0]->operands[1] == maximum;
}

Node *GpuRowEmitter::onlineMaximum(const Sweep &sweep, const Node *sum) const {
  for (Node *node : sweep.reductions)
    if (isOnlineSum(sum, node))
      return node;
  return nullptr;
}

bool GpuRowEmitter::isOnlineMaximum(const Sweep &sweep,
                                    const Node *node) const {
  return llvm::any_of(sweep.reductions, [&](const Node *sum) {
    return onlineMaximum(sweep, sum) == node;
  });
}

/// The sum so far is that of e^(x - m) with m the maximum so far; it is scaled
/// when that grows.
GpuRowEmitter::Values GpuRowEmitter::accumulateOnline(Node *maximum, Node *sum,
                                                      Slots &slots,
                                                      Value oldMax,
                                                      Value oldSum) {
  Node *term = sum->operands[0];
  Value most = foldLanes(maximum, partial(maximum, slots));
  most = combineWide(maximum, oldMax, most);
  // Before a finite number came by, e^(x - m) is 0.
  Value lowest = constant(
      builder.getF32FloatAttr(-std::numeric_limits<float>::infinity()), 0);
  Value isNone = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ,
                                       most, lowest);
  Value zero = constant(builder.getF32FloatAttr(0), 0);
  Value base = arith::SelectOp::create(builder, loc, isNone, zero, most);
  Value change = arith::SubFOp::create(builder, loc, oldMax, base);
  Value scale = emitOp(*term, {change}, 0);
  row.values[maximum] = base;
  Value terms = partial(sum, slots);
  row.values.erase(maximum);
  Value scaled =
      arith::MulFOp::create(builder, loc, oldSum, broadcast(scale, lanes()));
  return {most, combineWide(sum, scaled, terms)};
}

//===----------------------------------------------------------------------===//
// Between threads
//===----------------------------------------------------------------------===//

/// As something that is exchanged: integers of 32 or 64 bits, or floats.
static Value packed(OpBuilder &builder, Location loc, Value value) {
  Type type = value.getType();
  if (isa<IndexType>(type))
    return arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                      value);
  if (type.isInteger() && type.getIntOrFloatBitWidth() < 32)
    return arith::ExtUIOp::create(builder, loc, builder.getI32Type(), value);
  return value;
}

static Value unpacked(OpBuilder &builder, Location loc, Value value,
                      Type type) {
  if (value.getType() == type)
    return value;
  if (isa<IndexType>(type))
    return arith::IndexCastOp::create(builder, loc, type, value);
  return arith::TruncIOp::create(builder, loc, type, value);
}

/// The value of the thread whose number differs by `distance`, a power of two.
Value GpuRowEmitter::shuffle(Value value, int64_t distance) {
  return fromLane(value, gpu::ShuffleMode::XOR, distance);
}

Value GpuRowEmitter::withinWarp(const Node *node, Value value, int64_t width) {
  for (int64_t distance = width / 2; distance > 0; distance /= 2)
    value = combineWide(node, value, shuffle(value, distance));
  return value;
}

void GpuRowEmitter::clusterBarrier() {
  NVVM::ClusterArriveOp::create(builder, loc, /*aligned=*/UnitAttr());
  NVVM::ClusterWaitOp::create(builder, loc, /*aligned=*/UnitAttr());
}

/// Combines the words that lanes read of all blocks of a cluster, which are one
/// a warp in the same place of each block's memory.
Value GpuRowEmitter::wordOfCluster(const Node *node, Value buffer, Type type) {
  int64_t warps = gpu.threads / warpThreads, words = warps * gpu.cluster;
  Type wordType = cast<MemRefType>(buffer.getType()).getElementType();
  Type shared = LLVM::LLVMPointerType::get(
      builder.getContext(),
      static_cast<unsigned>(NVVM::NVVMMemorySpace::SharedCluster));
  Value place =
      arith::RemUIOp::create(builder, loc, thread, index(warpThreads));
  Value result;
  for (int64_t first = 0; first < words; first += warpThreads) {
    Value word = arith::RemUIOp::create(
        builder, loc, addIndex(place, index(first)), index(words));
    Value rank = arith::DivUIOp::create(builder, loc, word, index(warps));
    Value warp = arith::RemUIOp::create(builder, loc, word, index(warps));
    rank = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), rank);
    Value mine =
        pointerTo(buffer, warp, wordType,
                  static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared));
    Value theirs = NVVM::MapaOp::create(builder, loc, shared, mine, rank);
    Value value = LLVM::LoadOp::create(builder, loc, wordType, theirs);
    value = unpacked(builder, loc, value, type);
    result = result ? combineWide(node, result, value) : value;
  }
  return withinWarp(node, result, std::min(words, warpThreads));
}

GpuRowEmitter::Values GpuRowEmitter::exchange(ArrayRef<const Node *> nodes,
                                              Values values, int64_t group) {
  for (auto [node, value] : llvm::zip(nodes, values))
    value = withinWarp(node, value, std::min(group, warpThreads));
  if (nodes.empty() || group <= warpThreads)
    return values;
  // One value a warp through memory that no other exchange uses.
  int64_t warps = gpu.threads / warpThreads, share = group / warpThreads;
  Value size = index(warpThreads);
  Value warp = arith::DivUIOp::create(builder, loc, thread, size);
  Value place = arith::RemUIOp::create(builder, loc, thread, size);
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        place, index(0));
  Values words, buffers;
  for (Value value : values) {
    words.push_back(packed(builder, loc, value));
    buffers.push_back(launch.addWorkgroupAttribution(
        sharedType(warps, words.back().getType()), loc));
  }
  emitIf(isFirst, [&] {
    for (auto [word, buffer] : llvm::zip(words, buffers))
      memref::StoreOp::create(builder, loc, word, buffer, warp);
  });
  if (gpu.cluster > 1) {
    clusterBarrier();
    for (auto [node, value, buffer] : llvm::zip(nodes, values, buffers))
      value = wordOfCluster(node, buffer, value.getType());
    return values;
  }
  barrier();
  // Lanes read the words of the group's warps in turns, and combine them again.
  Value from = arith::RemUIOp::create(builder, loc, place, index(share));
  if (share < warps)
    from = addIndex(mulIndex(groupRow, index(share)), from);
  for (auto [node, value, buffer] : llvm::zip(nodes, values, buffers)) {
    Value word = memref::LoadOp::create(builder, loc, buffer, from);
    value =
        withinWarp(node, unpacked(builder, loc, word, value.getType()), share);
  }
  return values;
}

/// All reductions of a sweep in one exchange; sums that follow a maximum in
/// another one.
void GpuRowEmitter::finish(const Sweep &sweep, Values accumulators) {
  auto finishSome = [&](bool online) {
    SmallVector<const Node *> nodes;
    Values values;
    for (auto [number, node] : llvm::enumerate(sweep.reductions)) {
      Node *maximum = onlineMaximum(sweep, node);
      if (bool(maximum) != online)
        continue;
      Value value = foldLanes(node, accumulators[number]);
      own[node] = value;
      if (maximum) {
        size_t at =
            llvm::find(sweep.reductions, maximum) - sweep.reductions.begin();
        Value change = arith::SubFOp::create(builder, loc, accumulators[at],
                                             rowValue(maximum, row));
        value = arith::MulFOp::create(builder, loc, value,
                                      emitOp(*node->operands[0], {change}, 0));
      }
      nodes.push_back(node);
      values.push_back(value);
    }
    values = exchange(nodes, values, gpu.group());
    for (auto [node, value] : llvm::zip(nodes, values)) {
      if (value.getType() != node->type)
        value = arith::TruncFOp::create(builder, loc, node->type, value);
      const Node *init = node->operands[1];
      bool isNeutral =
          init->kind == Node::Kind::Constant && init->value == neutral(node);
      if (!isNeutral)
        value = combineExactly(node, value, rowValue(node->operands[1], row));
      row.values[node] = value;
    }
  };
  finishSome(/*online=*/false);
  finishSome(/*online=*/true);
}
