//===- RowMoments.cpp - Mean and squared deviations in one sweep ----------===//

#include "RowRewriter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace kernelbrain::strategy;

namespace {
/// sum((x - mean)^2) where mean = sum(x) * (1 / n).
struct Moments {
  Node *squares = nullptr; ///< the reduction
  Node *mean = nullptr;
  Node *x = nullptr;
  Node *inverse = nullptr; ///< the constant 1 / n
};
} // namespace

static bool isPlainSum(const Node *node) {
  return node->kind == Node::Kind::Reduce && node->reduce == ReduceKind::AddF &&
         constantValue(node->operands[1]) == 0.0;
}

static std::optional<Moments> matchMoments(const RowProgram &program,
                                           Node *squares) {
  if (!program.reducedExtent().isStatic() || !isPlainSum(squares))
    return std::nullopt;
  Node *square = squares->operands[0];
  if (!square->isOp("arith.mulf") || square->operands[0] != square->operands[1])
    return std::nullopt;
  Node *deviation = square->operands[0];
  if (!deviation->isOp("arith.subf"))
    return std::nullopt;
  Moments found{squares, deviation->operands[1], deviation->operands[0], {}};
  if (!found.mean->isOp("arith.mulf"))
    return std::nullopt;
  Node *sum = found.mean->operands[0];
  found.inverse = found.mean->operands[1];
  std::optional<double> inverse = constantValue(found.inverse);
  bool isMean = isPlainSum(sum) && sum->operands[0] == found.x && inverse &&
                std::abs(*inverse * program.reducedExtent().factor - 1) < 1e-6;
  return isMean ? std::optional<Moments>(found) : std::nullopt;
}

/// Where the element `column` of a reduction lies along a column axis.
static int64_t placeAlong(const RowProgram &program, unsigned axis,
                          int64_t column) {
  for (unsigned inner = axis + 1; inner < program.axes.size(); ++inner)
    column /= program.axes[inner].factor;
  return column % program.axes[axis].factor;
}

/// The expression `node` at one column, in `program`.
static Node *atColumn(RowProgram &program, Node *node, int64_t column,
                      llvm::DenseMap<Node *, Node *> &known) {
  if (!program.variesAlongColumns(node))
    return node;
  if (Node *made = known.lookup(node))
    return made;
  SmallVector<Node *> operands;
  for (Node *operand : node->operands)
    operands.push_back(atColumn(program, operand, column, known));
  Node *made = nullptr;
  if (node->kind == Node::Kind::Index) {
    made = program.constant(
        Builder(program.getContext())
            .getIndexAttr(placeAlong(program, node->axis, column)));
  } else if (node->kind == Node::Kind::Input) {
    Access access = node->access;
    for (unsigned axis = program.numRowAxes; axis < program.axes.size();
         ++axis) {
      access.offset +=
          placeAlong(program, axis, column) * access.strides[axis].factor;
      access.strides[axis] = Extent{0, {}};
    }
    made = program.input(access, operands, node->type);
  } else {
    made = program.remake(*node, operands);
  }
  return known[node] = made;
}

static Node *compareFloats(RowProgram &program, arith::CmpFPredicate predicate,
                           Node *a, Node *b) {
  Builder builder(program.getContext());
  NamedAttribute attribute = builder.getNamedAttr(
      "predicate",
      arith::CmpFPredicateAttr::get(program.getContext(), predicate));
  return program.op("arith.cmpf", builder.getI1Type(), {a, b},
                    builder.getDictionaryAttr(attribute));
}

static Node *medianOfThree(RowProgram &program, Node *a, Node *b, Node *c) {
  auto pick = [&](arith::CmpFPredicate predicate, Node *x, Node *y) {
    return program.op("arith.select", x->type,
                      {compareFloats(program, predicate, x, y), x, y});
  };
  constexpr auto less = arith::CmpFPredicate::OLT;
  constexpr auto greater = arith::CmpFPredicate::OGT;
  return pick(greater, pick(less, a, b), pick(less, pick(greater, a, b), c));
}

