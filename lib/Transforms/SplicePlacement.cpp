//===- SplicePlacement.cpp - Programs whose buffers lie on the device -----===//

#include "RegionEdges.h"
#include "Splice.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <functional>

using namespace mlir;
using namespace kernelbrain;

//===----------------------------------------------------------------------===//
// Which kernels can be placed
//===----------------------------------------------------------------------===//

/// The same elements in the same place, and dense if they were.
static bool isDenseView(Operation *op) {
  if (isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
          memref::CastOp, memref::ExpandShapeOp, memref::CollapseShapeOp>(op))
    return true;
  // Whole rows: all but the first extent are those of the source.
  auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
  if (!slice || !slice.hasUnitStride())
    return false;
  ArrayRef<int64_t> source = slice.getSourceType().getShape();
  ArrayRef<int64_t> sizes = slice.getStaticSizes();
  for (size_t dim = 1; dim < source.size(); ++dim)
    if (ShapedType::isDynamic(sizes[dim]) || sizes[dim] != source[dim])
      return false;
  return true;
}

/// Elements that each user has to itself: nobody has written them, or nobody
/// ever writes them, and the device has a copy.
static bool isOwn(Operation *op) {
  auto alloc = dyn_cast<bufferization::AllocTensorOp>(op);
  return alloc ? !alloc.getCopy() : isa<tensor::EmptyOp, arith::ConstantOp>(op);
}

/// Asks for extents, or ends a buffer's life or the function.
static bool touchesNothing(Operation *op) {
  return isa<tensor::DimOp, memref::DimOp, memref::DeallocOp, func::ReturnOp>(
      op);
}

namespace {

/// Follows the buffers of kernels through the program.
class HostTouches {
public:
  HostTouches(ModuleOp module, std::function<bool(kb::CallOp)> isOnDevice)
      : edges(module), isOnDevice(isOnDevice) {}

  /// The first operation of the host that reads or writes an operand or result
  /// of `call`; null if there is none.
  Operation *find(kb::CallOp call) {
    llvm::SmallPtrSet<void *, 16> seen;
    SmallVector<Value> reached(call->getOperands());
    llvm::append_range(reached, call->getResults());
    while (!reached.empty()) {
      Value value = reached.pop_back_val();
      if (!isa<ShapedType>(value.getType()) ||
          !seen.insert(value.getAsOpaquePointer()).second)
        continue;
      if (Operation *op = follow(value, reached))
        return op;
    }
    return nullptr;
  }

private:
  Operation *follow(Value value, SmallVectorImpl<Value> &reached) {
    if (ArrayRef<OpOperand *> sources = edges.operandsOf(value);
        !sources.empty()) {
      for (OpOperand *source : sources)
        reached.push_back(source->get());
    } else if (auto argument = dyn_cast<BlockArgument>(value)) {
      Operation *parent = argument.getOwner()->getParentOp();
      if (!isa<func::FuncOp>(parent))
        return parent;
    } else if (Operation *op = value.getDefiningOp(); isOwn(op)) {
      return nullptr;
    } else if (!isa<memref::AllocOp>(op)) {
      auto call = dyn_cast<kb::CallOp>(op);
      if (call && isOnDevice(call))
        reached.push_back(call.getTiedOpOperand(cast<OpResult>(value))->get());
      else if (isDenseView(op))
        reached.push_back(op->getOperand(0));
      else
        return op;
    }
    for (OpOperand &use : value.getUses()) {
      Operation *op = use.getOwner();
      auto call = dyn_cast<kb::CallOp>(op);
      if (call && isOnDevice(call)) {
        if (call.isDpsInit(&use) && call->getNumResults() != 0)
          reached.push_back(call.getTiedOpResult(&use));
      } else if (isDenseView(op) && use.getOperandNumber() == 0) {
        reached.push_back(op->getResult(0));
      } else if (ArrayRef<Value> inputs = edges.inputsOf(use);
                 !inputs.empty()) {
        llvm::append_range(reached, inputs);
      } else if (!touchesNothing(op)) {
        return op;
      }
    }
    return nullptr;
  }

  RegionEdges edges;
  std::function<bool(kb::CallOp)> isOnDevice;
};

} // namespace

/// Destinations that other operations have as well must not become one buffer
/// of host and device.
static void giveOwnOutputs(kb::CallOp call) {
  OpBuilder builder(call);
  for (OpOperand &output : call.getDpsInitsMutable())
    if (auto empty = output.get().getDefiningOp<tensor::EmptyOp>())
      output.set(bufferization::AllocTensorOp::create(
          builder, empty.getLoc(), empty.getType(), empty.getDynamicSizes()));
}

bool kernelbrain::refuseUnplaced(ModuleOp module) {
  llvm::DenseMap<Operation *, kb::VariantOp> placed;
  for (auto nested : module.getOps<ModuleOp>())
    for (auto variant : nested.getOps<kb::VariantOp>())
      if (variant.getSelected() && variant.getBinary())
        placed[SymbolTable::lookupSymbolIn(nested, variant.getKernelAttr())] =
            variant;
  SymbolTableCollection symbols;
  auto kernelOf = [&](kb::CallOp call) {
    return symbols.lookupNearestSymbolFrom(call, call.getCalleeAttr());
  };
  HostTouches touches(
      module, [&](kb::CallOp call) { return placed.contains(kernelOf(call)); });
  SmallVector<kb::CallOp> calls;
  module.walk([&](kb::CallOp call) { calls.push_back(call); });
  // A kernel that is refused runs on the host, where it may be in the way of
  // others.
  bool refused = false;
  for (bool changed = true; changed;) {
    changed = false;
    for (kb::CallOp call : calls) {
      Operation *kernel = kernelOf(call);
      kb::VariantOp variant = placed.lookup(kernel);
      Operation *toucher = variant ? touches.find(call) : nullptr;
      if (!toucher)
        continue;
      InFlightDiagnostic remark =
          emitRemark(kernel->getLoc(), "kernel '")
          << variant.getKernel() << "' is not placed on the device: '"
          << toucher->getName() << "' on the host touches its buffers";
      remark.attachNote(toucher->getLoc()) << "it is here";
      placed.erase(kernel);
      variant.erase();
      changed = refused = true;
    }
  }
  for (kb::CallOp call : calls)
    if (placed.contains(kernelOf(call)))
      giveOwnOutputs(call);
  return refused;
}
