//===- RowProgramImport.cpp - From a kernel's body to a row program -------===//
//
// Evaluation by demand: an output element is asked for at the coordinates of
// the space, and every operation passes the question on to its operands at the
// coordinates that its indexing maps name.
//
//===----------------------------------------------------------------------===//

#include "RowProgramImport.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
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
    if (rest.node || rest.scale != 1 || extent < 0 || rest.constant % extent)
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
    if (part.node || part.scale != 1)
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
    std::optional<int64_t> points = pointsOf(coordinate);
    bool isPart =
        points && shape[dim] >= 0 && coordinate.constant >= 0 &&
        coordinate.constant + coordinate.scale * (*points - 1) < shape[dim];
    bool isWhole = !coordinate.isShifted() && inner == stride * extent;
    if (!coordinate.node && !isPart && !isWhole)
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

//===----------------------------------------------------------------------===//
// Values inside the bodies of linalg operations
//===----------------------------------------------------------------------===//

Node *RowProgramImporter::evaluateLinalg(linalg::LinalgOp op, unsigned result,
                                         const Coordinates &coordinates) {
  Body body(op);
  AffineMap map = op.getIndexingMapsArray()[op.getNumDpsInputs() + result];
  SmallVector<bool> known(op.getNumLoops());
  for (auto [expression, coordinate] : llvm::zip(map.getResults(), coordinates))
    if (auto dim = dyn_cast<AffineDimExpr>(expression)) {
      body.loops[dim.getPosition()] = coordinate;
      known[dim.getPosition()] = true;
    }
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  unsigned nextColumn = program.numRowAxes;
  bool reduces = false;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    bool isReduction = iterators[loop] == utils::IteratorType::reduction;
    if (known[loop]) {
      for (unsigned axis : body.loops[loop].axes)
        if (op.getNumReductionLoops() && axis >= program.numRowAxes)
          return fail("a reduction runs across the rows");
    } else if (ranges[loop] != 1 && !isReduction) {
      return fail("a parallel loop does not reach its result");
    } else if (isReduction && ranges[loop] != 1) {
      if (!bindColumns(ranges[loop], nextColumn, body.loops[loop]))
        return nullptr;
    }
    reduces |= isReduction;
  }
  if (!evaluateAssertions(body))
    return nullptr;
  if (reduces)
    return evaluateReduction(body, result, coordinates);
  return evaluateScalar(op.getBlock()->getTerminator()->getOperand(result),
                        &body);
}

/// The axes of one reduced loop, which are the next ones.
bool RowProgramImporter::bindColumns(int64_t extent, unsigned &next,
                                     Coordinate &result) {
  int64_t points = 1;
  do {
    if (next == program.axes.size())
      return fail("a reduction is not over the columns");
    const Extent &axis = program.axes[next];
    bool isKnown = axis.isStatic() && axis.factor != unresolved;
    points = isKnown ? points * axis.factor : extent;
    result.axes.push_back(next++);
  } while (extent >= 0 && points < extent);
  return true;
}

bool RowProgramImporter::evaluateAssertions(Body &body) {
  for (auto assertion : body.op.getBlock()->getOps<cf::AssertOp>()) {
    Node *condition = evaluateScalar(assertion.getArg(), &body);
    if (!condition)
      return false;
    seenAssertions.insert(assertion);
    bool isNew = llvm::none_of(program.assertions, [&](const Assertion &other) {
      return other.condition == condition &&
             other.message == assertion.getMsg();
    });
    if (isNew)
      program.assertions.push_back({condition, assertion.getMsg().str()});
  }
  return true;
}

Node *RowProgramImporter::evaluateOperand(Body &body, OpOperand &operand) {
  if (!isa<TensorType>(operand.get().getType()))
    return evaluateScalar(operand.get(), nullptr);
  Coordinates coordinates;
  AffineMap map = body.op.getMatchingIndexingMap(&operand);
  AffineExpr zero = getAffineConstantExpr(0, program.getContext());
  for (auto [loop, range] : llvm::enumerate(body.op.getStaticLoopRanges()))
    if (range == 1)
      map = map.replace(getAffineDimExpr(loop, program.getContext()), zero,
                        map.getNumDims(), /*numResultSyms=*/0);
  for (AffineExpr expression : map.getResults()) {
    Coordinate coordinate;
    if (auto dim = dyn_cast<AffineDimExpr>(expression))
      coordinate = body.loops[dim.getPosition()];
    else if (auto constant = dyn_cast<AffineConstantExpr>(expression))
      coordinate.constant = constant.getValue();
    else
      return fail("an indexing map is not a projection");
    coordinates.push_back(coordinate);
  }
  return evaluate(operand.get(), coordinates);
}

