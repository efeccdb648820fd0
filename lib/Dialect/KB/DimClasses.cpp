//===- DimClasses.cpp - Which dynamic extents are equal -------------------===//

#include "kernelbrain/Dialect/KB/DimClasses.h"

#include "kernelbrain/Dialect/KB/KB.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kernelbrain;

DimClasses::DimClasses(Operation *root) {
  root->walk([&](Operation *op) { visit(op); });
}

unsigned DimClasses::find(Key key) {
  auto [entry, isNew] = ids.try_emplace(key, parents.size());
  if (isNew)
    parents.push_back(entry->second);
  unsigned id = entry->second;
  while (parents[id] != id)
    id = parents[id] = parents[parents[id]];
  return id;
}

void DimClasses::unite(Key left, Key right) {
  unsigned a = find(left), b = find(right);
  parents[std::max(a, b)] = std::min(a, b);
}

static bool isDynamic(Value tensor, int64_t dim) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  return type && dim < type.getRank() && type.isDynamicDim(dim);
}

void DimClasses::uniteDim(Value left, int64_t leftDim, Value right,
                          int64_t rightDim) {
  if (isDynamic(left, leftDim) && isDynamic(right, rightDim))
    unite({left, leftDim}, {right, rightDim});
}

void DimClasses::uniteAll(Value left, Value right) {
  if (auto type = dyn_cast<RankedTensorType>(left.getType()))
    for (int64_t dim : llvm::seq(type.getRank()))
      uniteDim(left, dim, right, dim);
}

void DimClasses::uniteSizes(Value tensor, ValueRange sizes) {
  auto type = cast<RankedTensorType>(tensor.getType());
  for (int64_t dim : llvm::seq(type.getRank()))
    if (type.isDynamicDim(dim) && !sizes.empty()) {
      unite({tensor, dim}, {sizes.front(), -1});
      sizes = sizes.drop_front();
    }
}

// Within a group of a reshape the dynamic extent is kept if all others are 1.
void DimClasses::visitReshape(Operation *op) {
  auto visitGroups = [&](Value expanded, Value collapsed,
                         ArrayRef<ReassociationIndices> groups) {
    ArrayRef<int64_t> shape =
        cast<RankedTensorType>(expanded.getType()).getShape();
    for (auto [dim, group] : llvm::enumerate(groups)) {
      SmallVector<int64_t> others = llvm::filter_to_vector(
          group, [&](int64_t inner) { return shape[inner] != 1; });
      if (others.size() == 1)
        uniteDim(expanded, others[0], collapsed, dim);
    }
  };
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    visitGroups(expand.getResult(), expand.getSrc(),
                expand.getReassociationIndices());
    uniteSizes(expand.getResult(), expand.getOutputShape());
  } else {
    auto collapse = cast<tensor::CollapseShapeOp>(op);
    visitGroups(collapse.getSrc(), collapse.getResult(),
                collapse.getReassociationIndices());
  }
}

void DimClasses::visit(Operation *op) {
  if (auto destinationStyle = dyn_cast<DestinationStyleOpInterface>(op))
    for (OpResult result : op->getResults())
      uniteAll(result, destinationStyle.getTiedOpOperand(result)->get());
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](tensor::DimOp dim) {
        if (std::optional<int64_t> index = dim.getConstantIndex())
          if (isDynamic(dim.getSource(), *index))
            unite({dim.getResult(), -1}, {dim.getSource(), *index});
      })
      .Case([&](tensor::EmptyOp empty) {
        uniteSizes(empty.getResult(), empty.getDynamicSizes());
      })
      .Case([&](tensor::ExtractSliceOp slice) {
        if (slice.getSourceType().getRank() == slice.getType().getRank())
          uniteSizes(slice.getResult(), slice.getSizes());
      })
      .Case([&](tensor::CastOp cast) {
        uniteAll(cast.getResult(), cast.getSource());
      })
      .Case<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
          [&](Operation *reshape) { visitReshape(reshape); })
      .Case([&](kb::YieldOp yield) {
        auto kernel = cast<kb::KernelOp>(yield->getParentOp());
        for (auto [value, output] :
             llvm::zip(yield.getValues(), kernel.getOutputs()))
          uniteAll(value, output);
      })
      .Case([&](linalg::LinalgOp linalgOp) {
        llvm::DenseMap<unsigned, Key> loops;
        for (OpOperand &operand : op->getOpOperands())
          for (auto [dim, expr] : llvm::enumerate(
                   linalgOp.getMatchingIndexingMap(&operand).getResults()))
            if (auto loop = dyn_cast<AffineDimExpr>(expr))
              if (isDynamic(operand.get(), dim)) {
                Key key = {operand.get(), static_cast<int64_t>(dim)};
                auto [entry, isNew] =
                    loops.try_emplace(loop.getPosition(), key);
                if (!isNew)
                  unite(entry->second, key);
              }
      });
}

SmallVector<SmallVector<int64_t>> kb::KernelOp::getShapes() {
  DimClasses classes(*this);
  SmallVector<SmallVector<int64_t>> shapes;
  SmallVector<unsigned> distinct;
  for (BlockArgument argument : getBody().getArguments()) {
    auto type = cast<RankedTensorType>(argument.getType());
    SmallVector<int64_t> &shape = shapes.emplace_back(type.getShape());
    for (auto [dim, extent] : llvm::enumerate(shape)) {
      if (!ShapedType::isDynamic(extent))
        continue;
      auto found = llvm::find(distinct, classes.of(argument, dim));
      extent = -(found - distinct.begin() + 1);
      if (found == distinct.end())
        distinct.push_back(classes.of(argument, dim));
    }
  }
  return shapes;
}

int64_t kb::KernelOp::getNumDynamicDims() {
  int64_t count = 0;
  for (ArrayRef<int64_t> shape : getShapes())
    for (int64_t extent : shape)
      count = std::max(count, -extent);
  return count;
}
