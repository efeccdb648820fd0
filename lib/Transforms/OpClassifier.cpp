//===- OpClassifier.cpp - What a tensor operation does, by its maps -------===//

#include "OpClass.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace kernelbrain;

namespace {

/// Classifies one operation; see the class predicates of docs/Outlining.md.
class Classifier {
public:
  Classifier(linalg::LinalgOp op, OpFacts &facts)
      : op(op), facts(facts), body(op.getBlock()) {}

  void run(int64_t dynamicDim) {
    measure(dynamicDim);
    readBody();
    facts.cls = classify();
    if (isProduct(facts.cls) || isConvolution(facts.cls))
      facts.flops = 2.0 * facts.points;
  }

private:
  void measure(int64_t dynamicDim);
  void readBody();
  ReducedMap reduce(AffineMap map);
  OpClass classify();
  OpClass classifyGather();
  OpClass classifyParallel();
  OpClass classifyProduct(unsigned left, unsigned right);
  OpClass classifyConvolution(unsigned image, unsigned window);
  OpClass classifyReduction();
  std::optional<std::pair<unsigned, unsigned>> multiplyAdd();
  bool dependsOnInput(Value value);

  const ReducedMap &outputMap() {
    return facts.maps[op.getDpsInitOperand(0)->getOperandNumber()];
  }
  /// The inputs that the body reads.
  SmallVector<unsigned> readInputs() {
    SmallVector<unsigned> inputs;
    for (unsigned i : llvm::seq<unsigned>(op.getNumDpsInputs()))
      if (facts.reads[i] && isa<RankedTensorType>(op->getOperand(i).getType()))
        inputs.push_back(i);
    return inputs;
  }
  bool bodyHolds(function_ref<bool(Operation &)> predicate) {
    return llvm::any_of(*body, predicate);
  }
  bool isReductionLoop(unsigned dim) {
    return op.getIteratorTypesArray()[dim] == utils::IteratorType::reduction;
  }

  linalg::LinalgOp op;
  OpFacts &facts;
  Block *body;
};

void Classifier::measure(int64_t dynamicDim) {
  for (int64_t extent : op.getStaticLoopRanges())
    facts.extents.push_back(ShapedType::isDynamic(extent) ? dynamicDim
                                                          : extent);
  for (auto [dim, extent] : llvm::enumerate(facts.extents)) {
    facts.points *= extent;
    (isReductionLoop(dim) ? facts.columns : facts.rows) *= extent;
  }
  for (AffineMap map : op.getIndexingMapsArray())
    facts.maps.push_back(reduce(map));
  facts.flops = facts.points * scalarFlops(*body);
}

// Terms over a dimension of extent 1 are 0: a 1x1 convolution is a product.
ReducedMap Classifier::reduce(AffineMap map) {
  SmallVector<AffineExpr> dims;
  for (auto [dim, extent] : llvm::enumerate(facts.extents))
    dims.push_back(extent == 1 ? getAffineConstantExpr(0, op.getContext())
                               : getAffineDimExpr(dim, op.getContext()));
  ReducedMap reduced;
  reduced.map = simplifyAffineMap(
      map.replaceDimsAndSymbols(dims, {}, map.getNumDims(), 0));
  reduced.used.resize(map.getNumDims());
  for (AffineExpr expr : reduced.map.getResults()) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      reduced.dims.push_back(dim.getPosition());
    else if (!isa<AffineConstantExpr>(expr))
      reduced.isWindowed = true;
    for (unsigned dim : llvm::seq(map.getNumDims()))
      if (expr.isFunctionOfDim(dim))
        reduced.used.set(dim);
  }
  if (reduced.isWindowed)
    reduced.dims.clear();
  return reduced;
}

void Classifier::readBody() {
  for (OpOperand &operand : op->getOpOperands())
    facts.reads.push_back(!op.getMatchingBlockArgument(&operand).use_empty());
  body->walk([&](Operation *inner) {
    facts.asserts |= isa<cf::AssertOp>(inner);
    for (Value operand : inner->getOperands())
      if (isa<RankedTensorType>(operand.getType()) &&
          !body->getParent()->isAncestor(operand.getParentRegion()) &&
          !llvm::is_contained(facts.gathered, operand))
        facts.gathered.push_back(operand);
  });
}

