//===- RowReductions.cpp - Combining and finishing reductions -------------===//

#include "RowEmitter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

#include <limits>

using namespace mlir;
using namespace kernelbrain::strategy;

//===----------------------------------------------------------------------===//
// Plain reductions
//===----------------------------------------------------------------------===//

static TypedAttr extremeInteger(Builder &builder, Type type, ReduceKind kind) {
  unsigned bits = isa<IndexType>(type) ? 64 : type.getIntOrFloatBitWidth();
  APInt value(bits, 0);
  if (kind == ReduceKind::MaxSI)
    value = APInt::getSignedMinValue(bits);
  else if (kind == ReduceKind::MinSI)
    value = APInt::getSignedMaxValue(bits);
  else if (kind == ReduceKind::MinUI || kind == ReduceKind::AndI)
    value = APInt::getMaxValue(bits);
  else if (kind == ReduceKind::MulI)
    value = APInt(bits, 1);
  return builder.getIntegerAttr(type, value);
}

/// What accumulators start from.
TypedAttr ProgramEmitter::neutral(const Node *reduction) {
  Type type = reduction->operands[0]->type;
  double infinity = std::numeric_limits<double>::infinity();
  if (reduction->kind == Node::Kind::ArgReduce)
    return builder.getFloatAttr(type,
                                reduction->smallest ? infinity : -infinity);
  switch (reduction->reduce) {
  case ReduceKind::AddF:
    return builder.getFloatAttr(type, 0);
  case ReduceKind::MulF:
    return builder.getFloatAttr(type, 1);
  case ReduceKind::MaximumF:
  case ReduceKind::MaxNumF:
  case ReduceKind::MaxSelectF:
    return builder.getFloatAttr(type, -infinity);
  case ReduceKind::MinimumF:
  case ReduceKind::MinNumF:
  case ReduceKind::MinSelectF:
    return builder.getFloatAttr(type, infinity);
  default:
    return extremeInteger(builder, type, reduction->reduce);
  }
}

/// True where one comparison and a select may stand for the extremum.
bool ProgramEmitter::isFastExtremum(const Node *node) {
  if (node->kind == Node::Kind::ArgReduce)
    return true;
  switch (node->reduce) {
  case ReduceKind::MaxNumF:
  case ReduceKind::MinNumF:
  case ReduceKind::MaxSelectF:
  case ReduceKind::MinSelectF:
    return true;
  case ReduceKind::MaximumF:
  case ReduceKind::MinimumF:
    break;
  default:
    return false;
  }
  auto [slot, isNew] = fast.try_emplace(node, false);
  if (isNew)
    slot->second = mayDropNaN(program, node);
  return slot->second;
}

static bool isSmallest(const Node *node) {
  return node->kind == Node::Kind::ArgReduce
             ? node->smallest
             : node->reduce == ReduceKind::MinimumF ||
                   node->reduce == ReduceKind::MinNumF ||
                   node->reduce == ReduceKind::MinSelectF;
}

/// A new element `a` into the accumulator `b`, which is no NaN if the extremum
/// is a fast one.
Value ProgramEmitter::combine(const Node *reduction, Value a, Value b) {
  return isFastExtremum(reduction) ? selectBetter(reduction, a, b)
                                   : combineExactly(reduction, a, b);
}

/// `a` if it is better than `b`, so `b` if one of them is NaN.
Value ProgramEmitter::selectBetter(const Node *reduction, Value a, Value b) {
  Value better =
      arith::CmpFOp::create(builder, loc,
                            isSmallest(reduction) ? arith::CmpFPredicate::OLT
                                                  : arith::CmpFPredicate::OGT,
                            a, b);
  return arith::SelectOp::create(builder, loc, better, a, b);
}