/// A typical element of the row: the median of medians of nine elements spread
/// over it (Tukey's ninther). Near the mean, so that the difference of squares
/// below cancels little; and where most elements are equal, their value, which
/// makes their deviations exact: equal deviations round alike, and such errors
/// add up.
static Node *sampleCenter(RowProgram &program, Node *x) {
  int64_t columns = program.reducedExtent().factor;
  SmallVector<Node *> values;
  int64_t samples = columns >= 9 ? 9 : columns >= 3 ? 3 : 1;
  for (int64_t sample = 0; sample < samples; ++sample) {
    llvm::DenseMap<Node *, Node *> known;
    values.push_back(atColumn(program, x, sample * columns / samples, known));
  }
  while (values.size() > 1) {
    SmallVector<Node *> medians;
    for (size_t at = 0; at < values.size(); at += 3)
      medians.push_back(
          medianOfThree(program, values[at], values[at + 1], values[at + 2]));
    values = medians;
  }
  return values.front();
}

/// The mean as s + sum(d) / n, where that does not cancel, else as sum(x) / n:
/// each loses digits where the other does not.
static Node *eitherMean(RowProgram &program, Node *about, Node *plain,
                        Node *sample) {
  Type type = about->type;
  auto absolute = [&](Node *node) {
    return program.op("math.absf", type, {node});
  };
  Node *half = program.op("arith.mulf", type,
                          {absolute(sample), program.floatConstant(0.5, type)});
  Node *isLarge =
      compareFloats(program, arith::CmpFPredicate::OGE, absolute(about), half);
  return program.op("arith.select", type, {isLarge, about, plain});
}

/// Of normal numbers one row in 6e7 has a sample further from the mean than
/// this allows, 2.6 deviations. With twice as much, 1.7 deviations, it was one
/// in 6500: a single row that had to be done again took an H200 from 70 to 76
/// us.
static double leastShareOfMoments(Type type) { return leastShare(type) / 2; }

/// With s near the mean and d = x - s: mean = s + sum(d) / n and
/// sum((x - mean)^2) = sum(d^2) - sum(d)^2 / n.
std::unique_ptr<RowProgram>
kernelbrain::strategy::combineMoments(std::unique_ptr<RowProgram> program) {
  RewriteOptions none;
  Rewriter rewriter(*program, none);
  RowProgram &target = rewriter.program();
  bool changed = false;
  for (Node *node : program->live()) {
    std::optional<Moments> found = matchMoments(*program, node);
    if (!found)
      continue;
    changed = true;
    Type type = node->type;
    Node *x = rewriter.copy(found->x);
    Node *inverse = rewriter.copy(found->inverse);
    Node *zero = target.floatConstant(0, type);
    Node *first = sampleCenter(target, x);
    Node *d = target.op("arith.subf", type, {x, first});
    Node *sum = target.reduce(ReduceKind::AddF, d, zero);
    Node *squares = target.reduce(ReduceKind::AddF,
                                  target.op("arith.mulf", type, {d, d}), zero);
    Node *scaled = target.op("arith.mulf", type, {sum, inverse});
    Node *about = target.op("arith.addf", type, {scaled, first});
    rewriter.replace(
        found->mean,
        eitherMean(target, about, rewriter.copy(found->mean), first));
    Node *difference =
        target.op("arith.subf", type,
                  {squares, target.op("arith.mulf", type, {scaled, sum})});
    rewriter.replace(found->squares, difference);
    rewriter.addGuard({difference, leastShareOfMoments(type),
                       std::numeric_limits<double>::infinity(), squares});
  }
  return changed ? rewriter.finish() : std::move(program);
}

bool kernelbrain::strategy::hasMoments(const RowProgram &program) {
  return llvm::any_of(program.live(), [&](Node *node) {
    return matchMoments(program, node).has_value();
  });
}
