//===- RowRange.cpp - How large the values of a row program are -----------===//

#include "RowRange.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace kernelbrain::strategy;

//===----------------------------------------------------------------------===//
// Magnitudes
//===----------------------------------------------------------------------===//

bool kernelbrain::strategy::isNonPositive(const Node *node) {
  if (!node->isOp("arith.subf"))
    return false;
  const Node *max = node->operands[1];
  return max->kind == Node::Kind::Reduce &&
         (max->reduce == ReduceKind::MaximumF ||
          max->reduce == ReduceKind::MaxNumF ||
          max->reduce == ReduceKind::MaxSelectF) &&
         max->operands[0] == node->operands[0];
}

/// From the smallest denormal to infinity.
static Magnitude magnitudeOf(Type type) {
  if (type.isF16())
    return {-24, 16};
  if (type.isBF16())
    return {-133, 128};
  if (type.isF32())
    return {-149, 128};
  return {};
}

Magnitude kernelbrain::strategy::invertible(Type type) {
  int highest = type.isF16() ? 14 : type.isF64() ? 1022 : 126;
  return {-highest, highest};
}

static Magnitude intersect(Magnitude a, Magnitude b) {
  return {std::clamp(a.low, b.low, b.high), std::clamp(a.high, b.low, b.high)};
}