Node *RowProgramImporter::evaluateScalar(Value value, Body *body) {
  if (body)
    if (Node *known = body->memo.lookup(value))
      return known;
  Node *node = nullptr;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (!body || argument.getOwner() != body->op.getBlock())
      return fail("a value comes from an enclosing operation");
    node =
        evaluateOperand(*body, body->op->getOpOperand(argument.getArgNumber()));
  } else {
    node = evaluateScalarOp(value.getDefiningOp(), body);
  }
  if (body && node)
    body->memo[value] = node;
  return node;
}

Node *RowProgramImporter::evaluateScalarOp(Operation *op, Body *body) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return program.constant(constant.getValue());
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return body ? indexNode(body->loops[index.getDim()])
                : fail("it holds 'linalg.index' outside of a body");
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    Coordinates coordinates;
    for (Value index : extract.getIndices()) {
      Node *node = evaluateScalar(index, body);
      if (!node)
        return nullptr;
      coordinates.push_back(coordinateOf(node));
    }
    return evaluate(extract.getTensor(), coordinates);
  }
  bool isPlain = op->getNumResults() == 1 && op->getNumRegions() == 0 &&
                 op->getNumOperands() > 0 && isPure(op) &&
                 OpTrait::hasElementwiseMappableTraits(op);
  if (!isPlain)
    return fail("it holds '" + op->getName().getStringRef() + "'");
  SmallVector<Node *> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(evaluateScalar(operand, body));
    if (!operands.back())
      return nullptr;
  }
  // Empty flags are left out, so that operations made later compare equal.
  NamedAttrList attributes(op->getAttrDictionary());
  if (auto flags = attributes.getNamed("fastmath"))
    if (cast<arith::FastMathFlagsAttr>(flags->getValue()).getValue() ==
        arith::FastMathFlags::none)
      attributes.erase("fastmath");
  if (auto flags = attributes.getNamed("overflowFlags"))
    if (cast<arith::IntegerOverflowFlagsAttr>(flags->getValue()).getValue() ==
        arith::IntegerOverflowFlags::none)
      attributes.erase("overflowFlags");
  return program.op(op->getName().getStringRef(), op->getResult(0).getType(),
                    operands, attributes.getDictionary(program.getContext()));
}

/// The value of a coordinate as a node of index type.
Node *RowProgramImporter::indexNode(const Coordinate &coordinate) {
  OpBuilder builder(program.getContext());
  Type type = builder.getIndexType();
  if (coordinate.node)
    return coordinate.node->type == type
               ? coordinate.node
               : program.op("arith.index_cast", type, coordinate.node);
  Node *constant = program.constant(builder.getIndexAttr(coordinate.constant));
  if (coordinate.axes.empty())
    return constant;
  if (coordinate.axes.size() > 1)
    return fail("the index of a joined dimension is used");
  Node *index = program.index(coordinate.axes.front());
  if (coordinate.scale != 1)
    index = program.op(
        "arith.muli", type,
        {index, program.constant(builder.getIndexAttr(coordinate.scale))});
  return coordinate.constant ? program.op("arith.addi", type, {index, constant})
                             : index;
}

/// The other way: an index that is just an axis, a constant, or an axis moved
/// by one is recognised.
Coordinate RowProgramImporter::coordinateOf(Node *node) {
  Coordinate coordinate;
  Node *origin = node;
  while (origin->isOp("arith.index_cast"))
    origin = origin->operands[0];
  if (origin->kind == Node::Kind::Index) {
    coordinate.axes = {origin->axis};
  } else if (auto value = dyn_cast_or_null<IntegerAttr>(origin->value)) {
    coordinate.constant = value.getInt();
  } else if (origin->isOp("arith.addi") &&
             isa_and_nonnull<IntegerAttr>(origin->operands[1]->value)) {
    Coordinate base = coordinateOf(origin->operands[0]);
    if (!base.node)
      return shifted(base,
                     cast<IntegerAttr>(origin->operands[1]->value).getInt(), 1);
    coordinate.node = node;
  } else {
    coordinate.node = node;
  }
  return coordinate;
}
