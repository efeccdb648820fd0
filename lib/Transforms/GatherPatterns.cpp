//===- GatherPatterns.cpp - Normalisation of constant gathers -------------===//
//
// torch writes a reshape of a broadcast value as a gather through constant
// index tensors. Where the gathered offsets are 0, 1, 2, ... in row-major
// order, the gather is that reshape.
//
//===----------------------------------------------------------------------===//

#include "NormalizePatterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace {

/// Gathers with more points than this are not interpreted.
constexpr int64_t maxPoints = 1 << 16;

/// The values of a constant of 64-bit integers or indices; empty if it is
/// none.
SmallVector<int64_t> integerValues(Value tensor) {
  Attribute attribute;
  SmallVector<int64_t> values;
  if (!matchPattern(tensor, m_Constant(&attribute)))
    return values;
  if (auto dense = dyn_cast<DenseIntElementsAttr>(attribute)) {
    for (const APInt &value : dense.getValues<APInt>())
      values.push_back(value.getSExtValue());
  } else if (auto resource =
                 dyn_cast<DenseI64ResourceElementsAttr>(attribute)) {
    if (std::optional<ArrayRef<int64_t>> data = resource.tryGetAsArrayRef())
      values.append(data->begin(), data->end());
  }
  return values;
}

/// Computes integers of the body of a generic, one point at a time.
class BodyInterpreter {
public:
  explicit BodyInterpreter(linalg::GenericOp op) : op(op) {
    for (OpOperand *operand : op.getDpsInputOperands()) {
      SmallVector<int64_t> constants = integerValues(operand->get());
      auto type = cast<RankedTensorType>(operand->get().getType());
      if (type.hasStaticShape() &&
          type.getNumElements() == static_cast<int64_t>(constants.size()))
        inputs[op.getMatchingBlockArgument(operand)] = {
            std::move(constants), type.getShape(),
            op.getMatchingIndexingMap(operand)};
    }
  }

  /// Starts at another point.
  void moveTo(ArrayRef<int64_t> position) {
    point = position;
    known.clear();
  }

  std::optional<int64_t> evaluate(Value value) {
    auto [entry, isNew] = known.try_emplace(value, std::nullopt);
    if (!isNew)
      return entry->second;
    std::optional<int64_t> result = compute(value);
    known[value] = result;
    return result;
  }

private:
  struct Input {
    SmallVector<int64_t> values;
    ArrayRef<int64_t> shape;
    AffineMap map;
  };

  std::optional<int64_t> compute(Value value) {
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)))
      return constant.getSExtValue();
    if (auto argument = dyn_cast<BlockArgument>(value))
      return read(argument);
    Operation *producer = value.getDefiningOp();
    if (auto index = dyn_cast<linalg::IndexOp>(producer))
      return point[index.getDim()];
    if (auto select = dyn_cast<arith::SelectOp>(producer)) {
      std::optional<int64_t> condition = evaluate(select.getCondition());
      if (!condition)
        return std::nullopt;
      return evaluate(*condition ? select.getTrueValue()
                                 : select.getFalseValue());
    }
    if (isa<arith::IndexCastOp, arith::ExtSIOp>(producer))
      return evaluate(producer->getOperand(0));
    if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::CmpIOp>(
            producer))
      return std::nullopt;
    std::optional<int64_t> left = evaluate(producer->getOperand(0));
    std::optional<int64_t> right = evaluate(producer->getOperand(1));
    if (!left || !right)
      return std::nullopt;
    if (auto compare = dyn_cast<arith::CmpIOp>(producer))
      return arith::applyCmpPredicate(compare.getPredicate(),
                                      APInt(64, *left, true),
                                      APInt(64, *right, true));
    int64_t result;
    bool overflows = isa<arith::AddIOp>(producer)
                         ? llvm::AddOverflow(*left, *right, result)
                     : isa<arith::SubIOp>(producer)
                         ? llvm::SubOverflow(*left, *right, result)
                         : llvm::MulOverflow(*left, *right, result);
    return overflows ? std::nullopt : std::optional<int64_t>(result);
  }

  std::optional<int64_t> read(BlockArgument argument) {
    auto entry = inputs.find(argument);
    if (entry == inputs.end())
      return std::nullopt;
    const Input &input = entry->second;
    int64_t offset = 0;
    for (auto [dim, coordinate] : llvm::enumerate(input.map.compose(point)))
      offset = offset * input.shape[dim] + coordinate;
    return input.values[offset];
  }

  linalg::GenericOp op;
  llvm::DenseMap<Value, Input> inputs;
  llvm::DenseMap<Value, std::optional<int64_t>> known;
  ArrayRef<int64_t> point;
};

