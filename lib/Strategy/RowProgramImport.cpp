//===- RowProgramImport.cpp - From a kernel's body to a row program -------===//
//
// Evaluation by demand: an output element is asked for at the coordinates of
// the space, and every operation passes the question on to its operands at the
// coordinates that its indexing maps name.
//
//===----------------------------------------------------------------------===//

#include "RowProgramImport.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace kernelbrain::strategy;
using namespace kernelbrain;

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

static std::string encode(const Coordinates &coordinates) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const Coordinate &coordinate : coordinates) {
    for (unsigned axis : coordinate.axes)
      os << 'a' << axis;
    for (auto [axis, scale] : coordinate.also)
      os << 's' << axis << '*' << scale;
    if (coordinate.node)
      os << 'n' << coordinate.node->id;
    os << '*' << coordinate.scale << '+' << coordinate.constant << ',';
  }
  return text;
}

Node *RowProgramImporter::fail(const llvm::Twine &why) {
  if (reason.empty())
    reason = why.str();
  return nullptr;
}

/// Spreads the axes of `coordinate` over dimensions of the given extents: from
/// the innermost on, each takes axes that fill it; the outermost takes the
/// rest.
bool RowProgramImporter::split(const Coordinate &coordinate,
                               ArrayRef<int64_t> extents, Coordinates &result) {
  const char *cutsOtherwise =
      "a reshape cuts a dimension in another way than its rows";
  Coordinates parts(extents.size());
  unsigned wide = llvm::count_if(extents, [](int64_t e) { return e != 1; });
  Coordinate rest = coordinate;
  for (size_t dim = extents.size(); !rest.isZero() && dim-- > 0;) {
    int64_t extent = extents[dim];
    if (extent == 1)
      continue;
    if (wide-- == 1) {
      parts[dim] = rest;
      rest = Coordinate();
      break;
    }
    if (rest.axes.empty() && !rest.node && extent > 0) {
      parts[dim].constant = rest.constant % extent;
      rest.constant /= extent;
      continue;
    }
    if (rest.node || !rest.also.empty() || rest.scale != 1 || extent < 0 ||
        rest.constant % extent)
      return fail(cutsOtherwise);
    rest.constant /= extent;
    int64_t product = 1;
    while (!rest.axes.empty() && product < extent) {
      const Extent &axis = program.axes[rest.axes.back()];
      int64_t inner = extent / product;
      if (axis.isStatic() && axis.factor > inner && extent % product == 0 &&
          axis.factor % inner == 0 && !wantedCut)
        wantedCut = {rest.axes.back(), inner};
      product *= axis.isStatic() ? axis.factor : extent + 1;
      parts[dim].axes.insert(parts[dim].axes.begin(), rest.axes.pop_back_val());
    }
    if (product != extent && !parts[dim].axes.empty())
      return fail(cutsOtherwise);
  }
  if (!rest.isZero())
    return fail(cutsOtherwise);
  result.append(parts);
  return true;
}

