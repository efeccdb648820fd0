//===- RowProgramReductions.cpp - Reductions in the body of a kernel ------===//

#include "RowProgramImport.h"

#include "llvm/ADT/StringSwitch.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace kernelbrain::strategy;
using namespace kernelbrain;

static bool dependsOn(Value value, ValueRange roots, Block *block) {
  if (llvm::is_contained(roots, value))
    return true;
  Operation *op = value.getDefiningOp();
  return op && op->getBlock() == block &&
         llvm::any_of(op->getOperands(), [&](Value operand) {
           return dependsOn(operand, roots, block);
         });
}

std::optional<ReduceKind>
kernelbrain::strategy::combinerNamed(StringRef operation) {
  return llvm::StringSwitch<std::optional<ReduceKind>>(operation)
      .Case("arith.addf", ReduceKind::AddF)
      .Case("arith.mulf", ReduceKind::MulF)
      .Case("arith.maximumf", ReduceKind::MaximumF)
      .Case("arith.minimumf", ReduceKind::MinimumF)
      .Case("arith.maxnumf", ReduceKind::MaxNumF)
      .Case("arith.minnumf", ReduceKind::MinNumF)
      .Case("arith.addi", ReduceKind::AddI)
      .Case("arith.muli", ReduceKind::MulI)
      .Case("arith.andi", ReduceKind::AndI)
      .Case("arith.ori", ReduceKind::OrI)
      .Case("arith.xori", ReduceKind::XOrI)
      .Case("arith.maxsi", ReduceKind::MaxSI)
      .Case("arith.minsi", ReduceKind::MinSI)
      .Case("arith.maxui", ReduceKind::MaxUI)
      .Case("arith.minui", ReduceKind::MinUI)
      .Default(std::nullopt);
}

/// `select(x > old, x, old)` in any spelling, which keeps the old value where x
/// is NaN, and the old value if that is NaN. Returns x.
static Value matchSelect(Operation *op, Value old, ReduceKind &kind) {
  auto select = dyn_cast<arith::SelectOp>(op);
  auto compare =
      select ? select.getCondition().getDefiningOp<arith::CmpFOp>() : nullptr;
  if (!compare)
    return nullptr;
  using P = arith::CmpFPredicate;
  P predicate = compare.getPredicate();
  Value x = compare.getLhs(), other = compare.getRhs();
  if (x == old) {
    std::swap(x, other);
    predicate = predicate == P::OGT   ? P::OLT
                : predicate == P::OGE ? P::OLE
                : predicate == P::OLT ? P::OGT
                : predicate == P::OLE ? P::OGE
                                      : P::AlwaysFalse;
  }
  if (other != old || select.getTrueValue() != x ||
      select.getFalseValue() != old)
    return nullptr;
  if (predicate == P::OGT || predicate == P::OGE)
    kind = ReduceKind::MaxSelectF;
  else if (predicate == P::OLT || predicate == P::OLE)
    kind = ReduceKind::MinSelectF;
  else
    return nullptr;
  return x;
}

/// Reductions of numbers that start from NaN, as upstream's softmax has them,
/// give NaN only for rows of nothing but NaN. They start from an infinity here;
/// validateStarts() sees to it that this makes no difference.
Node *RowProgramImporter::startOf(ReduceKind kind, Node *init) {
  bool isMaximum = kind == ReduceKind::MaxNumF;
  std::optional<double> value = constantValue(init);
  if ((!isMaximum && kind != ReduceKind::MinNumF) || !value ||
      !std::isnan(*value))
    return init;
  double infinity = std::numeric_limits<double>::infinity();
  startsFromNaN = true;
  return program.floatConstant(isMaximum ? -infinity : infinity, init->type);
}

Node *RowProgramImporter::evaluateReduction(Body &body, unsigned result,
                                            const Coordinates &coordinates) {
  Block *block = body.op.getBlock();
  ValueRange olds = body.op.getRegionOutputArgs();
  Value old = olds[result];
  Operation *combiner =
      block->getTerminator()->getOperand(result).getDefiningOp();
  if (!combiner || combiner->getBlock() != block)
    return fail("a reduction does not use its old value");
  ReduceKind kind = ReduceKind::AddF;
  Value x = matchSelect(combiner, old, kind);
  if (!x) {
    std::optional<ReduceKind> known =
        combinerNamed(combiner->getName().getStringRef());
    if (!known)
      return evaluateArgReduction(body, result, coordinates);
    kind = *known;
    x = combiner->getOperand(combiner->getOperand(0) == old);
    if (combiner->getOperand(0) != old && combiner->getOperand(1) != old)
      return fail("a reduction does not use its old value directly");
  }
  if (dependsOn(x, olds, block))
    return fail("a reduction uses its old value twice");
  Node *value = evaluateScalar(x, &body);
  Node *init =
      value ? evaluate(body.op.getDpsInitOperand(result)->get(), coordinates)
            : nullptr;
  return init ? program.reduce(kind, value, startOf(kind, init)) : nullptr;
}

/// `select(x > m, column, old)` beside `m = maximumf(x, m)`.
Node *RowProgramImporter::evaluateArgReduction(Body &body, unsigned result,
                                               const Coordinates &coordinates) {
  const char *unknown = "a reduction has an unknown form";
  Operation *yield = body.op.getBlock()->getTerminator();
  ArrayRef<BlockArgument> olds = body.op.getRegionOutputArgs();
  auto select = yield->getOperand(result).getDefiningOp<arith::SelectOp>();
  auto compare =
      select ? select.getCondition().getDefiningOp<arith::CmpFOp>() : nullptr;
  if (!compare || select.getFalseValue() != olds[result])
    return fail(unknown);
  Value x = compare.getLhs();
  auto key = llvm::find(olds, compare.getRhs());
  bool largest = compare.getPredicate() == arith::CmpFPredicate::OGT;
  bool smallest = compare.getPredicate() == arith::CmpFPredicate::OLT;
  if (key == olds.end() || !(largest || smallest))
    return fail(unknown);
  unsigned keyResult = key - olds.begin();
  Operation *extremum = yield->getOperand(keyResult).getDefiningOp();
  bool matches = extremum &&
                 (largest ? isa<arith::MaximumFOp>(extremum)
                          : isa<arith::MinimumFOp>(extremum)) &&
                 llvm::is_contained(extremum->getOperands(), x) &&
                 llvm::is_contained(extremum->getOperands(), Value(*key));
  if (!matches)
    return fail(unknown);
  Node *index = evaluateScalar(select.getTrueValue(), &body);
  Node *value = index ? evaluateScalar(x, &body) : nullptr;
  if (!value)
    return nullptr;
  Coordinate column = coordinateOf(index);
  if (column.axes.size() != 1 || column.axes[0] + 1 != program.axes.size() ||
      program.axes.size() != program.numRowAxes + 1)
    return fail("the index of an extremum is not its column");
  auto initAt = [&](unsigned number) {
    return evaluate(body.op.getDpsInitOperand(number)->get(), coordinates);
  };
  Node *init = initAt(keyResult);
  Node *initIndex = init ? initAt(result) : nullptr;
  return initIndex ? program.argReduce(smallest, value, init, initIndex)
                   : nullptr;
}
