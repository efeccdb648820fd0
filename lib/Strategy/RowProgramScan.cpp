//===- RowProgramScan.cpp - Loops that carry a value a row ----------------===//
//
// A scan comes as a loop over the columns: it carries a tensor with one value a
// row and the results, of which each step writes one column. Its body is
// evaluated at the column of a whole row; what is carried is a name there.
//
//===----------------------------------------------------------------------===//

#include "RowProgramImport.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace kernelbrain::strategy;
using namespace kernelbrain;

/// Where a slice reads: from a constant place on, or at the loop's own.
std::optional<Coordinate>
RowProgramImporter::sliceCoordinate(OpFoldResult offset,
                                    const Coordinate &within, int64_t stride) {
  if (std::optional<int64_t> known = getConstantIntValue(offset))
    return shifted(within, *known, stride);
  Coordinate column;
  column.axes = {program.numRowAxes};
  bool isColumn = loopIndex && dyn_cast<Value>(offset) == loopIndex;
  return isColumn && within.isZero() ? std::optional(column) : std::nullopt;
}

/// The coordinates of a tensor that holds the rows: its dimensions are the row
/// axes in order.
Coordinates RowProgramImporter::rowsOf(RankedTensorType type) const {
  Coordinates result(type.getRank());
  unsigned axis = 0;
  for (auto [coordinate, extent] : llvm::zip(result, type.getShape()))
    if (extent != 1)
      coordinate.axes = {axis++};
  return result;
}

/// Rows are the dimensions of the results but the one that the loop runs over.
bool RowProgramImporter::setUpScan(scf::ForOp loop,
                                   tensor::InsertSliceOp insertion) {
  std::optional<int64_t> low = getConstantIntValue(loop.getLowerBound());
  std::optional<int64_t> high = getConstantIntValue(loop.getUpperBound());
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  if (low != 0 || step != 1 || !high)
    return fail("a loop does not run over the columns in order");
  ArrayRef<int64_t> shape = insertion.getDestType().getShape();
  unsigned columns = 0;
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    OpFoldResult offset = insertion.getMixedOffsets()[dim];
    int64_t size = insertion.getStaticSizes()[dim];
    bool isColumn = dyn_cast<Value>(offset) == loop.getInductionVar();
    columns += isColumn;
    bool fits = isColumn ? size == 1 && extent == *high
                         : getConstantIntValue(offset) == 0 && size == extent;
    if (!fits || extent < 0 || insertion.getStaticStrides()[dim] != 1)
      return fail("a loop does not write whole columns");
    if (!isColumn && extent != 1)
      program.axes.push_back(Extent{extent, {}});
  }
  if (columns != 1)
    return fail("a loop does not write whole columns");
  program.numRowAxes = program.axes.size();
  program.axes.push_back(Extent{*high, {}});
  loopIndex = loop.getInductionVar();
  return true;
}

static bool uses(const Node *node, const Node *other) {
  return node == other || llvm::any_of(node->operands, [&](Node *operand) {
           return uses(operand, other);
         });
}

bool RowProgramImporter::runScan(RowScan &scan) {
  if (!setUpShapes())
    return false;
  ValueRange results = kernel.getYield().getValues();
  auto loop = results[0].getDefiningOp<scf::ForOp>();
  if (!loop || results.size() != 1 || loop.getNumResults() != 2)
    return fail("it is no loop that carries one value beside its result");
  unsigned number = cast<OpResult>(results[0]).getResultNumber();
  auto insertion =
      loop.getYieldedValues()[number].getDefiningOp<tensor::InsertSliceOp>();
  if (!insertion || insertion.getDest() != loop.getRegionIterArg(number))
    return fail("a loop does not write whole columns");
  if (!setUpScan(loop, insertion))
    return false;
  carried = loop.getRegionIterArg(1 - number);
  auto carriedType = dyn_cast<RankedTensorType>(carried.getType());
  if (!carriedType)
    return fail("a loop carries a scalar");
  carriedNode = program.op("kb.carried", carriedType.getElementType(), {});
  Coordinates rows = rowsOf(carriedType);
  Node *next = evaluate(loop.getYieldedValues()[1 - number], rows);
  Node *written =
      next ? evaluate(insertion.getSource(), rowsOf(insertion.getSourceType()))
           : nullptr;
  scan.init =
      written ? evaluate(loop.getInitArgs()[1 - number], rows) : nullptr;
  if (!scan.init)
    return false;
  scan.exclusive = written == carriedNode;
  if (written != next && !scan.exclusive)
    return fail("a loop writes something else than what it carries");
  std::optional<ReduceKind> kind = combinerNamed(next->name);
  if (next->kind != Node::Kind::Op || !kind)
    return fail("a loop does not combine what it carries");
  scan.kind = *kind;
  bool isFirst = next->operands[0] == carriedNode;
  Node *x = next->operands[isFirst];
  if (next->operands[!isFirst] != carriedNode || uses(x, carriedNode))
    return fail("a loop does not combine what it carries");
  Output output;
  output.node = x;
  Coordinates place;
  unsigned axis = 0;
  for (auto [dim, extent] :
       llvm::enumerate(insertion.getDestType().getShape())) {
    Coordinate coordinate;
    if (insertion.isDynamicOffset(dim))
      coordinate.axes = {program.numRowAxes};
    else if (extent != 1)
      coordinate.axes = {axis++};
    place.push_back(coordinate);
  }
  SmallVector<Node *> dynamic;
  if (!makeAccess(program.numInputs, place, output.access, dynamic))
    return false;
  program.outputs.push_back(output);
  program.vectorAxis = program.numRowAxes;
  for (const Node *node : program.live())
    if (!validateNode(*node))
      return false;
  return validateOutput(program.outputs.front());
}

RowScan kernelbrain::strategy::importScan(kb::KernelOp kernel,
                                          std::string &reason) {
  RowScan scan;
  auto program = std::make_unique<RowProgram>(kernel.getContext());
  reason.clear();
  RowProgramImporter importer(kernel, *program, reason, VectorsAlong::Columns,
                              /*cuts=*/{});
  if (importer.runScan(scan))
    scan.program = std::move(program);
  return scan;
}
