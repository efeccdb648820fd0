//===- RowRewrite.cpp - Algebra on row programs ---------------------------===//

#include "RowRange.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace kernelbrain::strategy;

static bool isHalf(Type type) { return type.isF16() || type.isBF16(); }

namespace {
/// Copies a program node by node, operands first, simplifying on the way.
class Rewriter {
public:
  Rewriter(const RowProgram &source, const RewriteOptions &options)
      : source(source), options(options), target(source.frame()) {
    if (options.narrowF64)
      narrowing = analyzeNarrowing(source);
    if (options.reciprocal)
      magnitudes = magnitudesOf(source, narrowing.limits);
  }

  /// Makes `map` stand for `node` in everything that is copied later.
  void replace(const Node *node, Node *by) { mapping[node] = by; }
  RowProgram &program() { return *target; }

  Node *copy(const Node *node) {
    Node *&made = mapping[node];
    if (made)
      return made;
    SmallVector<Node *> operands;
    for (Node *operand : node->operands)
      operands.push_back(copy(operand));
    return mapping[node] = simplify(*node, operands);
  }

  std::unique_ptr<RowProgram> finish() {
    // In order of the nodes, so that the recursion above stays shallow.
    for (const Node *node : source.live())
      copy(node);
    for (const Assertion &assertion : source.assertions)
      target->assertions.push_back(
          {mapping[assertion.condition], assertion.message});
    for (const Output &output : source.outputs) {
      Node *node = mapping[output.node];
      if (node->type != output.node->type)
        node = target->op("arith.truncf", output.node->type, {node});
      target->outputs.push_back({node, output.access});
    }
    addGuards();
    return std::move(target);
  }

  /// For a node of program().
  void addGuard(Guard guard) { guards.push_back(guard); }

private:
  void addGuards();
  /// The type in which values of a type are computed.
  Type computed(Type type) const {
    bool becomesF32 = (options.narrowF64 && type.isF64()) ||
                      (options.skipRounding && isHalf(type));
    return becomesF32 ? Float32Type::get(source.getContext()) : type;
  }
  Node *simplify(const Node &node, ArrayRef<Node *> operands);
  Node *simplifyOp(const Node &node, ArrayRef<Node *> operands, Type type);
  Node *simplifyDivision(const Node &node, Node *x, Node *y, Type type);
  Node *simplifyProduct(Node *x, Node *y, Type type);

  const RowProgram &source;
  const RewriteOptions &options;
  std::unique_ptr<RowProgram> target;
  llvm::DenseMap<const Node *, Node *> mapping;
  Narrowing narrowing;
  Magnitudes magnitudes;
  std::vector<Guard> guards;
};
} // namespace

Node *Rewriter::simplify(const Node &node, ArrayRef<Node *> operands) {
  Type type = computed(node.type);
  if (node.kind == Node::Kind::Constant && type != node.type)
    return target->floatConstant(*constantValue(&node), type);
  if (node.kind == Node::Kind::Input && type != node.type)
    return target->op("arith.extf", type, {target->remake(node, operands)});
  if (node.kind == Node::Kind::Op)
    return simplifyOp(node, operands, type);
  return target->remake(node, operands);
}

Node *Rewriter::simplifyOp(const Node &node, ArrayRef<Node *> operands,
                           Type type) {
  if ((node.name == "arith.extf" || node.name == "arith.truncf") &&
      operands[0]->type == type)
    return operands[0];
  if (node.name == "arith.divf")
    if (Node *better = simplifyDivision(node, operands[0], operands[1], type))
      return better;
  if (node.name == "arith.mulf")
    if (Node *better = simplifyProduct(operands[0], operands[1], type))
      return better;
  if (node.name == "math.fpowi")
    if (auto power = dyn_cast_or_null<IntegerAttr>(operands[1]->value)) {
      Node *x = operands[0];
      int64_t exponent = power.getInt();
      if (exponent == 2 || exponent == 3) {
        Node *square = target->op("arith.mulf", type, {x, x});
        return exponent == 2 ? square
                             : target->op("arith.mulf", type, {square, x});
      }
    }
  return target->op(node.name, type, operands, node.attributes);
}

/// True if x * (1 / divisor) may stand for x / divisor: it is the same number,
/// or `mayRound` allows one more rounding.
static bool hasInverse(double divisor, Type type, bool mayRound) {
  const llvm::fltSemantics &format = cast<FloatType>(type).getFloatSemantics();
  bool losesInfo = false;
  APFloat inverse(1.0 / divisor);
  inverse.convert(format, APFloat::rmNearestTiesToEven, &losesInfo);
  APFloat same(divisor);
  same.convert(format, APFloat::rmNearestTiesToEven, &losesInfo);
  if (!inverse.isNormal() || !same.isNormal())
    return false;
  int exponent = 0;
  return std::abs(std::frexp(divisor, &exponent)) == 0.5 || mayRound;
}

/// In types that hold few digits one more rounding shows.
static bool isPrecise(Type type) { return type.isF32() || type.isF64(); }

