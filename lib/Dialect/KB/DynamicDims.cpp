//===- DynamicDims.cpp - Which dynamic dimensions of a kernel are equal ---===//

#include "kernelbrain/Dialect/KB/KB.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace kernelbrain::kb;

namespace {
/// Classes of equal extents. A member is a dimension of a value, or a loop of a
/// structured operation (with the operation in place of the value).
class DimClasses {
public:
  using Member = std::pair<const void *, int64_t>;

  static Member dim(Value value, int64_t index) {
    return {value.getAsOpaquePointer(), index};
  }
  void join(Member a, Member b) { classes.unionSets(a, b); }
  bool equal(Member a, Member b) const {
    return a == b || classes.isEquivalent(a, b);
  }

  void joinAll(Value a, Value b) {
    auto type = dyn_cast<RankedTensorType>(a.getType());
    if (!type || !isa<RankedTensorType>(b.getType()))
      return;
    for (int64_t index = 0; index < type.getRank(); ++index)
      join(dim(a, index), dim(b, index));
  }

  /// Joins `member` with the dimension that `extent` was read from, if any.
  void joinExtent(Member member, Value extent) {
    auto read = extent.getDefiningOp<tensor::DimOp>();
    std::optional<int64_t> index =
        read ? read.getConstantIndex() : std::nullopt;
    if (index)
      join(member, dim(read.getSource(), *index));
  }

  void visit(Operation *op) {
    if (auto structured = dyn_cast<linalg::LinalgOp>(op))
      visitLoops(structured);
    if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
      for (OpResult result : op->getResults())
        joinAll(result, destination.getTiedOpOperand(result)->get());
    if (auto cast = dyn_cast<tensor::CastOp>(op))
      joinAll(cast.getSource(), cast.getDest());
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
      joinGroups(expand.getResult(), expand.getSrc(),
                 expand.getReassociationIndices());
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
      joinGroups(collapse.getSrc(), collapse.getResult(),
                 collapse.getReassociationIndices());
    if (auto empty = dyn_cast<tensor::EmptyOp>(op))
      for (auto [index, size] : llvm::enumerate(empty.getMixedSizes()))
        if (auto extent = dyn_cast<Value>(size))
          joinExtent(dim(empty, index), extent);
  }

private:
  void visitLoops(linalg::LinalgOp op) {
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<RankedTensorType>(operand.get().getType()))
        continue;
      AffineMap map = op.getMatchingIndexingMap(&operand);
      for (auto [index, expr] : llvm::enumerate(map.getResults()))
        if (auto loop = dyn_cast<AffineDimExpr>(expr))
          join(dim(operand.get(), index),
               {op.getOperation(), loop.getPosition()});
    }
  }

  /// A group with one dimension beside unit ones keeps its extent.
  void joinGroups(Value expanded, Value collapsed,
                  ArrayRef<ReassociationIndices> groups) {
    auto type = cast<RankedTensorType>(expanded.getType());
    for (auto [index, group] : llvm::enumerate(groups)) {
      SmallVector<int64_t> wide(llvm::make_filter_range(
          group, [&](int64_t dim) { return type.getDimSize(dim) != 1; }));
      if (wide.size() == 1)
        join(dim(expanded, wide.front()), dim(collapsed, index));
    }
  }

  llvm::EquivalenceClasses<Member> classes;
};
} // namespace

SmallVector<SmallVector<int64_t>> KernelOp::getShapes() {
  DimClasses classes;
  getBody().walk([&](Operation *op) { classes.visit(op); });
  for (auto [value, output] : llvm::zip(getYield().getValues(), getOutputs()))
    classes.joinAll(value, output);

  SmallVector<SmallVector<int64_t>> shapes;
  SmallVector<DimClasses::Member> distinct;
  for (BlockArgument argument : getBody().getArguments()) {
    auto type = cast<RankedTensorType>(argument.getType());
    SmallVector<int64_t> &shape = shapes.emplace_back(type.getShape());
    for (auto [index, extent] : llvm::enumerate(shape)) {
      if (!ShapedType::isDynamic(extent))
        continue;
      DimClasses::Member member = DimClasses::dim(argument, index);
      auto found = llvm::find_if(distinct, [&](DimClasses::Member other) {
        return classes.equal(member, other);
      });
      extent = -(found - distinct.begin() + 1);
      if (found == distinct.end())
        distinct.push_back(member);
    }
  }
  return shapes;
}

int64_t KernelOp::getNumDynamicDims() {
  int64_t count = 0;
  for (ArrayRef<int64_t> shape : getShapes())
    for (int64_t extent : shape)
      count = std::max(count, -extent);
  return count;
}