/// True if the elements that `extract` reads, in row-major order of the points
/// of `op`, are all elements of its tensor in row-major order.
bool readsInOrder(linalg::GenericOp op, tensor::ExtractOp extract) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(extract.getTensor().getType()).getShape();
  int64_t points = ShapedType::getNumElements(extents);
  BodyInterpreter interpreter(op);
  SmallVector<int64_t> point(extents.size(), 0);
  for (int64_t expected = 0; expected < points; ++expected) {
    interpreter.moveTo(point);
    int64_t offset = 0;
    for (auto [dim, index] : llvm::enumerate(extract.getIndices())) {
      std::optional<int64_t> coordinate = interpreter.evaluate(index);
      if (!coordinate || *coordinate < 0 || *coordinate >= shape[dim])
        return false;
      offset = offset * shape[dim] + *coordinate;
    }
    if (offset != expected)
      return false;
    for (int64_t dim = extents.size() - 1; dim >= 0; --dim) {
      if (++point[dim] < extents[dim])
        break;
      point[dim] = 0;
    }
  }
  return true;
}

struct GatherToReshape : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || op->getNumResults() != 1 ||
        op.getNumParallelLoops() != op.getNumLoops() ||
        !op.getIndexingMapsArray().back().isIdentity())
      return failure();
    auto extract = op.getBody()
                       ->getTerminator()
                       ->getOperand(0)
                       .getDefiningOp<tensor::ExtractOp>();
    if (!extract || llvm::any_of(*op.getBody(), [](Operation &body) {
          return !isMemoryEffectFree(&body);
        }))
      return failure();
    Value source = extract.getTensor();
    auto from = cast<RankedTensorType>(source.getType());
    auto to = cast<RankedTensorType>(op->getResult(0).getType());
    if (!from.hasStaticShape() || !to.hasStaticShape() ||
        from.getNumElements() != to.getNumElements() ||
        from.getNumElements() > maxPoints || from.getRank() == 0 ||
        to.getRank() == 0 || !readsInOrder(op, extract))
      return failure();
    rewriter.replaceOp(op, reshape(source, from, to, op.getLoc(), rewriter));
    return success();
  }

private:
  static Value reshape(Value source, RankedTensorType from, RankedTensorType to,
                       Location loc, PatternRewriter &rewriter) {
    if (from == to)
      return source;
    std::optional<SmallVector<ReassociationIndices>> groups =
        getReassociationIndicesForReshape(from, to);
    if (groups && from.getRank() > to.getRank())
      return tensor::CollapseShapeOp::create(rewriter, loc, to, source,
                                             *groups);
    if (groups && from.getRank() < to.getRank())
      return tensor::ExpandShapeOp::create(rewriter, loc, to, source, *groups);
    auto all = [](int64_t rank) {
      return SmallVector<ReassociationIndices>{
          llvm::to_vector(llvm::seq<int64_t>(0, rank))};
    };
    auto flat =
        RankedTensorType::get({from.getNumElements()}, from.getElementType());
    if (from.getRank() > 1)
      source = tensor::CollapseShapeOp::create(rewriter, loc, flat, source,
                                               all(from.getRank()));
    if (to.getRank() > 1)
      source = tensor::ExpandShapeOp::create(rewriter, loc, to, source,
                                             all(to.getRank()));
    return source;
  }
};

} // namespace

void kernelbrain::populateGatherPatterns(RewritePatternSet &patterns) {
  patterns.add<GatherToReshape>(patterns.getContext());
}