bool Classifier::dependsOnInput(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() == body;
  Operation *producer = value.getDefiningOp();
  if (producer->getBlock() != body)
    return false;
  return isa<tensor::ExtractOp>(producer) ||
         llvm::any_of(producer->getOperands(),
                      [&](Value operand) { return dependsOnInput(operand); });
}

// Indices of linalg.index and constants alone are an affine view (a reversal,
// a shift).
OpClass Classifier::classifyGather() {
  bool isDataDependent = false;
  body->walk([&](tensor::ExtractOp extract) {
    for (Value index : extract.getIndices())
      isDataDependent |= dependsOnInput(index);
  });
  return isDataDependent ? OpClass::Gather : OpClass::AffineGather;
}

OpClass Classifier::classifyParallel() {
  SmallVector<unsigned> inputs = readInputs();
  bool readsInit = llvm::any_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    return facts.reads[init.getOperandNumber()];
  });
  if (inputs.empty() && !readsInit) {
    facts.readsNothing = true;
    bool usesIndex =
        bodyHolds([](Operation &inner) { return isa<linalg::IndexOp>(inner); });
    return usesIndex ? OpClass::Iota : OpClass::Fill;
  }
  const ReducedMap &output = outputMap();
  bool hasWindow = false, hasPermutation = false, hasBroadcast = false;
  for (unsigned input : inputs) {
    const ReducedMap &map = facts.maps[input];
    if (map.isWindowed || output.isWindowed) {
      hasWindow = true;
      continue;
    }
    if (map.dims == output.dims)
      continue;
    SmallVector<unsigned> kept = llvm::filter_to_vector(
        output.dims, [&](unsigned dim) { return map.used.test(dim); });
    (kept == map.dims ? hasBroadcast : hasPermutation) = true;
  }
  bool onlyYields = body->getOperations().size() == 1;
  if (onlyYields && inputs.size() == 1 && !readsInit)
    return hasWindow        ? OpClass::SliceCopy
           : hasPermutation ? OpClass::Transpose
           : hasBroadcast   ? OpClass::Broadcast
                            : OpClass::Copy;
  if (hasWindow)
    return OpClass::Stencil;
  if (hasPermutation)
    return OpClass::PermutingElementwise;
  bool onlyCasts = !bodyHolds([](Operation &inner) {
    return !isa<CastOpInterface, linalg::YieldOp>(inner);
  });
  return onlyCasts && !hasBroadcast && !readsInit ? OpClass::Cast
                                                  : OpClass::Elementwise;
}

/// Looks through conversions of a scalar.
static Value stripCasts(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncFOp,
             arith::TruncIOp, arith::SIToFPOp, arith::UIToFPOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// The two inputs of acc + a * b, through casts.
std::optional<std::pair<unsigned, unsigned>> Classifier::multiplyAdd() {
  if (op.getNumDpsInits() != 1)
    return std::nullopt;
  Operation *add =
      stripCasts(body->getTerminator()->getOperand(0)).getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(add))
    return std::nullopt;
  for (Value term : add->getOperands()) {
    Operation *multiply = stripCasts(term).getDefiningOp();
    if (!isa_and_nonnull<arith::MulFOp, arith::MulIOp>(multiply))
      continue;
    auto left = dyn_cast<BlockArgument>(stripCasts(multiply->getOperand(0)));
    auto right = dyn_cast<BlockArgument>(stripCasts(multiply->getOperand(1)));
    if (!left || !right || left == right || left.getOwner() != body ||
        right.getOwner() != body)
      continue;
    unsigned a = left.getArgNumber(), b = right.getArgNumber();
    if (std::max(a, b) < static_cast<unsigned>(op.getNumDpsInputs()))
      return std::pair(a, b);
  }
  return std::nullopt;
}

