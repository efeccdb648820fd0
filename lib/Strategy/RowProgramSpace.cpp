//===- RowProgramSpace.cpp - The axes of a kernel, and what is supported --===//

#include "RowCodegen.h"
#include "RowProgramImport.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace mlir;
using namespace kernelbrain::strategy;
using namespace kernelbrain;

//===----------------------------------------------------------------------===//
// The space
//===----------------------------------------------------------------------===//

/// Which axis each loop above one becomes: rows are numbered first.
static SmallVector<unsigned> orderOfLoops(linalg::LinalgOp op,
                                          unsigned numRows) {
  SmallVector<unsigned> order;
  unsigned row = 0, column = numRows;
  for (auto [extent, iterator] :
       llvm::zip(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
    if (extent != 1)
      order.push_back(iterator == utils::IteratorType::reduction ? column++
                                                                 : row++);
  return order;
}

/// The extents above one of the loops of a kind.
static SmallVector<int64_t> wideLoops(linalg::LinalgOp op,
                                      utils::IteratorType kind) {
  SmallVector<int64_t> extents;
  for (auto [extent, iterator] :
       llvm::zip(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
    if (iterator == kind && extent != 1)
      extents.push_back(extent);
  return extents;
}

static double product(ArrayRef<int64_t> extents) {
  double points = 1;
  for (int64_t extent : extents)
    points *= ShapedType::isDynamic(extent) ? 1000 : extent;
  return points;
}

bool RowProgramImporter::setUpAxes() {
  SmallVector<int64_t> rows, columns;
  bool reduces = false;
  for (auto op : kernel.getBody().front().getOps<linalg::LinalgOp>()) {
    auto parallel = wideLoops(op, utils::IteratorType::parallel);
    auto reduced = wideLoops(op, utils::IteratorType::reduction);
    if (!reduced.empty()) {
      bool isOther = parallel != rows && !isAnything();
      if (reduces && (isOther || reduced != columns))
        return fail("two reductions run over different spaces");
      reduces = true;
      rows = parallel;
      columns = reduced;
      loopOrder = orderOfLoops(op, rows.size());
    } else if (!reduces) {
      double points = product(parallel), most = product(columns);
      if (points > most || (points == most && parallel.size() > columns.size()))
        columns = parallel;
    }
  }
  if (isAnything()) {
    if (!reduces)
      return fail("it reduces nothing");
    auto shape = program.shapes[program.numInputs];
    rows.clear();
    for (int64_t extent : shape)
      if (extent != 1)
        rows.push_back(extent < 0 ? ShapedType::kDynamic : extent);
    loopOrder.clear();
  }
  if (!addAxes(rows, columns))
    return false;
  if (!reduces)
    loopOrder = llvm::to_vector(llvm::seq<unsigned>(0, program.axes.size()));
  return true;
}

bool RowProgramImporter::addAxes(SmallVector<int64_t> extents,
                                 ArrayRef<int64_t> columns) {
  program.numRowAxes = extents.size();
  extents.append(columns.begin(), columns.end());
  for (const AxisCut &cut : cuts) {
    extents[cut.axis] /= cut.inner;
    extents.insert(extents.begin() + cut.axis + 1, cut.inner);
    program.numRowAxes += cut.axis < program.numRowAxes;
    for (unsigned &axis : loopOrder)
      axis += axis > cut.axis;
    auto place = llvm::find(loopOrder, cut.axis);
    if (place != loopOrder.end())
      loopOrder.insert(place + 1, cut.axis + 1);
  }
  if (extents.size() > 60)
    return fail("it has more than 60 loops");
  for (int64_t extent : extents)
    program.axes.push_back(
        Extent{ShapedType::isDynamic(extent) ? unresolved : extent, {}});
  if (program.axes.size() == program.numRowAxes)
    program.axes.push_back(Extent());
  return true;
}

/// The coordinates of a result of this shape: its dimensions are all of the
/// given axes in order, maybe joined.
bool RowProgramImporter::bindAlong(ArrayRef<int64_t> shape,
                                   ArrayRef<unsigned> order,
                                   Coordinates &result) {
  unsigned next = 0;
  for (int64_t extent : shape) {
    Coordinate coordinate;
    int64_t points = 1;
    while (points != extent) {
      if (next == order.size() || (extent >= 0 && points > extent))
        return false;
      Extent &axis = program.axes[order[next]];
      bool isOpen = axis.factor == unresolved;
      if (extent < 0) {
        if (!isOpen && axis != symbolic(extent))
          return false;
        axis = symbolic(extent);
        points = extent;
      } else if (isOpen || !axis.isStatic()) {
        return false;
      } else {
        int64_t rest = extent % points == 0 ? extent / points : 1;
        if (rest > 1 && axis.factor > rest && axis.factor % rest == 0 &&
            !wantedCut)
          wantedCut = {order[next], axis.factor / rest};
        points *= axis.factor;
      }
      coordinate.axes.push_back(order[next++]);
    }
    result.push_back(coordinate);
  }
  return llvm::all_of(order.drop_front(next), [&](unsigned axis) {
    return program.axes[axis].isOne();
  });
}

/// A result has the loops' shape, or that of the parallel ones alone.
bool RowProgramImporter::bindShape(ArrayRef<int64_t> shape,
                                   Coordinates &result) {
  auto saved = program.axes;
  if (bindAlong(shape, loopOrder, result))
    return true;
  program.axes = saved;
  result.clear();
  SmallVector<unsigned> rows =
      llvm::to_vector(llvm::seq<unsigned>(0, program.numRowAxes));
  return bindAlong(shape, rows, result) ||
         fail("a result does not have the shape of the loops");
}

bool RowProgramImporter::importOutputs() {
  for (auto [index, value] : llvm::enumerate(kernel.getYield().getValues())) {
    unsigned argument = program.numInputs + index;
    Coordinates coordinates;
    if (!bindShape(program.shapes[argument], coordinates))
      return false;
    Output output;
    SmallVector<Node *> dynamic;
    output.node = evaluate(value, coordinates);
    if (!output.node ||
        !makeAccess(argument, coordinates, output.access, dynamic))
      return false;
    program.outputs.push_back(output);
  }
  WalkResult all = kernel.getBody().walk([&](cf::AssertOp op) {
    return seenAssertions.contains(op) ? WalkResult::advance()
                                       : WalkResult::interrupt();
  });
  return !all.wasInterrupted() ||
         fail("an assertion guards a value that no result needs");
}

//===----------------------------------------------------------------------===//
// What the code generator can do
//===----------------------------------------------------------------------===//

bool RowProgramImporter::validateType(Type type) {
  bool isKnown =
      type.isInteger(1) || type.isInteger(8) || type.isInteger(16) ||
      type.isInteger(32) || type.isInteger(64) ||
      isa<IndexType, Float16Type, BFloat16Type, Float32Type, Float64Type>(type);
  return isKnown || fail("it computes an unusual element type");
}

bool RowProgramImporter::validateNode(const Node &node) {
  Type type = node.type;
  if (!validateType(type))
    return false;
  bool isVector = program.variesAlongVectors(&node);
  if (node.kind == Node::Kind::Input) {
    const Extent &stride = node.access.strides[program.vectorAxis];
    bool isContiguous = stride.isZero() || stride.isOne();
    bool gathers = llvm::any_of(node.operands, [&](const Node *operand) {
      return program.variesAlongVectors(operand);
    });
    if (!isContiguous && boxDims.empty())
      return fail("an input is not contiguous along the columns");
    if (gathers && boxDims.empty())
      return fail("it gathers along the columns");
    if ((!stride.isZero() || gathers) && type.isInteger(1))
      program.truths = "an input holds a matrix of truth values";
  }
  bool divides =
      llvm::StringSwitch<bool>(node.name)
          .Cases({"arith.divsi", "arith.divui", "arith.remsi", "arith.remui",
                  "arith.ceildivsi", "arith.ceildivui", "arith.floordivsi"},
                 true)
          .Default(false);
  if (isVector && divides && node.operands[1]->kind != Node::Kind::Constant)
    return fail("it divides integers by values of a matrix");
  if (node.isReduction() && node.operands[0]->type.isInteger(1))
    return fail("it reduces truth values");
  return true;
}

/// Whether no result tells a reduction of numbers that started from NaN from
/// one that started from an infinity. A row without columns, which only dynamic
/// extents give, must have no results.
bool RowProgramImporter::mayStartFromInfinity(const Node *reduction) const {
  auto columns = llvm::drop_begin(program.axes, program.numRowAxes);
  bool mayBeEmpty = !llvm::all_of(
      columns, [](const Extent &extent) { return extent.isStatic(); });
  auto hasColumns = [&](const Output &output) {
    return llvm::none_of(
        llvm::drop_begin(output.access.strides, program.numRowAxes),
        [](const Extent &stride) { return stride.isZero(); });
  };
  return mayDropNaN(program, reduction) &&
         (!mayBeEmpty || llvm::all_of(program.outputs, hasColumns));
}

/// Accumulators start from an infinity: a row of nothing but NaN does not give
/// the NaN that a reduction of numbers started from.
bool RowProgramImporter::validateStarts() {
  for (const Node *node : program.live()) {
    bool dropsNaN = node->kind == Node::Kind::Reduce &&
                    (node->reduce == ReduceKind::MaxNumF ||
                     node->reduce == ReduceKind::MinNumF);
    if (!dropsNaN || (constantValue(node->operands[1]) && !startsFromNaN))
      continue;
    if (!startsFromNaN || !mayStartFromInfinity(node))
      return fail("a maximum or minimum of numbers may start from NaN");
  }
  return true;
}

bool RowProgramImporter::validateOutput(const Output &output) {
  const Extent &stride = output.access.strides[program.vectorAxis];
  if (!stride.isZero() && !stride.isOne())
    return fail("a result is not contiguous along the columns");
  if (!stride.isZero() && output.node->type.isInteger(1))
    program.truths = "a result is a matrix of truth values";
  if (output.access.strides.back().isZero() &&
      program.variesAlongColumns(output.node))
    return fail("a result has no place for its columns");
  for (unsigned axis = 0; axis < program.numRowAxes; ++axis)
    if (output.access.strides[axis].isZero())
      return fail("a result is not computed for each row");
  return true;
}

/// The last row axis along which every argument is contiguous or constant.
bool RowProgramImporter::chooseVectorAxis() {
  program.vectorAxis = program.axes.size() - 1;
  if (along == VectorsAlong::Columns || along == VectorsAlong::AllColumns)
    return true;
  if (!program.hasReduction())
    return fail("it reduces nothing");
  for (unsigned axis = program.numRowAxes; axis-- > 0;) {
    bool fits = llvm::all_of(program.outputs, [&](const Output &output) {
      return output.access.strides[axis].isOne();
    });
    for (const Node *node : program.live())
      if (fits && node->kind == Node::Kind::Input)
        fits = node->access.strides[axis].isOne() ||
               node->access.strides[axis].isZero();
    if (!fits)
      continue;
    program.vectorAxis = axis;
    return true;
  }
  return fail("no parallel loop is contiguous in every argument");
}

bool RowProgramImporter::validate() {
  if (!validateStarts())
    return false;
  if (isAnything())
    return llvm::all_of(program.live(), [&](const Node *node) {
      return validateType(node->type);
    });
  if (program.numRowAxes + 1 != program.axes.size() &&
      along != VectorsAlong::AllColumns)
    return fail("its columns are not contiguous in every argument");
  if (!chooseVectorAxis())
    return false;
  for (const Node *node : program.live())
    if (!validateNode(*node))
      return false;
  for (const Output &output : program.outputs)
    if (!validateOutput(output))
      return false;
  std::vector<bool> late(program.nodes().size());
  for (const Node *node : program.live()) {
    late[node->id] = node->isReduction();
    for (const Node *operand : node->operands)
      late[node->id] = late[node->id] || late[operand->id];
  }
  for (const Assertion &assertion : program.assertions)
    if (program.variesAlongColumns(assertion.condition) ||
        late[assertion.condition->id])
      return fail("an assertion depends on the columns");
  return true;
}

/// What does not depend on the axes.
bool RowProgramImporter::setUpShapes() {
  Block &block = kernel.getBody().front();
  program.numInputs = kernel.getNumInputs();
  program.shapes = kernel.getShapes();
  program.dimHints.assign(kernel.getNumDynamicDims(), 1000);
  for (BlockArgument argument : block.getArguments()) {
    program.elementTypes.push_back(
        cast<RankedTensorType>(argument.getType()).getElementType());

    if (kb::ArgAttr spec = kernel.getArgSpec(argument.getArgNumber());
        spec && spec.getDimHints()) {
      auto hint = spec.getDimHints().asArrayRef().begin();
      for (int64_t extent : program.shapes[argument.getArgNumber()])
        if (extent < 0 && hint != spec.getDimHints().asArrayRef().end())
          program.dimHints[-extent - 1] = *hint++;
    }
  }
  for (ArrayRef<int64_t> shape : program.shapes)
    if (llvm::is_contained(shape, 0))
      return fail("it has no elements");
  return true;
}

bool RowProgramImporter::run() {
  if (!setUpShapes() || !setUpAxes() || !importOutputs())
    return false;
  for (const Extent &axis : program.axes)
    if (axis.factor == unresolved)
      return fail("a loop's dynamic extent is that of no argument");
  bool reduces = program.hasReduction();
  program.collapseAxes();
  if (!reduces)
    program.numRowAxes = program.axes.size() - 1;
  return validate();
}

std::unique_ptr<RowProgram> kernelbrain::strategy::importRowProgram(
    kb::KernelOp kernel, std::string &reason, VectorsAlong along) {
  constexpr size_t maxCuts = 8;
  SmallVector<AxisCut> cuts;
  while (true) {
    auto program = std::make_unique<RowProgram>(kernel.getContext());
    reason.clear();
    RowProgramImporter importer(kernel, *program, reason, along, cuts);
    if (importer.run())
      return program;
    if (!importer.wantedCut || cuts.size() == maxCuts)
      return nullptr;
    cuts.push_back(*importer.wantedCut);
  }
}
