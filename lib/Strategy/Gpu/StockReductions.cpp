//===- StockReductions.cpp - Long reductions in parts ---------------------===//

#include "StockLaunches.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace kernelbrain::strategy {

namespace {
/// A reduction that can be taken apart.
struct PlainReduction {
  linalg::GenericOp op;
  Operation *combiner = nullptr;
  TypedAttr neutral;
  SmallVector<unsigned> kept, reduced; ///< dimensions of the loop nest
  SmallVector<int64_t> extents;        ///< of all dimensions
  int64_t results = 1, elements = 1;
};
} // namespace

static std::optional<PlainReduction> matchPlain(linalg::GenericOp op) {
  PlainReduction found;
  found.op = op;
  if (!op.hasPureBufferSemantics() || op.getNumDpsInits() != 1)
    return std::nullopt;
  found.extents = op.getStaticLoopRanges();
  for (auto [dim, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    bool isReduction = kind == utils::IteratorType::reduction;
    (isReduction ? found.reduced : found.kept).push_back(dim);
    if (ShapedType::isDynamic(found.extents[dim]))
      return std::nullopt;
    (isReduction ? found.elements : found.results) *= found.extents[dim];
  }
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  SmallVector<Operation *> combiners;
  if (!map.isProjectedPermutation() ||
      !matchReduction(op.getRegionOutputArgs(), 0, combiners) ||
      combiners.size() != 1)
    return std::nullopt;
  found.combiner = combiners.front();
  std::optional<TypedAttr> neutral = arith::getNeutralElement(found.combiner);
  if (!neutral)
    return std::nullopt;
  found.neutral = *neutral;
  return found;
}

/// The body for one position of the loop nest; returns the value that it
/// yields.
static Value inlineBody(OpBuilder &builder, const PlainReduction &reduction,
                        ArrayRef<Value> position, Value accumulator) {
  linalg::GenericOp op = reduction.op;
  Location loc = op.getLoc();
  IRMapping mapping;
  for (OpOperand *input : op.getDpsInputOperands()) {
    Value value = input->get();
    if (isa<MemRefType>(value.getType())) {
      AffineMap map = op.getMatchingIndexingMap(input);
      SmallVector<Value> indices;
      for (unsigned result = 0; result < map.getNumResults(); ++result)
        indices.push_back(affine::AffineApplyOp::create(
            builder, loc, map.getSubMap({result}), position));
      value = memref::LoadOp::create(builder, loc, value, indices);
    }
    mapping.map(op.getMatchingBlockArgument(input), value);
  }
  mapping.map(op.getRegionOutputArgs()[0], accumulator);
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner))
      mapping.map(index.getResult(), position[index.getDim()]);
    else
      builder.clone(inner, mapping);
  }
  return mapping.lookupOrDefault(op.getBody()->getTerminator()->getOperand(0));
}

/// Takes `number` apart by the extents of `dims`, the last one the fastest.
static void delinearize(OpBuilder &builder, Location loc, Value number,
                        ArrayRef<unsigned> dims, ArrayRef<int64_t> extents,
                        MutableArrayRef<Value> position) {
  for (size_t at = dims.size(); at-- > 0;) {
    if (at == 0) {
      position[dims[0]] = number;
      break;
    }
    Value extent =
        arith::ConstantIndexOp::create(builder, loc, extents[dims[at]]);
    position[dims[at]] = arith::RemUIOp::create(builder, loc, number, extent);
    number = arith::DivUIOp::create(builder, loc, number, extent);
  }
}

static void split(const PlainReduction &reduction, int64_t parts) {
  linalg::GenericOp op = reduction.op;
  Location loc = op.getLoc();
  OpBuilder builder(op);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value zero = constant(0), one = constant(1), allParts = constant(parts);
  Value results = constant(reduction.results);
  Value elements = constant(reduction.elements);
  Type type = reduction.neutral.getType();
  Value memory = memref::AllocOp::create(
      builder, loc, MemRefType::get({reduction.results, parts}, type));
  Value out = op.getDpsInitOperand(0)->get();
  SmallVector<Value> position(reduction.extents.size());

  auto partial = scf::ParallelOp::create(builder, loc, ValueRange{zero, zero},
                                         ValueRange{results, allParts},
                                         ValueRange{one, one});
  builder.setInsertionPointToStart(partial.getBody());
  Value result = partial.getInductionVars()[0];
  Value part = partial.getInductionVars()[1];
  delinearize(builder, loc, result, reduction.kept, reduction.extents,
              position);
  Value neutral = arith::ConstantOp::create(builder, loc, reduction.neutral);
  auto loop =
      scf::ForOp::create(builder, loc, part, elements, allParts, neutral);
  builder.setInsertionPointToStart(loop.getBody());
  delinearize(builder, loc, loop.getInductionVar(), reduction.reduced,
              reduction.extents, position);
  Value next =
      inlineBody(builder, reduction, position, loop.getRegionIterArgs()[0]);
  scf::YieldOp::create(builder, loc, next);
  builder.setInsertionPointAfter(loop);
  memref::StoreOp::create(builder, loc, loop.getResult(0), memory,
                          ValueRange{result, part});

  builder.setInsertionPoint(op);
  auto whole = scf::ParallelOp::create(builder, loc, zero, results, one);
  builder.setInsertionPointToStart(whole.getBody());
  result = whole.getInductionVars()[0];
  delinearize(builder, loc, result, reduction.kept, reduction.extents,
              position);
  SmallVector<Value> indices;
  for (AffineExpr dim :
       op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getResults())
    indices.push_back(position[cast<AffineDimExpr>(dim).getPosition()]);
  Value first = memref::LoadOp::create(builder, loc, out, indices);
  loop = scf::ForOp::create(builder, loc, zero, allParts, one, first);
  builder.setInsertionPointToStart(loop.getBody());
  Value value = memref::LoadOp::create(
      builder, loc, memory, ValueRange{result, loop.getInductionVar()});
  Operation *combined = builder.clone(*reduction.combiner);
  combined->setOperands({loop.getRegionIterArgs()[0], value});
  scf::YieldOp::create(builder, loc, combined->getResult(0));
  builder.setInsertionPointAfter(loop);
  memref::StoreOp::create(builder, loc, loop.getResult(0), out, indices);

  builder.setInsertionPoint(op);
  memref::DeallocOp::create(builder, loc, memory);
  op.erase();
}

void splitReductions(func::FuncOp function) {
  // Enough threads to fill a GPU; parts long enough to be worth a second step.
  constexpr int64_t threads = 1 << 15, leastElements = 64;
  SmallVector<linalg::GenericOp> ops;
  function.walk([&](linalg::GenericOp op) {
    if (isa<func::FuncOp>(op->getParentOp()))
      ops.push_back(op);
  });
  for (linalg::GenericOp op : ops) {
    std::optional<PlainReduction> reduction = matchPlain(op);
    if (!reduction || reduction->results <= 0)
      continue;
    int64_t parts = std::min(threads / reduction->results,
                             reduction->elements / leastElements);
    if (parts > 1)
      split(*reduction, parts);
  }
}

} // namespace kernelbrain::strategy
