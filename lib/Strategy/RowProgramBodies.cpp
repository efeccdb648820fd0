//===- RowProgramBodies.cpp - Values inside bodies of operations ----------===//

#include "RowProgramImport.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;
using namespace kernelbrain::strategy;
using namespace kernelbrain;

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
        if (op.getNumReductionLoops() && axis >= program.numRowAxes && !windows)
          return fail("a reduction runs across the rows");
    } else if (ranges[loop] != 1 && !isReduction) {
      return fail("a parallel loop does not reach its result");
    } else if (isReduction && ranges[loop] != 1 && !windows) {
      if (!bindColumns(ranges[loop], nextColumn, body.loops[loop]))
        return nullptr;
    }
    reduces |= isReduction;
  }
  if (!evaluateAssertions(body))
    return nullptr;
  if (reduces)
    return windows ? evaluateWindow(body, result, coordinates)
                   : evaluateReduction(body, result, coordinates);
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
    std::optional<Coordinate> coordinate = coordinateOf(expression, body);
    if (!coordinate)
      return fail("an indexing map is not a projection");
    coordinates.push_back(*coordinate);
  }
  return evaluate(operand.get(), coordinates);
}

/// Sums of several axes for Windows alone.
std::optional<Coordinate>
RowProgramImporter::coordinateOf(AffineExpr expression, const Body &body) {
  if (auto dim = dyn_cast<AffineDimExpr>(expression))
    return body.loops[dim.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expression)) {
    Coordinate coordinate;
    coordinate.constant = constant.getValue();
    return coordinate;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expression);
  bool canAdd = along == VectorsAlong::Windows;
  if (!binary || !(windows || canAdd))
    return std::nullopt;
  std::optional<Coordinate> a = coordinateOf(binary.getLHS(), body);
  std::optional<Coordinate> b = coordinateOf(binary.getRHS(), body);
  if (!a || !b)
    return std::nullopt;
  auto isConstant = [](const Coordinate &coordinate) {
    return coordinate.axes.empty() && !coordinate.node;
  };
  if (isConstant(*a))
    std::swap(a, b);
  if (!isConstant(*b)) {
    bool isSum = canAdd && expression.getKind() == AffineExprKind::Add &&
                 !a->node && !b->node && a->axes.size() == 1 &&
                 b->axes.size() == 1;
    if (!isSum)
      return std::nullopt;
    a->constant += b->constant;
    a->also.append(b->also);
    a->also.push_back({b->axes.front(), b->scale});
    return a;
  }
  if (expression.getKind() == AffineExprKind::Add)
    return shifted(*a, b->constant, 1);
  if (expression.getKind() == AffineExprKind::Mul && b->constant > 0)
    return shifted(*a, 0, b->constant);
  return std::nullopt;
}

Node *RowProgramImporter::evaluateScalar(Value value, Body *body) {
  if (body)
    if (Node *known = body->memo.lookup(value))
      return known;
  Node *node = nullptr;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument == loopIndex)
      return program.index(program.numRowAxes);
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
  for (auto [axis, scale] : coordinate.also)
    index = program.op(
        "arith.addi", type,
        {index, program.op("arith.muli", type,
                           {program.index(axis),
                            program.constant(builder.getIndexAttr(scale))})});
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
