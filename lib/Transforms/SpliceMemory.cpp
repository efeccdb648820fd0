//===- SpliceMemory.cpp - Buffers of placed kernels -----------------------===//

#include "DeviceMemory.h"
#include "RegionEdges.h"
#include "Splice.h"

#include "kernelbrain/Transforms/Pipelines.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace kernelbrain;

namespace {

//===----------------------------------------------------------------------===//
// Buffers of placed kernels
//===----------------------------------------------------------------------===//

/// Moves the buffers that device kernels use to the device's memory.
class BufferMover {
public:
  BufferMover(ModuleOp module, ArrayRef<func::FuncOp> shims)
      : module(module), shims(shims.begin(), shims.end()),
        b(module.getLoc(), module), memory(b, module) {}

  LogicalResult run() {
    RegionEdges edges(module);
    collect(edges);
    for (Value buffer : buffers)
      if (failed(checkUses(buffer, edges)))
        return failure();
    for (auto function : module.getOps<func::FuncOp>())
      markBorders(function);
    for (Value buffer : buffers)
      for (Operation *user : llvm::make_early_inc_range(buffer.getUsers()))
        moveUser(user, buffer);
    for (Value buffer : buffers)
      if (auto alloc = buffer.getDefiningOp<memref::AllocOp>())
        moveAllocation(alloc);
    return success();
  }

private:
  bool isShimCall(Operation *op) {
    auto call = dyn_cast<func::CallOp>(op);
    return call && shims.contains(memory.getSymbols().lookup(call.getCallee()));
  }

  static Value viewSource(Operation *op) {
    auto view = dyn_cast<ViewLikeOpInterface>(op);
    return view && op->getNumResults() > 0 &&
                   isa<BaseMemRefType>(op->getResult(0).getType())
               ? view.getViewSource()
               : Value();
  }

  /// The views between a constant and `buffer`, the last one first, and the
  /// constant behind them; empty if it is none.
  static SmallVector<Operation *> viewsOfConstant(Value buffer) {
    SmallVector<Operation *> views;
    while (Operation *op = buffer.getDefiningOp()) {
      views.push_back(op);
      if (isa<memref::GetGlobalOp>(op))
        return views;
      buffer = viewSource(op);
      if (!buffer)
        break;
    }
    return {};
  }

  /// What `operand` is, once it is of the device: a constant becomes a copy in
  /// its memory for this operand alone, others keep what the host has.
  Value place(OpOperand &operand) {
    SmallVector<Operation *> views = viewsOfConstant(operand.get());
    if (views.empty())
      return operand.get();
    b.setInsertionPoint(operand.getOwner());
    b.setLoc(operand.getOwner()->getLoc());
    auto global = cast<memref::GetGlobalOp>(views.pop_back_val());
    IRMapping copies;
    copies.map(global.getResult(), memory.constant(global));
    for (Operation *view : llvm::reverse(views))
      b.clone(*view, copies);
    operand.set(copies.lookup(operand.get()));
    return operand.get();
  }

  /// Everything that shares memory with an operand of a shim, or is copied to
  /// or from it.
  void collect(const RegionEdges &edges) {
    SmallVector<func::CallOp> calls;
    module.walk([&](func::CallOp call) {
      if (isShimCall(call))
        calls.push_back(call);
    });
    SmallVector<Value> reached;
    for (func::CallOp call : calls)
      for (OpOperand &operand : call->getOpOperands())
        reached.push_back(place(operand));
    while (!reached.empty()) {
      Value value = reached.pop_back_val();
      if (!isa<BaseMemRefType>(value.getType()) || !buffers.insert(value))
        continue;
      if (Operation *op = value.getDefiningOp())
        if (Value source = viewSource(op))
          reached.push_back(source);
      for (OpOperand *source : edges.operandsOf(value))
        reached.push_back(place(*source));
      for (OpOperand &use : value.getUses()) {
        Operation *user = use.getOwner();
        llvm::append_range(reached, edges.inputsOf(use));
        if (viewSource(user) == value)
          reached.push_back(user->getResult(0));
        if (auto copy = dyn_cast<memref::CopyOp>(user)) {
          if (viewsOfConstant(copy.getSource()).empty())
            reached.push_back(copy.getSource());
          reached.push_back(copy.getTarget());
        }
      }
    }
  }

  LogicalResult checkUses(Value buffer, const RegionEdges &edges) {
    for (OpOperand &use : buffer.getUses()) {
      Operation *user = use.getOwner();
      if (auto copy = dyn_cast<memref::CopyOp>(user);
          copy && isDense(copy.getSource()) && isDense(copy.getTarget()))
        continue;
      if (viewSource(user) == buffer || isShimCall(user) ||
          !edges.inputsOf(use).empty() ||
          isa<memref::DimOp, memref::DeallocOp, func::ReturnOp,
              memref::ExtractAlignedPointerAsIndexOp,
              memref::ExtractStridedMetadataOp>(user))
        continue;
      return user->emitOpError(
          "on the host touches a buffer in the device's memory");
    }
    return success();
  }

  static bool isDense(Value buffer) {
    auto type = dyn_cast<MemRefType>(buffer.getType());
    return type && type.getLayout().isIdentity();
  }

  /// Says at `function` that it is done with memory, and which arguments and
  /// results are the device's.
  void markBorders(func::FuncOp function) {
    if (function.isExternal() || shims.contains(function))
      return;
    if (function
            .walk([&](func::CallOp call) {
              return isShimCall(call) ? WalkResult::interrupt()
                                      : WalkResult::advance();
            })
            .wasInterrupted())
      function->setAttr(getFreedName(), b.getUnitAttr());
    auto mark = [&](StringRef name, ValueRange values) {
      SmallVector<int64_t> positions;
      for (auto [position, value] : llvm::enumerate(values))
        if (buffers.contains(value))
          positions.push_back(position);
      if (!positions.empty())
        function->setAttr(name, b.getDenseI64ArrayAttr(positions));
    };
    mark(getDeviceArgumentsName(), function.getArguments());
    mark(getDeviceResultsName(),
         function.getBody().back().getTerminator()->getOperands());
  }