/// The coordinate of a dimension that was expanded into `parts`.
bool RowProgramImporter::join(ArrayRef<Coordinate> parts,
                              ArrayRef<int64_t> extents, Coordinate &result) {
  if (llvm::count_if(extents, [](int64_t e) { return e != 1; }) == 1) {
    for (auto [part, extent] : llvm::zip(parts, extents))
      if (extent != 1)
        result = part;
    return true;
  }
  int64_t inner = 1; // elements of the dimensions further in
  for (size_t dim = parts.size(); dim-- > 0;) {
    const Coordinate &part = parts[dim];
    if (extents[dim] == 1)
      continue;
    if (part.node || !part.also.empty() || part.scale != 1)
      return fail("a reshape joins a computed index");
    if (part.constant && inner < 0)
      return fail("a constant index into a dynamic dimension");
    result.constant += part.constant * inner;
    // Digits further out count in multiples of whole dimensions.
    bool isOutermost =
        llvm::all_of(extents.take_front(dim), [](int64_t e) { return e == 1; });
    bool isFull =
        extents[dim] < 0 || pointsOf(part) == extents[dim] ||
        llvm::any_of(
            part.axes,
            [&](unsigned axis) { return !program.axes[axis].isStatic(); });
    bool isAlone = llvm::all_of(parts.take_front(dim), [](const Coordinate &p) {
      return p.axes.empty();
    });
    if (!isOutermost && !isAlone && (part.isShifted() || !isFull))
      return fail("a reshape joins a part of a dimension");
    result.axes.insert(result.axes.begin(), part.axes.begin(), part.axes.end());
    inner = extents[dim] < 0 || inner < 0 ? -1 : inner * extents[dim];
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Values of tensors at coordinates
//===----------------------------------------------------------------------===//

Node *RowProgramImporter::evaluate(Value tensor,
                                   const Coordinates &coordinates) {
  auto key = std::make_pair(tensor.getAsOpaquePointer(), encode(coordinates));
  if (auto known = memo.find(key); known != memo.end())
    return known->second;
  Node *node = nullptr;
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    bool isCarried = argument == carried;
    if (argument.getOwner() != &kernel.getBody().front())
      return isCarried && encode(coordinates) ==
                              encode(rowsOf(
                                  cast<RankedTensorType>(argument.getType())))
                 ? carriedNode
                 : fail("a loop carries more than one value a row");
    node = argument.getArgNumber() < program.numInputs
               ? makeInput(argument.getArgNumber(), coordinates)
               : fail("the old value of a destination is read");
  } else {
    Operation *op = tensor.getDefiningOp();
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      node = evaluateLinalg(linalgOp, cast<OpResult>(tensor).getResultNumber(),
                            coordinates);
    else
      node = evaluateView(op, coordinates);
  }
  if (node)
    memo[key] = node;
  return node;
}

Node *RowProgramImporter::evaluateView(Operation *op,
                                       const Coordinates &coordinates) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!elements || !elements.isSplat())
      return fail("it holds an array constant");
    return program.constant(elements.getSplatValue<TypedAttr>());
  }
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return evaluate(cast.getSource(), coordinates);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    Coordinates source;
    ArrayRef<int64_t> shape = expand.getResultType().getShape();
    for (const ReassociationIndices &group : expand.getReassociationIndices()) {
      Coordinate joined;
      if (!join(ArrayRef(coordinates).slice(group.front(), group.size()),
                shape.slice(group.front(), group.size()), joined))
        return nullptr;
      source.push_back(joined);
    }
    return evaluate(expand.getSrc(), source);
  }
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    Coordinates source;
    ArrayRef<int64_t> shape = collapse.getSrcType().getShape();
    for (auto [coordinate, group] :
         llvm::zip(coordinates, collapse.getReassociationIndices()))
      if (!split(coordinate, shape.slice(group.front(), group.size()), source))
        return nullptr;
    // A tensor of rank zero has no group to speak for its unit dimensions.
    source.resize(shape.size());
    return evaluate(collapse.getSrc(), source);
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return evaluateSlice(slice, coordinates);
  if (auto insertion = dyn_cast<tensor::InsertSliceOp>(op))
    return evaluateInsertion(insertion, coordinates);
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return evaluatePad(pad, coordinates);
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return evaluateConcat(concat, coordinates);
  if (isa<tensor::EmptyOp>(op))
    return fail("an undefined value is read");
  return fail("it holds '" + op->getName().getStringRef() + "'");
}

Node *RowProgramImporter::makeInput(unsigned argument,
                                    const Coordinates &coordinates) {
  Access access;
  SmallVector<Node *> dynamic;
  if (!makeAccess(argument, coordinates, access, dynamic))
    return nullptr;
  return program.input(access, dynamic, program.elementTypes[argument]);
}

bool RowProgramImporter::makeAccess(unsigned argument,
                                    const Coordinates &coordinates,
                                    Access &access,
                                    SmallVectorImpl<Node *> &dynamic) {
  access.argument = argument;
  access.strides.assign(program.axes.size(), Extent{0, {}});
  Extent stride;
  ArrayRef<int64_t> shape = program.shapes[argument];
  for (int64_t dim = shape.size() - 1; dim >= 0; --dim) {
    const Coordinate &coordinate = coordinates[dim];
    Extent extent = symbolic(shape[dim]);
    if (coordinate.node) {
      dynamic.push_back(coordinate.node);
      access.dynamicStrides.push_back(stride);
    } else if (coordinate.constant) {
      if (!stride.isStatic())
        return fail("a constant index into a dynamic dimension");
      access.offset += coordinate.constant * stride.factor;
    }
    Extent inner = stride * Extent{coordinate.scale, {}};
    for (unsigned axis : llvm::reverse(coordinate.axes)) {
      if (program.axes[axis].factor == unresolved)
        program.axes[axis] = extent;
      if (!access.strides[axis].isZero())
        return fail("a diagonal is read");
      access.strides[axis] = inner;
      inner = inner * program.axes[axis];
    }
    for (auto [axis, scale] : coordinate.also) {
      if (!access.strides[axis].isZero())
        return fail("a diagonal is read");
      access.strides[axis] = stride * Extent{scale, {}};
    }
    std::optional<int64_t> last = lastOf(coordinate);
    bool isPart = last && shape[dim] >= 0 && coordinate.constant >= 0 &&
                  *last < shape[dim];
    bool isWhole = !coordinate.isShifted() && inner == stride * extent;
    bool isClamped =
        canClamp(coordinate) && stride.isStatic() && shape[dim] >= 0;
    if (!coordinate.node && !isPart && !isWhole && isClamped)
      access.clamps.push_back({coordinate.axes.front(), coordinate.scale,
                               coordinate.constant, shape[dim], stride.factor,
                               coordinate.also});
    else if (!coordinate.node && !isPart && !isWhole)
      return fail("an argument's extent differs from the loop's");
    stride = stride * extent;
  }
  return true;
}

Extent RowProgramImporter::symbolic(int64_t extent) const {
  if (extent >= 0)
    return Extent{extent, {}};
  return Extent{1, {static_cast<unsigned>(-extent - 1)}};
}
