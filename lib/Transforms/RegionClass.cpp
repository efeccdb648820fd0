//===- RegionClass.cpp - Classes of regions -------------------------------===//

#include "RegionFormer.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace kernelbrain;

OpClass RegionFormer::anchorOf(const FormedRegion &region) const {
  static constexpr OpClass byRank[] = {OpClass::Convolution,
                                       OpClass::GroupedConvolution,
                                       OpClass::DepthwiseConvolution,
                                       OpClass::Contraction,
                                       OpClass::Matvec,
                                       OpClass::Pooling,
                                       OpClass::RecurrentLoop,
                                       OpClass::Scan,
                                       OpClass::RowReduction,
                                       OpClass::ColumnReduction,
                                       OpClass::MultiAxisReduction,
                                       OpClass::FullReduction,
                                       OpClass::TwoOperandReduction,
                                       OpClass::Dot,
                                       OpClass::Gather,
                                       OpClass::Transpose,
                                       OpClass::Concat,
                                       OpClass::Dilate,
                                       OpClass::Pad,
                                       OpClass::AffineGather,
                                       OpClass::PermutingElementwise,
                                       OpClass::Stencil};
  for (OpClass cls : byRank)
    for (const Node *node : region.nodes)
      if (node->cls == cls)
        return cls;
  if (region.nodes.front()->role == Role::Opaque)
    return OpClass::Other;
  return readsShiftedSlices(region) ? OpClass::Stencil : OpClass::Elementwise;
}

RegionFormer::Group RegionFormer::groupOf(const FormedRegion &region) const {
  OpClass anchor = anchorOf(region);
  if (isProduct(anchor))
    return Group::Product;
  if (isConvolution(anchor))
    return Group::Convolution;
  if (isReduction(anchor))
    return Group::Reduction;
  if (anchor == OpClass::Pooling)
    return Group::Pooling;
  if (isElementwiseLike(anchor) || anchor == OpClass::Transpose ||
      anchor == OpClass::Concat || anchor == OpClass::Gather ||
      anchor == OpClass::AffineGather || anchor == OpClass::Dilate)
    return Group::Elementwise;
  return Group::Other;
}

/// Three or more overlapping parts of one tensor.
bool RegionFormer::readsShiftedSlices(const FormedRegion &region) const {
  llvm::MapVector<Value, llvm::SmallSetVector<Value, 4>> parts;
  llvm::DenseMap<Value, int64_t> points;
  for (const Node *node : region.nodes)
    for (Value operand : node->op->getOperands()) {
      if (!isa<RankedTensorType>(operand.getType()))
        continue;
      Root root = graph.rootOf(operand);
      if (!root.isSliced)
        continue;
      parts[root.value].insert(operand);
      points[root.value] += node->points;
    }
  return llvm::any_of(parts, [&](const auto &entry) {
    int64_t total = countElements(cast<ShapedType>(entry.first.getType()),
                                  graph.getDynamicDim());
    return entry.second.size() >= 3 && 2 * points[entry.first] > 3 * total;
  });
}

/// (points of the parallel, of the reduction dimensions) of a reduction DAG.
std::optional<RegionFormer::Space>
RegionFormer::spaceOf(const FormedRegion &region) const {
  for (const Node *node : region.nodes)
    if (isReduction(node->cls))
      return Space(node->facts.rows, node->facts.columns);
  return std::nullopt;
}

/// Points of the result of the product, convolution or pooling.
int64_t RegionFormer::mainPoints(const FormedRegion &region) const {
  for (const Node *node : region.nodes)
    if (isProduct(node->cls) || isConvolution(node->cls) ||
        node->cls == OpClass::Pooling)
      return countElements(cast<ShapedType>(node->op->getResult(0).getType()),
                           graph.getDynamicDim());
  return 0;
}

bool RegionFormer::isGeneralized(const FormedRegion &region) const {
  if (!isReduction(region.cls))
    return false;
  llvm::SmallSetVector<Value, 4> inputs;
  for (const Node *node : region.nodes)
    for (const Edge &edge : node->edges)
      if (!edge.producer || edge.producer->region != &region)
        inputs.insert(edge.root);
  int64_t elements = 1;
  for (Value input : inputs)
    elements +=
        countElements(cast<ShapedType>(input.getType()), graph.getDynamicDim());
  std::optional<Space> space = spaceOf(region);
  return space->first * space->second > 8 * elements;
}