Value ProgramEmitter::combineExactly(const Node *reduction, Value a, Value b) {
  auto flags = options.contract ? arith::FastMathFlags::contract
                                : arith::FastMathFlags::none;
  switch (reduction->reduce) {
  case ReduceKind::AddF:
    return arith::AddFOp::create(builder, loc, a, b, flags);
  case ReduceKind::MulF:
    return arith::MulFOp::create(builder, loc, a, b);
  case ReduceKind::MaximumF:
    return arith::MaximumFOp::create(builder, loc, a, b);
  case ReduceKind::MinimumF:
    return arith::MinimumFOp::create(builder, loc, a, b);
  case ReduceKind::MaxNumF:
    return arith::MaxNumFOp::create(builder, loc, a, b);
  case ReduceKind::MinNumF:
    return arith::MinNumFOp::create(builder, loc, a, b);
  case ReduceKind::MaxSelectF:
  case ReduceKind::MinSelectF:
    return selectBetter(reduction, a, b);
  case ReduceKind::AddI:
    return arith::AddIOp::create(builder, loc, a, b);
  case ReduceKind::MulI:
    return arith::MulIOp::create(builder, loc, a, b);
  case ReduceKind::AndI:
    return arith::AndIOp::create(builder, loc, a, b);
  case ReduceKind::OrI:
    return arith::OrIOp::create(builder, loc, a, b);
  case ReduceKind::XOrI:
    return arith::XOrIOp::create(builder, loc, a, b);
  case ReduceKind::MaxSI:
    return arith::MaxSIOp::create(builder, loc, a, b);
  case ReduceKind::MinSI:
    return arith::MinSIOp::create(builder, loc, a, b);
  case ReduceKind::MaxUI:
    return arith::MaxUIOp::create(builder, loc, a, b);
  case ReduceKind::MinUI:
    return arith::MinUIOp::create(builder, loc, a, b);
  }
  llvm_unreachable("unknown kind of reduction");
}

/// By halves: LLVM's own reduction of an extremum is a chain of scalars.
Value RowEmitter::reduceLanes(const Node *reduction, Value vector) {
  bool isSum = reduction->kind == Node::Kind::Reduce &&
               (reduction->reduce == ReduceKind::AddF ||
                reduction->reduce == ReduceKind::MulF);
  if (isSum)
    return vector::ReductionOp::create(builder, loc,
                                       reduction->reduce == ReduceKind::AddF
                                           ? vector::CombiningKind::ADD
                                           : vector::CombiningKind::MUL,
                                       vector, arith::FastMathFlags::reassoc);
  int64_t lanes = cast<VectorType>(vector.getType()).getNumElements();
  while (lanes > 1) {
    lanes /= 2;
    auto half = [&](int64_t offset) -> Value {
      return vector::ExtractStridedSliceOp::create(
          builder, loc, vector, ArrayRef<int64_t>{offset},
          ArrayRef<int64_t>{lanes}, ArrayRef<int64_t>{1});
    };
    Value low = half(0), high = half(lanes);
    vector = combine(reduction, low, high);
  }
  return vector::ExtractOp::create(builder, loc, vector, ArrayRef<int64_t>{0});
}

//===----------------------------------------------------------------------===//
// The place of an extremum
//===----------------------------------------------------------------------===//

/// Accumulators: the lane's extremum, the column of its vector less the slot's
/// share, and whether a NaN came by.
RowEmitter::Values RowEmitter::argAccumulate(const Node *node, const Slot &slot,
                                             ValueRange old) {
  Value x = valueIn(node->operands[0], slot);
  auto predicate =
      node->smallest ? arith::CmpFPredicate::OLT : arith::CmpFPredicate::OGT;
  Value better = arith::CmpFOp::create(builder, loc, predicate, x, old[0]);
  Value isNaN =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, x, x);
  if (slot.mask) {
    better = arith::AndIOp::create(builder, loc, better, slot.mask);
    isNaN = arith::AndIOp::create(builder, loc, isNaN, slot.mask);
  }
  Value base = slot.column;
  if (slot.number)
    base = arith::SubIOp::create(builder, loc, base,
                                 index(slot.number * slot.lanes));
  base = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), base);
  base = broadcast(base, slot.lanes);
  return {arith::SelectOp::create(builder, loc, better, x, old[0]),
          arith::SelectOp::create(builder, loc, better, base, old[1]),
          arith::OrIOp::create(builder, loc, old[2], isNaN)};
}

