//===- VerifyAccesses.cpp - Checks of memory accesses at run time ---------===//

#include "Lowering.h"
#include "kernelbrain/Transforms/Pipelines.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace kernelbrain::compile {

namespace {
/// Names of values are given once: a kernel may have thousands of accesses.
class AccessVerifier {
public:
  explicit AccessVerifier(ModuleOp module) : names(module) {}
  void verify(Operation *op);

private:
  std::string message(Operation *op, StringRef what);
  void assertInside(Operation *op, Value base, ValueRange indices,
                    ArrayRef<Value> counts);
  void assertMasked(Operation *op, Value base, ValueRange indices, Value mask);

  AsmState names;
};
} // namespace

std::string AccessVerifier::message(Operation *op, StringRef what) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << what << ": ";
  op->print(stream, names);
  return text;
}

/// The lanes of a mask of one dimension, as the number of the first one that is
/// active and the count from there to behind the last one. The count is not
/// positive if no lane is active.
static std::pair<Value, Value> activeLanes(OpBuilder &builder, Location loc,
                                           Value mask) {
  int64_t lanes = cast<VectorType>(mask.getType()).getDimSize(0);
  if (auto create = mask.getDefiningOp<vector::CreateMaskOp>()) {
    Value all = arith::ConstantIndexOp::create(builder, loc, lanes);
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value count = create.getOperands().front();
    return {zero, arith::MinSIOp::create(builder, loc, count, all)};
  }
  auto type = VectorType::get({lanes}, builder.getI32Type());
  auto constant = [&](ArrayRef<int32_t> values) -> Value {
    return arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::get<int32_t>(type, values));
  };
  auto reduce = [&](vector::CombiningKind kind, Value active, Value other) {
    Value chosen = arith::SelectOp::create(builder, loc, mask, active, other);
    Value number = vector::ReductionOp::create(builder, loc, kind, chosen);
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                      number)
        .getResult();
  };
  auto numbers = llvm::to_vector(llvm::seq<int32_t>(0, lanes));
  auto ends = llvm::to_vector(llvm::seq<int32_t>(1, lanes + 1));
  Value first = reduce(vector::CombiningKind::MINSI, constant(numbers),
                       constant(static_cast<int32_t>(lanes)));
  Value end = reduce(vector::CombiningKind::MAXSI, constant(ends), constant(0));
  return {first, arith::SubIOp::create(builder, loc, end, first)};
}

/// Asserts that `count` elements from `indices` on, along the last dimensions
/// of `base`, are inside. `counts` has one value a dimension of the vector; an
/// access to no element is right wherever it is.
void AccessVerifier::assertInside(Operation *op, Value base, ValueRange indices,
                                  ArrayRef<Value> counts) {
  auto type = dyn_cast<MemRefType>(base.getType());
  if (!type)
    return;
  // Of a buffer of vectors, one element is accessed.
  if (isa<VectorType>(type.getElementType()))
    counts = {};
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0), inside;
  auto require = [&](arith::CmpIPredicate predicate, Value a, Value b) {
    Value holds = arith::CmpIOp::create(builder, loc, predicate, a, b);
    inside =
        inside ? arith::AndIOp::create(builder, loc, inside, holds) : holds;
  };
  size_t plain = indices.size() - counts.size();
  for (auto [position, index] : llvm::enumerate(indices)) {
    Value extent = memref::DimOp::create(builder, loc, base, position);
    require(arith::CmpIPredicate::sge, index, zero);
    if (position < plain) {
      require(arith::CmpIPredicate::slt, index, extent);
      continue;
    }
    Value count = counts[position - plain];
    Value end = arith::AddIOp::create(builder, loc, index, count);
    require(arith::CmpIPredicate::sle, end, extent);
  }
  for (Value count : counts) {
    Value isEmpty = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::sle, count, zero);
    inside = arith::OrIOp::create(builder, loc, inside, isEmpty);
  }
  if (inside)
    cf::AssertOp::create(builder, loc, inside,
                         message(op, "out-of-bounds access"));
}

static SmallVector<Value> extentsOf(Operation *op, VectorType type) {
  OpBuilder builder(op);
  SmallVector<Value> extents;
  for (int64_t extent : type.getShape())
    extents.push_back(
        arith::ConstantIndexOp::create(builder, op->getLoc(), extent));
  return extents;
}

/// A masked access, whose mask is of one dimension.
void AccessVerifier::assertMasked(Operation *op, Value base, ValueRange indices,
                                  Value mask) {
  OpBuilder builder(op);
  auto [first, count] = activeLanes(builder, op->getLoc(), mask);
  SmallVector<Value> from(indices);
  from.back() =
      arith::AddIOp::create(builder, op->getLoc(), from.back(), first);
  assertInside(op, base, from, count);
}

void AccessVerifier::verify(Operation *op) {
  if (auto load = dyn_cast<vector::LoadOp>(op))
    return assertInside(op, load.getBase(), load.getIndices(),
                        extentsOf(op, load.getVectorType()));
  if (auto store = dyn_cast<vector::StoreOp>(op))
    return assertInside(op, store.getBase(), store.getIndices(),
                        extentsOf(op, store.getVectorType()));
  if (auto load = dyn_cast<vector::MaskedLoadOp>(op))
    return assertMasked(op, load.getBase(), load.getIndices(), load.getMask());
  if (auto store = dyn_cast<vector::MaskedStoreOp>(op))
    return assertMasked(op, store.getBase(), store.getIndices(),
                        store.getMask());
  OpBuilder builder(op);
  cast<RuntimeVerifiableOpInterface>(op).generateRuntimeVerification(
      builder, op->getLoc(),
      [&](Operation *access, StringRef what) { return message(access, what); });
}

LogicalResult verifyAccesses(ModuleOp module) {
  // Transfers become accesses; what remains of them tests its bounds itself.
  if (failed(runPipeline(module,
                         "func.func(convert-vector-to-scf{full-unroll=true})")))
    return failure();
  RewritePatternSet transfers(module.getContext());
  vector::populateVectorTransferLoweringPatterns(transfers,
                                                 /*maxTransferRank=*/1);
  if (failed(applyPatternsGreedily(module, std::move(transfers))))
    return failure();
  SmallVector<Operation *> accesses;
  module.walk([&](Operation *op) {
    if (isa<memref::LoadOp, memref::StoreOp, vector::LoadOp, vector::StoreOp,
            vector::MaskedLoadOp, vector::MaskedStoreOp>(op))
      accesses.push_back(op);
  });
  AccessVerifier verifier(module);
  for (Operation *op : accesses)
    verifier.verify(op);
  return success();
}

} // namespace kernelbrain::compile
