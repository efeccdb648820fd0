//===- RowRewrite.cpp - Algebra on row programs ---------------------------===//

#include "RowRewriter.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace kernelbrain::strategy;

static bool isHalf(Type type) { return type.isF16() || type.isBF16(); }

/// The type in which values of a type are computed.
Type Rewriter::computed(Type type) const {
  bool becomesF32 = (options.narrowF64 && type.isF64()) ||
                    (options.skipRounding && isHalf(type));
  return becomesF32 ? Float32Type::get(source.getContext()) : type;
}

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

double kernelbrain::strategy::leastShare(Type type) {
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
// Entry points
//===----------------------------------------------------------------------===//

std::unique_ptr<RowProgram>
kernelbrain::strategy::rewriteProgram(const RowProgram &program,
                                      const RewriteOptions &options) {
  std::unique_ptr<RowProgram> result = Rewriter(program, options).finish();
  return options.oneSweepMoments ? combineMoments(std::move(result))
                                 : std::move(result);
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
