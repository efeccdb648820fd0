//===- StockBuffers.cpp - Who frees the buffers of launches ---------------===//
//
// Upstream's deallocation decides at run time, by code of the host that reads
// and writes arrays of its own. Here every buffer is freed at the end of the
// block that allocates it.
//
//===----------------------------------------------------------------------===//

#include "StockLaunches.h"

#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace kernelbrain::strategy {

/// Lets the loop carry a buffer of its own in place of one that each iteration
/// allocates.
static void carryByCopy(scf::ForOp loop, unsigned index) {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  Value initial = loop.getInitArgs()[index];
  auto type = cast<MemRefType>(initial.getType());
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(memref::DimOp::create(builder, loc, initial, dim));
  Value own = memref::AllocOp::create(
      builder, loc, MemRefType::get(type.getShape(), type.getElementType()),
      sizes);
  memref::CopyOp::create(builder, loc, initial, own);
  if (own.getType() != type)
    own = memref::CastOp::create(builder, loc, type, own);
  loop.getInitArgsMutable()[index].set(own);
  Operation *yield = loop.getBody()->getTerminator();
  builder.setInsertionPoint(yield);
  Value carried = loop.getRegionIterArg(index);
  memref::CopyOp::create(builder, loc, yield->getOperand(index), carried);
  yield->setOperand(index, carried);
}

static LogicalResult carryByCopies(scf::ForOp loop) {
  Operation *yield = loop.getBody()->getTerminator();
  bool permutes = false;
  SmallVector<unsigned> fresh;
  for (auto [index, value] : llvm::enumerate(yield->getOperands())) {
    if (!isa<MemRefType>(value.getType()) ||
        value == loop.getRegionIterArg(index))
      continue;
    Operation *definition = value.getDefiningOp();
    if (definition && loop->isProperAncestor(definition))
      fresh.push_back(index);
    else
      permutes = true;
  }
  if (permutes)
    return loop.emitError("a loop that carries buffers in another order has "
                          "no lowering for GPUs");
  for (unsigned index : fresh)
    carryByCopy(loop, index);
  return success();
}

LogicalResult freeBuffers(func::FuncOp function) {
  WalkResult result = function.walk([](scf::ForOp loop) {
    return failed(carryByCopies(loop)) ? WalkResult::interrupt()
                                       : WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  BufferViewFlowAnalysis flow(function);
  SmallVector<memref::AllocOp> allocations;
  function.walk([&](memref::AllocOp alloc) { allocations.push_back(alloc); });
  for (memref::AllocOp alloc : allocations) {
    Operation *end = alloc->getBlock()->getTerminator();
    auto aliases = flow.resolve(alloc);
    if (llvm::any_of(end->getOperands(),
                     [&](Value operand) { return aliases.contains(operand); }))
      return alloc.emitError("a buffer that leaves its block has no lowering "
                             "for GPUs");
    OpBuilder builder(end);
    memref::DeallocOp::create(builder, alloc.getLoc(), alloc);
  }
  return success();
}

} // namespace kernelbrain::strategy
