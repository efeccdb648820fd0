//===- RowProgramPieces.cpp - Tensors that are put together ---------------===//
//
// A concatenation, a pad or an insertion is one thing here and another there.
// The importer asks for boxes of the results: where a box reaches into two of
// their parts it is cut and both halves are asked for again.
//
//===----------------------------------------------------------------------===//

#include "RowProgramImport.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kernelbrain::strategy;
using namespace kernelbrain;

/// The largest number of pieces that one kernel may fall into.
static constexpr size_t maxPieces = 32;
/// The most elements of a window that are written out, and the most expressions
/// that may come of all windows.
static constexpr int64_t maxWindow = 64;
static constexpr size_t maxNodes = 4096;

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

/// How many values the coordinate takes; nothing if that is dynamic.
std::optional<int64_t>
RowProgramImporter::pointsOf(const Coordinate &coordinate) const {
  int64_t points = 1;
  for (unsigned axis : coordinate.axes) {
    if (!program.axes[axis].isStatic() || program.axes[axis].factor < 0)
      return std::nullopt;
    points *= program.axes[axis].factor;
  }
  return points;
}

std::optional<int64_t>
RowProgramImporter::lastOf(const Coordinate &coordinate) const {
  std::optional<int64_t> points = pointsOf(coordinate);
  if (!points)
    return std::nullopt;
  int64_t last = coordinate.constant + coordinate.scale * (*points - 1);
  for (auto [axis, scale] : coordinate.also) {
    if (!program.axes[axis].isStatic() || program.axes[axis].factor < 0)
      return std::nullopt;
    last += scale * (program.axes[axis].factor - 1);
  }
  return last;
}

/// offset + scale * coordinate
Coordinate RowProgramImporter::shifted(const Coordinate &coordinate,
                                       int64_t offset, int64_t scale) {
  Coordinate result = coordinate;
  if (!coordinate.node) {
    result.constant = offset + scale * coordinate.constant;
    result.scale *= scale;
    for (auto &[axis, factor] : result.also)
      factor *= scale;
    return result;
  }
  Builder builder(program.getContext());
  Type type = builder.getIndexType();
  Node *node = indexNode(coordinate);
  if (scale != 1)
    node = program.op("arith.muli", type,
                      {node, program.constant(builder.getIndexAttr(scale))});
  if (offset != 0)
    node = program.op("arith.addi", type,
                      {node, program.constant(builder.getIndexAttr(offset))});
  result.node = node;
  return result;
}

std::optional<bool> RowProgramImporter::isInside(const Coordinate &coordinate,
                                                 int64_t low, int64_t high) {
  std::optional<int64_t> points = pointsOf(coordinate);
  if (coordinate.node || !points) {
    fail("a computed or dynamic place is cut");
    return std::nullopt;
  }
  std::optional<int64_t> end = lastOf(coordinate);
  if (!end) {
    fail("a computed or dynamic place is cut");
    return std::nullopt;
  }
  int64_t first = coordinate.constant, last = *end;
  if (last < low || first >= high)
    return false;
  if (first >= low && last < high)
    return true;
  if (coordinate.axes.empty() || !coordinate.also.empty()) {
    fail("a loop runs over parts of different tensors");
    return std::nullopt;
  }
  int64_t boundary = first < low ? low : high;
  int64_t at = llvm::divideCeil(boundary - first, coordinate.scale);
  unsigned outermost = coordinate.axes.front();
  int64_t inner = *points / program.axes[outermost].factor;
  if (boxDims.empty() || at % inner != 0)
    fail("a loop runs over parts of different tensors");
  else
    cut = Cut{boxDims[outermost], at / inner};
  return std::nullopt;
}