/// The slots' lanes to one extremum, its lowest column and one flag.
RowEmitter::Values RowEmitter::argCombine(const Node *node,
                                          ArrayRef<Values> slots) {
  int64_t lanes = options.lanes;
  auto intVector = VectorType::get({lanes}, builder.getI32Type());
  Value best = slots[0][0], flags = slots[0][2];
  for (const Values &slot : slots.drop_front()) {
    best = combine(node, best, slot[0]);
    flags = arith::OrIOp::create(builder, loc, flags, slot[2]);
  }
  best = reduceLanes(node, best);
  Value all = broadcast(best, lanes);
  Value none = constant(
      builder.getI32IntegerAttr(std::numeric_limits<int32_t>::max()), lanes);
  Value columns;
  for (auto [number, slot] : llvm::enumerate(slots)) {
    SmallVector<int32_t> offsets;
    for (int64_t lane = 0; lane < lanes; ++lane)
      offsets.push_back(number * lanes + lane);
    Value offset = arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::get(intVector, ArrayRef(offsets)));
    Value column = arith::AddIOp::create(builder, loc, slot[1], offset);
    Value isBest = arith::CmpFOp::create(
        builder, loc, arith::CmpFPredicate::OEQ, slot[0], all);
    column = arith::SelectOp::create(builder, loc, isBest, column, none);
    columns =
        columns
            ? arith::MinSIOp::create(builder, loc, columns, column).getResult()
            : column;
  }
  Value column = vector::ReductionOp::create(
      builder, loc, vector::CombiningKind::MINSI, columns);
  Type bitsType = builder.getIntegerType(lanes);
  Value bits = vector::BitCastOp::create(builder, loc,
                                         VectorType::get({1}, bitsType), flags);
  bits = vector::ExtractOp::create(builder, loc, bits, ArrayRef<int64_t>{0});
  Value zero = arith::ConstantOp::create(builder, loc,
                                         builder.getIntegerAttr(bitsType, 0));
  Value flag =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, bits, zero);
  return {best, column, flag};
}

Value kernelbrain::strategy::castInteger(OpBuilder &builder, Location loc,
                                         Value value, Type type) {
  Type from = value.getType();
  if (from == type)
    return value;
  if (isa<IndexType>(getElementTypeOrSelf(type)) ||
      isa<IndexType>(getElementTypeOrSelf(from)))
    return arith::IndexCastOp::create(builder, loc, type, value);
  bool widens = getElementTypeOrSelf(from).getIntOrFloatBitWidth() <
                getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  return widens
             ? arith::ExtSIOp::create(builder, loc, type, value).getResult()
             : arith::TruncIOp::create(builder, loc, type, value).getResult();
}

Value RowEmitter::argFinish(const Node *node, ValueRange accumulators) {
  Value init = rowValue(node->operands[1]);
  Value initIndex = rowValue(node->operands[2]);
  auto predicate =
      node->smallest ? arith::CmpFPredicate::OLT : arith::CmpFPredicate::OGT;
  Value found =
      arith::CmpFOp::create(builder, loc, predicate, accumulators[0], init);
  Value column = castInteger(builder, loc, accumulators[1], node->type);
  column = arith::SelectOp::create(builder, loc, found, column, initIndex);
  auto choice = scf::IfOp::create(builder, loc, TypeRange(node->type),
                                  accumulators[2], /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(builder, loc, argReduceSlowly(node));
  builder.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(builder, loc, column);
  return choice.getResult(0);
}

/// The loop of the input, for rows with a NaN: after it no column is better.
Value RowEmitter::argReduceSlowly(const Node *node) {
  Values inits{rowValue(node->operands[1]), rowValue(node->operands[2])};
  auto predicate =
      node->smallest ? arith::CmpFPredicate::OLT : arith::CmpFPredicate::OGT;
  return emitLoop(
      index(0), extentValue(program.columns()), 1, inits,
      [&](Value at, ValueRange old) -> Values {
        Slot slot(0, 0, at);
        evaluate(plan.sweeps[sweepNumber], slot);
        Value x = valueIn(node->operands[0], slot);
        Value better =
            arith::CmpFOp::create(builder, loc, predicate, x, old[0]);
        Value best =
            node->smallest
                ? arith::MinimumFOp::create(builder, loc, x, old[0]).getResult()
                : arith::MaximumFOp::create(builder, loc, x, old[0])
                      .getResult();
        Value column = castInteger(builder, loc, at, node->type);
        return {best,
                arith::SelectOp::create(builder, loc, better, column, old[1])};
      })[1];
}