static Magnitude unite(Magnitude a, Magnitude b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

static Magnitude ofConstant(const Node *node) {
  std::optional<double> value = constantValue(node);
  if (!value || *value == 0 || !std::isfinite(*value))
    return value ? Magnitude{0, 0} : Magnitude();
  int exponent = 0;
  std::frexp(*value, &exponent);
  return {exponent - 1, exponent};
}

/// The product of a and 2^power. A constant factor does not count as a loss of
/// range below: what it rounds away was the last place of an input's denormal.
static Magnitude scaled(Magnitude a, Magnitude power, bool isConstant) {
  Magnitude result{a.low + power.low, a.high + power.high};
  if (isConstant && a.low >= -149)
    result.low = std::max(result.low, -149);
  return result;
}

static Magnitude ofOp(const Node &node, ArrayRef<Magnitude> of) {
  auto isConstant = [&](unsigned operand) {
    return node.operands[operand]->kind == Node::Kind::Constant;
  };
  auto half = [](int exponent) { return llvm::divideFloorSigned(exponent, 2); };
  StringRef name = node.name;
  if (name == "arith.extf" || name == "arith.truncf" || name == "arith.negf" ||
      name == "math.absf")
    return of[0];
  if (name == "arith.mulf")
    return isConstant(0) ? scaled(of[1], of[0], true)
                         : scaled(of[0], of[1], isConstant(1));
  if (name == "arith.divf")
    return scaled(of[0], {-of[1].high, -of[1].low}, isConstant(1));
  if (name == "arith.addf" || name == "arith.subf") {
    Magnitude both = unite(of[0], of[1]);
    return {both.low, both.high + 1};
  }
  if (name == "math.sqrt")
    return {half(of[0].low), half(of[0].high) + 1};
  if (name == "math.rsqrt")
    return {-half(of[0].high) - 1, -half(of[0].low)};
  if (name == "math.exp")
    return {-1100, isNonPositive(node.operands[0]) ? 0 : 1100};
  if (name == "math.tanh" || name == "math.erf")
    return {of[0].low - 1, 0};
  if (name == "math.log")
    return {-53, 10};
  if (name == "arith.sitofp" || name == "arith.uitofp")
    return {0, 64};
  if (name == "arith.maximumf" || name == "arith.minimumf" ||
      name == "arith.maxnumf" || name == "arith.minnumf")
    return unite(of[0], of[1]);
  if (name == "arith.select")
    return unite(of[1], of[2]);
  auto power = name == "math.fpowi"
                   ? dyn_cast_or_null<IntegerAttr>(node.operands[1]->value)
                   : nullptr;
  if (power && power.getInt() >= 0 && power.getInt() <= 8)
    return {static_cast<int>(of[0].low * power.getInt()),
            static_cast<int>(of[0].high * power.getInt())};
  return {};
}

static Magnitude ofReduction(const RowProgram &program, const Node &node,
                             ArrayRef<Magnitude> of) {
  switch (node.reduce) {
  case ReduceKind::AddF: {
    const Extent columns = program.reducedExtent();
    int terms =
        columns.isStatic() ? llvm::Log2_64_Ceil(columns.factor) + 1 : 32;
    const Node *term = node.operands[0];
    // One of the terms is e^0.
    if (term->isOp("math.exp") && isNonPositive(term->operands[0]))
      return {0, terms};
    Magnitude all = unite(of[0], of[1]);
    return {all.low, all.high + terms};
  }
  case ReduceKind::MulF:
    return {};
  default:
    return unite(of[0], of[1]);
  }
}

/// What follows from the operands, which are known.
static Magnitude magnitudeOf(const RowProgram &program, const Node &node,
                             Magnitudes &known) {
  SmallVector<Magnitude> of;
  for (const Node *operand : node.operands)
    of.push_back(known[operand]);
  Magnitude magnitude;
  if (node.kind == Node::Kind::Constant)
    magnitude = ofConstant(&node);
  else if (node.kind == Node::Kind::Op)
    magnitude = ofOp(node, of);
  else if (node.kind == Node::Kind::Reduce)
    magnitude = ofReduction(program, node, of);
  return intersect(magnitude, magnitudeOf(node.type));
}

Magnitudes kernelbrain::strategy::magnitudesOf(const RowProgram &program,
                                               const Magnitudes &limits) {
  Magnitudes result;
  for (const Node *node : program.live()) {
    Magnitude magnitude = magnitudeOf(program, *node, result);
    auto limit = limits.find(node);
    result[node] =
        limit == limits.end() ? magnitude : intersect(magnitude, limit->second);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Narrowing
//===----------------------------------------------------------------------===//

namespace {
class NarrowingAnalysis {
public:
  explicit NarrowingAnalysis(const RowProgram &program)
      : program(program), live(program.live()) {
    for (const Node *node : live)
      for (const Node *operand : node->operands)
        users[operand].push_back(node);
  }

  Narrowing run() {
    findLimits();
    findDifferences();
    magnitudes = magnitudesOf(program, bounds);
    for (const Node *node : live)
      if (node->type.isF64() && program.variesAlongColumns(node))
        result.isGuarded &= (!overflows(node) || staysInfinite(node)) &&
                            (!underflows(node) || mayBeZero(node));
    return std::move(result);
  }

private:
  /// Limits of sums of squares and the like: far from where f32 ends, so that
  /// terms lost below or above do not count.
  static constexpr int limit = 100;

  void findLimits();
  void findDifferences();
  bool overflows(const Node *node) { return magnitudes[node].high > 128; }
  bool underflows(const Node *node) { return magnitudes[node].low < -149; }
  static bool isSum(const Node *node) {
    return node->kind == Node::Kind::Reduce && node->reduce == ReduceKind::AddF;
  }
  static bool isProduct(const Node *node) {
    return node->isOp("arith.mulf") || node->isOp("math.fpowi");
  }
  static bool isTerm(const Node *node) {
    return node->isOp("arith.addf") || node->isOp("arith.subf");
  }
  bool endsInSums(const Node *node);
  bool staysInfinite(const Node *node);
  bool mayBeZero(const Node *node);

  const RowProgram &program;
  std::vector<Node *> live;
  NodeMap<std::vector<const Node *>> users;
  Magnitudes magnitudes;
  Magnitudes bounds; ///< the limits, and what follows for terms of sums
  Narrowing result;
};
} // namespace

void NarrowingAnalysis::findLimits() {
  for (const Node *node : live) {
    magnitudes[node] = magnitudeOf(program, *node, magnitudes);
    bool isWideRow = node->type.isF64() && !program.variesAlongColumns(node) &&
                     node->kind != Node::Kind::Constant;
    if (!isWideRow || (!overflows(node) && !underflows(node)))
      continue;
    Magnitude wanted;
    if (underflows(node))
      wanted.low = -limit;
    if (overflows(node))
      wanted.high = limit;
    magnitudes[node] = intersect(magnitudes[node], wanted);
    result.limits[node] = bounds[node] = wanted;
    // Where a sum of squares keeps its limit, so do the terms.
    const Node *square = isSum(node) ? node->operands[0] : nullptr;
    if (square && wanted.high == limit && isProduct(square) &&
        (square->isOp("math.fpowi") ||
         square->operands[0] == square->operands[1]))
      bounds[square->operands[0]].high = limit / 2;
  }
}

/// Differences of what both come from reductions, such as E[x^2] - E[x]^2.
void NarrowingAnalysis::findDifferences() {
  NodeMap<bool> isReduced;
  for (const Node *node : live) {
    isReduced[node] = node->isReduction();
    for (const Node *operand : node->operands)
      isReduced[node] = isReduced[node] || isReduced[operand];
    if (node->isOp("arith.subf") && node->type.isF64() &&
        !program.variesAlongColumns(node) && isReduced[node->operands[0]] &&
        isReduced[node->operands[1]])
      result.differences.push_back(node);
  }
}

/// True if an infinite value makes a sum that has limits infinite or NaN.
bool NarrowingAnalysis::endsInSums(const Node *node) {
  return llvm::all_of(users[node], [&](const Node *user) {
    return isSum(user) || ((isTerm(user) || isProduct(user)) &&
                           user->type.isF64() && endsInSums(user));
  });
}

/// True if it does not matter, or shows in a sum that has limits, that the
/// value is infinite in f32.
bool NarrowingAnalysis::staysInfinite(const Node *node) {
  return llvm::all_of(users[node], [&](const Node *user) {
    return isSum(user) || user->isOp("arith.truncf") ||
           (isTerm(user) && staysInfinite(user)) ||
           (isProduct(user) && endsInSums(user));
  });
}

/// The same for a value that is 0 or rounded to a denormal in f32.
bool NarrowingAnalysis::mayBeZero(const Node *node) {
  return llvm::none_of(users[node], [&](const Node *user) {
    bool isDivisor = user->isOp("arith.divf") && user->operands[1] == node;
    return isDivisor || user->isOp("math.log") || user->isOp("math.sqrt") ||
           user->isOp("math.rsqrt") || user->isOp("math.powf");
  });
}

Narrowing kernelbrain::strategy::analyzeNarrowing(const RowProgram &program) {
  return NarrowingAnalysis(program).run();
}