Node *RowProgramImporter::insideNode(const Coordinate &coordinate, int64_t low,
                                     int64_t high) {
  Node *at = indexNode(shifted(coordinate, -low, 1));
  if (!at)
    return nullptr;
  Builder builder(program.getContext());
  // Without a sign, what lies below is far above.
  NamedAttribute below(builder.getStringAttr("predicate"),
                       arith::CmpIPredicateAttr::get(
                           program.getContext(), arith::CmpIPredicate::ult));
  return program.op("arith.cmpi", builder.getI1Type(),
                    {at, program.constant(builder.getIndexAttr(high - low))},
                    builder.getDictionaryAttr(below));
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// Runs the loop over the window as it stands: each step's results are the next
/// one's old values.
Node *RowProgramImporter::evaluateWindow(Body &body, unsigned result,
                                         const Coordinates &coordinates) {
  SmallVector<int64_t> ranges = body.op.getStaticLoopRanges();
  SmallVector<unsigned> loops;
  int64_t points = 1;
  for (auto [loop, iterator] : llvm::enumerate(body.op.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::reduction) {
      loops.push_back(loop);
      points = ranges[loop] < 0 ? maxWindow + 1 : points * ranges[loop];
      if (points > maxWindow)
        return fail("it reduces over more than a small window");
    }
  ArrayRef<BlockArgument> olds = body.op.getRegionOutputArgs();
  SmallVector<Node *> values;
  for (OpOperand &init : body.op.getDpsInitsMutable()) {
    values.push_back(evaluate(init.get(), coordinates));
    if (!values.back())
      return nullptr;
  }
  for (int64_t point = 0; point < points; ++point) {
    int64_t rest = point;
    for (unsigned loop : llvm::reverse(loops)) {
      body.loops[loop] = Coordinate();
      body.loops[loop].constant = rest % ranges[loop];
      rest /= ranges[loop];
    }
    body.memo.clear();
    for (auto [old, value] : llvm::zip(olds, values))
      body.memo[old] = value;
    for (auto [number, value] : llvm::enumerate(values)) {
      value = evaluateScalar(
          body.op.getBlock()->getTerminator()->getOperand(number), &body);
      if (!value)
        return nullptr;
    }
    if (program.nodes().size() > maxNodes)
      return fail("its windows are too large to be written out");
  }
  return values[result];
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static bool isStatic(ArrayRef<int64_t> values) {
  return !llvm::any_of(values, ShapedType::isDynamic);
}

Node *RowProgramImporter::evaluateSlice(tensor::ExtractSliceOp op,
                                        const Coordinates &coordinates) {
  if (!isStatic(op.getStaticStrides()))
    return fail("a slice has computed strides");
  llvm::SmallBitVector dropped = op.getDroppedDims();
  Coordinates source;
  auto next = coordinates.begin();
  for (auto [dim, offset] : llvm::enumerate(op.getMixedOffsets())) {
    Coordinate within = dropped.test(dim) ? Coordinate() : *next++;
    std::optional<Coordinate> place =
        sliceCoordinate(offset, within, op.getStaticStrides()[dim]);
    if (!place)
      return fail("a slice starts at a computed place");
    source.push_back(*place);
  }
  return evaluate(op.getSource(), source);
}

Node *RowProgramImporter::evaluateInsertion(tensor::InsertSliceOp op,
                                            const Coordinates &coordinates) {
  bool isPlain =
      isStatic(op.getStaticOffsets()) && isStatic(op.getStaticSizes()) &&
      llvm::all_of(op.getStaticStrides(), [](int64_t s) { return s == 1; });
  if (!isPlain)
    return fail("a slice is put at a computed place");
  llvm::SmallBitVector dropped = op.getDroppedDims();
  Coordinates source;
  for (auto [dim, coordinate] : llvm::enumerate(coordinates)) {
    int64_t low = op.getStaticOffsets()[dim];
    std::optional<bool> inside =
        isInside(coordinate, low, low + op.getStaticSizes()[dim]);
    if (!inside)
      return nullptr;
    if (!*inside)
      return evaluate(op.getDest(), coordinates);
    if (!dropped.test(dim))
      source.push_back(shifted(coordinate, -low, 1));
  }
  return evaluate(op.getSource(), source);
}

Node *RowProgramImporter::evaluatePad(tensor::PadOp op,
                                      const Coordinates &coordinates) {
  Value padding = op.getConstantPaddingValue();
  ArrayRef<int64_t> shape = op.getSourceType().getShape();
  if (!padding || !isStatic(op.getStaticLow()) || !isStatic(shape))
    return fail("a padding is computed or dynamic");
  Coordinates source;
  Node *condition = nullptr;
  for (auto [dim, coordinate] : llvm::enumerate(coordinates)) {
    int64_t low = op.getStaticLow()[dim];
    source.push_back(shifted(coordinate, -low, 1));
    // A dimension that is not padded may be read at computed places.
    if (op.getResultType().getDimSize(dim) == shape[dim])
      continue;
    std::optional<Cut> before = cut;
    std::string reasonBefore = reason;
    std::optional<bool> inside = isInside(coordinate, low, low + shape[dim]);
    bool canChoose = !inside && canClamp(coordinate);
    if (canChoose) {
      cut = before;
      reason = reasonBefore;
      Node *isHere = insideNode(coordinate, low, low + shape[dim]);
      if (!isHere)
        return nullptr;
      condition = condition ? program.op("arith.andi", isHere->type,
                                         {condition, isHere})
                            : isHere;
    } else if (!inside) {
      return nullptr;
    } else if (!*inside) {
      return evaluateScalar(padding, nullptr);
    }
  }
  Node *value = evaluate(op.getSource(), source);
  if (!value || !condition)
    return value;
  Node *otherwise = evaluateScalar(padding, nullptr);
  return otherwise ? program.op("arith.select", value->type,
                                {condition, value, otherwise})
                   : nullptr;
}

Node *RowProgramImporter::evaluateConcat(tensor::ConcatOp op,
                                         const Coordinates &coordinates) {
  uint64_t dim = op.getDim();
  int64_t low = 0;
  for (Value part : op.getInputs()) {
    int64_t extent = cast<RankedTensorType>(part.getType()).getDimSize(dim);
    if (ShapedType::isDynamic(extent))
      return fail("a part of a concatenation is dynamic");
    std::optional<bool> inside = isInside(coordinates[dim], low, low + extent);
    if (!inside)
      return nullptr;
    if (*inside) {
      Coordinates within(coordinates);
      within[dim] = shifted(coordinates[dim], -low, 1);
      return evaluate(part, within);
    }
    low += extent;
  }
  return fail("an index lies outside of its tensor");
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

bool RowProgramImporter::runBox(ArrayRef<unsigned> results, const Box &box,
                                bool unrolls) {
  windows = unrolls;
  if (!setUpShapes())
    return false;
  Coordinates place;
  for (auto [dim, size] : llvm::enumerate(box.size)) {
    Coordinate coordinate;
    coordinate.constant = box.low[dim];
    if (!size.isOne()) {
      coordinate.axes = {static_cast<unsigned>(program.axes.size())};
      program.axes.push_back(size);
      boxDims.push_back(dim);
    }
    place.push_back(coordinate);
  }
  if (program.axes.empty())
    program.axes.push_back(Extent());
  for (unsigned result : results) {
    Output output;
    SmallVector<Node *> dynamic;
    output.node = evaluate(kernel.getYield().getValues()[result], place);
    if (!output.node ||
        !makeAccess(program.numInputs + result, place, output.access, dynamic))
      return false;
    program.outputs.push_back(output);
    if (output.node->type.isInteger(1))
      return fail("a result is a matrix of truth values");
  }
  if (program.hasReduction())
    return fail("it reduces");
  if (!program.assertions.empty())
    return fail("it asserts");
  program.collapseAxes();
  program.numRowAxes = program.axes.size() - 1;
  program.vectorAxis = program.numRowAxes;
  for (const Node *node : program.live())
    if (!validateNode(*node))
      return false;
  return program.truths.empty() || fail(program.truths);
}

/// Results of equal shape, in the order of the kernel.
static std::vector<SmallVector<unsigned>> groupByShape(kb::KernelOp kernel) {
  auto shapes = kernel.getShapes();
  std::vector<SmallVector<unsigned>> groups;
  unsigned numInputs = kernel.getNumInputs();
  for (unsigned result = 0; numInputs + result < shapes.size(); ++result) {
    auto group = llvm::find_if(groups, [&](const auto &other) {
      return shapes[numInputs + other.front()] == shapes[numInputs + result];
    });
    if (group == groups.end())
      groups.push_back({result});
    else
      group->push_back(result);
  }
  return groups;
}

std::vector<std::unique_ptr<RowProgram>>
kernelbrain::strategy::importPieces(kb::KernelOp kernel, std::string &reason,
                                    bool windows) {
  std::vector<std::unique_ptr<RowProgram>> pieces;
  auto shapes = kernel.getShapes();
  for (const SmallVector<unsigned> &results : groupByShape(kernel)) {
    Box whole;
    for (int64_t extent : shapes[kernel.getNumInputs() + results.front()]) {
      whole.low.push_back(0);
      whole.size.push_back(extent < 0
                               ? Extent{1, {static_cast<unsigned>(-extent - 1)}}
                               : Extent{extent, {}});
    }
    std::vector<Box> boxes{whole};
    while (!boxes.empty()) {
      Box box = boxes.back();
      boxes.pop_back();
      auto program = std::make_unique<RowProgram>(kernel.getContext());
      reason.clear();
      RowProgramImporter importer(kernel, *program, reason,
                                  VectorsAlong::Columns, /*cuts=*/{});
      if (importer.runBox(results, box, windows)) {
        pieces.push_back(std::move(program));
        continue;
      }
      std::optional<Cut> cut = importer.getCut();
      if (!cut)
        return {};
      if (pieces.size() + boxes.size() + 2 > maxPieces) {
        reason = "it falls into too many pieces";
        return {};
      }
      Box rest = box;
      rest.low[cut->dim] += cut->at;
      rest.size[cut->dim].factor -= cut->at;
      box.size[cut->dim].factor = cut->at;
      boxes.push_back(rest);
      boxes.push_back(box);
    }
  }
  reason.clear();
  return pieces;
}