  void moveUser(Operation *user, Value buffer) {
    b.setInsertionPoint(user);
    b.setLoc(user->getLoc());
    if (isa<memref::DeallocOp>(user)) {
      memory.free(buffer);
      user->erase();
    } else if (auto copy = dyn_cast<memref::CopyOp>(user)) {
      memory.copy(copy.getTarget(), copy.getSource());
      user->erase();
    }
  }

  void moveAllocation(memref::AllocOp alloc) {
    b.setInsertionPoint(alloc);
    b.setLoc(alloc.getLoc());
    alloc.replaceAllUsesWith(
        memory.allocate(alloc.getType(), alloc.getDynamicSizes()));
    alloc.erase();
  }

  ModuleOp module;
  llvm::DenseSet<Operation *> shims;
  ImplicitLocOpBuilder b;
  DeviceMemory memory;
  llvm::SetVector<Value> buffers;
};

//===----------------------------------------------------------------------===//
// Entries for buffers of the host
//===----------------------------------------------------------------------===//

/// Writes, in the place of a function on buffers of the device, one that
/// copies.
class HostEntry {
public:
  HostEntry(func::FuncOp inner, ImplicitLocOpBuilder &b, DeviceMemory &memory)
      : inner(inner), b(b), memory(memory) {}

  void build() {
    StringAttr name = inner.getSymNameAttr();
    SymbolTable &symbols = memory.getSymbols();
    auto positions = [&](StringRef attribute) {
      auto found = inner->getAttrOfType<DenseI64ArrayAttr>(attribute);
      inner->removeAttr(attribute);
      return found ? llvm::to_vector(found.asArrayRef())
                   : SmallVector<int64_t>();
    };
    SmallVector<int64_t> arguments = positions(getDeviceArgumentsName());
    SmallVector<int64_t> results = positions(getDeviceResultsName());
    OpBuilder::InsertionGuard guard(b);
    b.clearInsertionPoint();
    auto entry =
        func::FuncOp::create(b, name.getValue(), inner.getFunctionType());
    entry->setDiscardableAttrs(inner->getDiscardableAttrDictionary());
    symbols.remove(inner);
    inner->remove();
    symbols.insert(entry);
    inner.setPrivate();
    inner.setSymName((name.getValue() + "_device").str());
    inner->setAttr(
        "llvm.linkage",
        LLVM::LinkageAttr::get(b.getContext(), LLVM::Linkage::Internal));
    symbols.insert(inner);
    b.setInsertionPointToStart(entry.addEntryBlock());
    func::ReturnOp::create(b, callOnCopies(entry, arguments, results));
  }

private:
  SmallVector<Value> sizesOf(Value buffer) {
    SmallVector<Value> sizes;
    auto type = cast<MemRefType>(buffer.getType());
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (type.isDynamicDim(dim))
        sizes.push_back(memref::DimOp::create(b, buffer, dim));
    return sizes;
  }

  SmallVector<Value> callOnCopies(func::FuncOp entry,
                                  ArrayRef<int64_t> arguments,
                                  ArrayRef<int64_t> results) {
    SmallVector<Value> operands(entry.getArguments());
    for (int64_t position : arguments) {
      Value host = operands[position];
      operands[position] =
          memory.allocate(cast<MemRefType>(host.getType()), sizesOf(host));
      memory.copy(operands[position], host);
    }
    auto values = llvm::to_vector_of<Value>(
        func::CallOp::create(b, inner, operands).getResults());
    // What the function wrote in place.
    for (int64_t position : arguments)
      memory.copy(entry.getArgument(position), operands[position]);
    SmallVector<Value> owned;
    for (int64_t position : results) {
      Value device = owned.emplace_back(values[position]);
      auto type = cast<MemRefType>(device.getType());
      values[position] = memref::AllocOp::create(b, type, sizesOf(device));
      memory.copy(values[position], device);
    }
    memory.synchronize();
    SmallVector<Value> freed;
    for (int64_t position : arguments)
      freeOnce(operands[position], freed);
    for (Value device : owned)
      freeOnce(device, freed);
    return values;
  }

  /// A result may be the buffer of an argument or of another result.
  void freeOnce(Value buffer, SmallVectorImpl<Value> &freed) {
    Value address = memory.addressOf(buffer);
    Value isNew = arith::ConstantIntOp::create(b, 1, 1);
    for (Value other : freed)
      isNew = arith::AndIOp::create(
          b, isNew,
          arith::CmpIOp::create(b, arith::CmpIPredicate::ne, address, other));
    freed.push_back(address);
    auto branch = scf::IfOp::create(b, isNew, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    memory.free(buffer);
  }

  func::FuncOp inner;
  ImplicitLocOpBuilder &b;
  DeviceMemory &memory;
};

} // namespace

LogicalResult kernelbrain::moveBuffersToDevice(ModuleOp module,
                                               ArrayRef<func::FuncOp> shims) {
  return BufferMover(module, shims).run();
}

void kernelbrain::addHostEntries(ModuleOp module) {
  ImplicitLocOpBuilder b(module.getLoc(), module);
  DeviceMemory memory(b, module);
  for (auto function : llvm::to_vector(module.getOps<func::FuncOp>()))
    if (function.isPublic() && (function->hasAttr(getDeviceArgumentsName()) ||
                                function->hasAttr(getDeviceResultsName())))
      HostEntry(function, b, memory).build();
}
