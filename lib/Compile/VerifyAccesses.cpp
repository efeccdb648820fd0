//===- VerifyAccesses.cpp - Checks of memory accesses at run time ---------===//

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"

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

/// How many elements a mask lets through in its only dimension, if that is
/// known; null: all of the vector may be touched or none.
static Value maskedCount(Value mask) {
  auto create = mask.getDefiningOp<vector::CreateMaskOp>();
  return create && create.getOperands().size() == 1 ? create.getOperands()[0]
                                                    : Value();
}

/// Asserts that `count` elements from `indices` on, along the last dimensions
/// of `base`, are inside. `count` has one value a dimension of the vector.
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
    // An access to no element is right wherever it is.
    Value count =
        arith::MaxSIOp::create(builder, loc, counts[position - plain], zero);
    Value end = arith::AddIOp::create(builder, loc, index, count);
    require(arith::CmpIPredicate::sle, end, extent);
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
  Value count = maskedCount(mask);
  if (count)
    count = arith::MinSIOp::create(
        builder, op->getLoc(), count,
        extentsOf(op, cast<VectorType>(mask.getType())).front());
  if (count)
    assertInside(op, base, indices, {count});
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

void verifyAccesses(ModuleOp module) {
  SmallVector<Operation *> accesses;
  module.walk([&](Operation *op) {
    if (isa<memref::LoadOp, memref::StoreOp, vector::LoadOp, vector::StoreOp,
            vector::MaskedLoadOp, vector::MaskedStoreOp>(op))
      accesses.push_back(op);
  });
  AccessVerifier verifier(module);
  for (Operation *op : accesses)
    verifier.verify(op);
}

} // namespace kernelbrain::compile