/// x / c = x * (1 / c), exact for powers of two, else within one more rounding;
/// and one division a row instead of one an element.
Node *Rewriter::simplifyDivision(const Node &node, Node *x, Node *y,
                                 Type type) {
  if (std::optional<double> divisor = constantValue(y)) {
    if (!hasInverse(*divisor, type, options.reassociate && isPrecise(type)))
      return nullptr;
    return target->op("arith.mulf", type,
                      {x, target->floatConstant(1.0 / *divisor, type)});
  }
  if (!options.reciprocal || !isPrecise(type) ||
      target->variesAlongColumns(y) || !target->variesAlongColumns(x))
    return nullptr;
  Node *one = target->floatConstant(1.0, type);
  // The reciprocal of a denormal number is infinite.
  Magnitude known = magnitudes[node.operands[1]], allowed = invertible(type);
  if (known.low < allowed.low || known.high > allowed.high)
    guards.push_back(
        {y, std::ldexp(1.0, allowed.low), std::ldexp(1.0, allowed.high)});
  return target->op("arith.mulf", type,
                    {x, target->op("arith.divf", type, {one, y})});
}

/// (x + a) * b = x * b + a * b for constants, which is one fused operation.
Node *Rewriter::simplifyProduct(Node *x, Node *y, Type type) {
  if (x->kind == Node::Kind::Constant)
    std::swap(x, y);
  std::optional<double> b = constantValue(y);
  if (!options.reassociate || !b || !x->isOp("arith.addf"))
    return nullptr;
  std::optional<double> a = constantValue(x->operands[1]);
  if (!a)
    return nullptr;
  // Only where the new constant is exact: cancellation would show its error.
  Node *product = target->floatConstant(*a * *b, type);
  if (constantValue(product) != *a * *b)
    return nullptr;
  return target->op(
      "arith.addf", type,
      {target->op("arith.mulf", type, {x->operands[0], y}), product});
}

/// How much of a number has to be left in a difference: less, and what rounding
/// took from the number shows.
static double leastShare(Type type) {
  return type.isF64() ? std::ldexp(1.0, -24) : 0.25;
}

static constexpr double infinity = std::numeric_limits<double>::infinity();

/// Guards of what is not computed any more are dropped.
void Rewriter::addGuards() {
  for (const Guard &guard : source.guards)
    if (Node *value = mapping.lookup(guard.value))
      guards.push_back({value, guard.low, guard.high,
                        guard.scale ? mapping.lookup(guard.scale) : nullptr});
  for (const auto &[node, limit] : narrowing.limits)
    guards.push_back(
        {mapping[node], limit.low > -1100 ? std::ldexp(1.0, limit.low) : 0.0,
         limit.high < 1100 ? std::ldexp(1.0, limit.high) : infinity});
  for (const Node *node : narrowing.differences)
    guards.push_back({mapping[node], leastShare(mapping[node]->type), infinity,
                      mapping[node->operands[0]]});
  llvm::DenseMap<Node *, bool> isLive;
  for (Node *node : target->live())
    isLive[node] = true;
  for (const Guard &guard : guards)
    if (isLive.lookup(guard.value) &&
        (!guard.scale || isLive.lookup(guard.scale)))
      target->guards.push_back(guard);
}

//===----------------------------------------------------------------------===//
// One sweep for the mean and the sum of squared deviations
//===----------------------------------------------------------------------===//

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

/// With s near the mean and d = x - s: mean = s + sum(d) / n and
/// sum((x - mean)^2) = sum(d^2) - sum(d)^2 / n.
static std::unique_ptr<RowProgram>
combineMoments(std::unique_ptr<RowProgram> program) {
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
    rewriter.addGuard({difference, leastShare(type), infinity, squares});
  }
  return changed ? rewriter.finish() : std::move(program);
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

std::unique_ptr<RowProgram>
kernelbrain::strategy::rewriteProgram(const RowProgram &program,
                                      const RewriteOptions &options) {
  std::unique_ptr<RowProgram> result = Rewriter(program, options).finish();
  return options.oneSweepMoments ? combineMoments(std::move(result))
                                 : std::move(result);
}

bool kernelbrain::strategy::hasMoments(const RowProgram &program) {
  return llvm::any_of(program.live(), [&](Node *node) {
    return matchMoments(program, node).has_value();
  });
}

bool kernelbrain::strategy::hasF64Intermediates(const RowProgram &program) {
  bool hasF64Argument = llvm::any_of(program.elementTypes,
                                     [](Type type) { return type.isF64(); });
  return !hasF64Argument && llvm::any_of(program.live(), [](Node *node) {
    return node->type.isF64();
  });
}

bool kernelbrain::strategy::hasHalfIntermediates(const RowProgram &program) {
  bool found = false;
  for (const Node *node : program.live()) {
    if (node->isOp("arith.bitcast"))
      return false;
    found |= node->kind == Node::Kind::Op && isHalf(node->type) &&
             node->name != "arith.truncf";
    for (const Node *operand : node->operands)
      found |= isHalf(operand->type) && operand->kind == Node::Kind::Op;
  }
  return found;
}

bool kernelbrain::strategy::canGuardNarrowing(const RowProgram &program) {
  return analyzeNarrowing(program).isGuarded;
}

bool kernelbrain::strategy::hasRowDivision(const RowProgram &program) {
  return llvm::any_of(program.live(), [&](Node *node) {
    return node->isOp("arith.divf") && isPrecise(node->type) &&
           program.variesAlongColumns(node) &&
           !program.variesAlongColumns(node->operands[1]) &&
           node->operands[1]->kind != Node::Kind::Constant;
  });
}