OpClass Classifier::classifyConvolution(unsigned image, unsigned window) {
  const ReducedMap &in = facts.maps[image], &weights = facts.maps[window],
                   &out = outputMap();
  bool hasChannel = false, reducesChannel = false;
  for (AffineExpr expr : in.map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || !weights.used.test(dim.getPosition()))
      continue;
    hasChannel |= out.used.test(dim.getPosition());
    reducesChannel |= isReductionLoop(dim.getPosition());
  }
  if (!hasChannel)
    return OpClass::Convolution;
  return reducesChannel ? OpClass::GroupedConvolution
                        : OpClass::DepthwiseConvolution;
}

OpClass Classifier::classifyProduct(unsigned left, unsigned right) {
  const ReducedMap &a = facts.maps[left], &b = facts.maps[right],
                   &c = outputMap();
  if (a.isWindowed || b.isWindowed)
    return a.isWindowed ? classifyConvolution(left, right)
                        : classifyConvolution(right, left);
  bool hasM = false, hasN = false, hasK = false, isOdd = c.isWindowed;
  for (auto [dim, extent] : llvm::enumerate(facts.extents)) {
    if (extent == 1)
      continue;
    bool inA = a.used.test(dim), inB = b.used.test(dim), inC = c.used.test(dim);
    if (inA && inB && inC)
      continue;
    hasM |= inA && !inB && inC;
    hasN |= !inA && inB && inC;
    hasK |= inA && inB && !inC;
    isOdd |= inA + inB + inC < 2;
  }
  if (isOdd || !hasK)
    return OpClass::TwoOperandReduction;
  if (hasM && hasN)
    return OpClass::Contraction;
  return hasM || hasN ? OpClass::Matvec : OpClass::Dot;
}

OpClass Classifier::classifyReduction() {
  SmallVector<unsigned> inputs = readInputs();
  if (inputs.empty())
    return OpClass::Other;
  if (llvm::any_of(facts.maps,
                   [](const ReducedMap &map) { return map.isWindowed; })) {
    bool multiplies = bodyHolds([](Operation &inner) {
      return isa<arith::MulFOp, arith::MulIOp>(inner);
    });
    return multiplies ? OpClass::Other : OpClass::Pooling;
  }
  // The widest input says in which order memory is walked.
  unsigned widest = *llvm::max_element(inputs, [&](unsigned a, unsigned b) {
    return facts.maps[a].dims.size() < facts.maps[b].dims.size();
  });
  ArrayRef<unsigned> order = facts.maps[widest].dims;
  SmallVector<unsigned> reduced = llvm::filter_to_vector(
      order, [&](unsigned dim) { return isReductionLoop(dim); });
  if (reduced.empty())
    return OpClass::TwoOperandReduction;
  if (reduced.size() == order.size())
    return OpClass::FullReduction;
  if (llvm::all_of(order.take_back(reduced.size()),
                   [&](unsigned dim) { return isReductionLoop(dim); }))
    return OpClass::RowReduction;
  return reduced.size() == 1 && !isReductionLoop(order.back())
             ? OpClass::ColumnReduction
             : OpClass::MultiAxisReduction;
}

OpClass Classifier::classify() {
  if (op.getNumDpsInits() == 0)
    return OpClass::Other;
  if (isa<linalg::FillOp>(op)) {
    facts.readsNothing = true;
    return OpClass::Fill;
  }
  if (!facts.gathered.empty())
    return bodyHolds(
               [](Operation &inner) { return isa<tensor::ExtractOp>(inner); })
               ? classifyGather()
               : OpClass::Other;
  bool reduces = llvm::any_of(llvm::enumerate(facts.extents), [&](auto loop) {
    return loop.value() != 1 && isReductionLoop(loop.index());
  });
  if (!reduces)
    return classifyParallel();
  if (auto factors = multiplyAdd())
    return classifyProduct(factors->first, factors->second);
  return classifyReduction();
}

} // namespace

OpFacts kernelbrain::analyzeOp(linalg::LinalgOp op, int64_t dynamicDim) {
  OpFacts facts;
  Classifier(op, facts).run(dynamicDim);
  return facts;
}
