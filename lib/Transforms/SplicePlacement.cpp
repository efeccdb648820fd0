//===- SplicePlacement.cpp - Programs whose buffers lie on the device -----===//

#include "Splice.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

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

/// Elements that nobody has written: each user writes its own.
static bool isUnwritten(Operation *op) {
  auto alloc = dyn_cast<bufferization::AllocTensorOp>(op);
  return alloc ? !alloc.getCopy() : isa<tensor::EmptyOp>(op);
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
  explicit HostTouches(llvm::function_ref<bool(kb::CallOp)> isOnDevice)
      : isOnDevice(isOnDevice) {}

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
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      Operation *parent = argument.getOwner()->getParentOp();
      if (!isa<func::FuncOp>(parent))
        return parent;
    } else if (Operation *op = value.getDefiningOp(); isUnwritten(op)) {
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
      } else if (!touchesNothing(op)) {
        return op;
      }
    }
    return nullptr;
  }

  llvm::function_ref<bool(kb::CallOp)> isOnDevice;
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
      [&](kb::CallOp call) { return placed.contains(kernelOf(call)); });
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

//===----------------------------------------------------------------------===//
// The buffers
//===----------------------------------------------------------------------===//

namespace {

/// Moves the buffers that device kernels use to the device's memory.
class BufferMover {
public:
  BufferMover(ModuleOp module, ArrayRef<func::FuncOp> shims)
      : module(module), symbols(module), runtime(symbols),
        shims(shims.begin(), shims.end()), b(module.getLoc(), module) {}

  LogicalResult run() {
    collect();
    for (Value buffer : buffers)
      if (failed(checkUses(buffer)))
        return failure();
    for (Value buffer : llvm::to_vector(buffers))
      for (Operation *user : llvm::make_early_inc_range(buffer.getUsers()))
        moveUser(user, buffer);
    for (Value buffer : llvm::to_vector(buffers))
      if (auto alloc = buffer.getDefiningOp<memref::AllocOp>())
        moveAllocation(alloc);
    return success();
  }

private:
  bool isShimCall(Operation *op) {
    auto call = dyn_cast<func::CallOp>(op);
    return call && shims.contains(symbols.lookup(call.getCallee()));
  }

  static Value viewSource(Operation *op) {
    auto view = dyn_cast<ViewLikeOpInterface>(op);
    return view && op->getNumResults() > 0 &&
                   isa<BaseMemRefType>(op->getResult(0).getType())
               ? view.getViewSource()
               : Value();
  }

  /// Everything that shares memory with an operand of a shim, or is copied to
  /// or from it.
  void collect() {
    SmallVector<Value> reached;
    module.walk([&](func::CallOp call) {
      if (isShimCall(call))
        llvm::append_range(reached, call.getOperands());
    });
    while (!reached.empty()) {
      Value value = reached.pop_back_val();
      if (!isa<BaseMemRefType>(value.getType()) || !buffers.insert(value))
        continue;
      if (Operation *op = value.getDefiningOp())
        if (Value source = viewSource(op))
          reached.push_back(source);
      for (Operation *user : value.getUsers()) {
        if (viewSource(user) == value)
          reached.push_back(user->getResult(0));
        if (auto copy = dyn_cast<memref::CopyOp>(user)) {
          reached.push_back(copy.getSource());
          reached.push_back(copy.getTarget());
        }
      }
    }
  }

  LogicalResult checkUses(Value buffer) {
    if (auto global = buffer.getDefiningOp<memref::GetGlobalOp>())
      return global.emitOpError("is in the host's memory, where no device "
                                "kernel finds it");
    for (Operation *user : buffer.getUsers()) {
      if (auto copy = dyn_cast<memref::CopyOp>(user);
          copy && isDense(copy.getSource()) && isDense(copy.getTarget()))
        continue;
      if (viewSource(user) == buffer || isShimCall(user) ||
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

  void moveUser(Operation *user, Value buffer) {
    b.setInsertionPoint(user);
    if (isa<memref::DeallocOp>(user)) {
      func::CallOp::create(b, freeFunction(), ValueRange(addressOf(buffer)));
      user->erase();
    } else if (auto copy = dyn_cast<memref::CopyOp>(user)) {
      func::CallOp::create(b, copyFunction(),
                           ValueRange{addressOf(copy.getTarget()),
                                      addressOf(copy.getSource()),
                                      bytesOf(copy.getSource())});
      user->erase();
    }
  }

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }

  Value addressOf(Value buffer) {
    return memref::ExtractAlignedPointerAsIndexOp::create(b, buffer);
  }

  Value bytes(MemRefType type, llvm::function_ref<Value(unsigned)> extent) {
    Value size = constant(elementBytes(type.getElementType()));
    for (auto [dim, known] : llvm::enumerate(type.getShape()))
      size = b.createOrFold<arith::MulIOp>(
          size, ShapedType::isDynamic(known) ? extent(dim) : constant(known));
    return size;
  }

  Value bytesOf(Value buffer) {
    return bytes(cast<MemRefType>(buffer.getType()), [&](unsigned dim) {
      return memref::DimOp::create(b, buffer, dim);
    });
  }

  void moveAllocation(memref::AllocOp alloc) {
    b.setInsertionPoint(alloc);
    b.setLoc(alloc.getLoc());
    MemRefType type = alloc.getType();
    Value size = bytes(type, [&](unsigned dim) {
      return alloc.getDynamicSizes()[type.getDynamicDimIndex(dim)];
    });
    Value memory = func::CallOp::create(b, allocateFunction(), ValueRange(size))
                       .getResult(0);
    Value view = memref::ViewOp::create(b, type, memory, constant(0),
                                        alloc.getDynamicSizes());
    alloc.replaceAllUsesWith(view);
    alloc.erase();
  }

  //===--------------------------------------------------------------------===//
  // Functions of the program that call the runtime
  //===--------------------------------------------------------------------===//

  /// An internal function with `body`, which gets its arguments and returns a
  /// status and a result, if it has one.
  func::FuncOp getOrAdd(func::FuncOp &function, StringRef name, unsigned inputs,
                        TypeRange results,
                        llvm::function_ref<Value(ValueRange)> body) {
    if (function)
      return function;
    OpBuilder::InsertionGuard guard(b);
    Location location = b.getLoc();
    b.setLoc(module.getLoc());
    b.clearInsertionPoint();
    SmallVector<Type> types(inputs, b.getIndexType());
    function = func::FuncOp::create(b, name, b.getFunctionType(types, results));
    function.setPrivate();
    function->setAttr(
        "llvm.linkage",
        LLVM::LinkageAttr::get(b.getContext(), LLVM::Linkage::Internal));
    symbols.insert(function);
    b.setInsertionPointToStart(function.addEntryBlock());
    Value result = body(function.getArguments());
    func::ReturnOp::create(b, result ? ValueRange(result) : ValueRange());
    b.setLoc(location);
    return function;
  }

  Value toWord(Value index) {
    return arith::IndexCastOp::create(b, b.getI64Type(), index);
  }
  Value toPointer(Value index) {
    return LLVM::IntToPtrOp::create(b, pointer(), toWord(index));
  }
  Type pointer() { return LLVM::LLVMPointerType::get(b.getContext()); }
  Value noStream() { return LLVM::ZeroOp::create(b, pointer()); }

  /// Calls the runtime; what fails ends the program as a kernel that fails
  /// does.
  void call(StringRef name, ArrayRef<Value> operands) {
    Value status = runtime.call(b, name, operands);
    Value zero = arith::ConstantIntOp::create(b, 0, 32);
    Value bad =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne, status, zero);
    LLVM::LLVMFuncOp fail = getOrAddFail(module.getLoc(), symbols);
    LLVM::GlobalOp text = addText(name, symbols);
    auto branch = scf::IfOp::create(b, bad, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value address = LLVM::AddressOfOp::create(b, text);
    LLVM::CallOp::create(b, fail, ValueRange{address, status});
  }

  func::FuncOp allocateFunction() {
    auto type = MemRefType::get({ShapedType::kDynamic}, b.getI8Type());
    return getOrAdd(allocates, "kb_allocate", 1, type, [&](ValueRange values) {
      Value size = toWord(values[0]);
      Value one = LLVM::ConstantOp::create(b, b.getI64Type(), 1);
      Value slot = LLVM::AllocaOp::create(b, pointer(), pointer(), one);
      call("kbcuAllocate", {slot, size, noStream()});
      Value memory = LLVM::LoadOp::create(b, pointer(), slot);
      return describe(memory, size, type);
    });
  }

  /// A memref of `size` bytes at `memory`, as its descriptor is lowered.
  Value describe(Value memory, Value size, MemRefType type) {
    Type word = b.getI64Type();
    auto words = LLVM::LLVMArrayType::get(word, 1);
    auto descriptor = LLVM::LLVMStructType::getLiteral(
        b.getContext(), {pointer(), pointer(), word, words, words});
    Value result = LLVM::UndefOp::create(b, descriptor);
    auto set = [&](Value value, ArrayRef<int64_t> position) {
      result = LLVM::InsertValueOp::create(b, result, value, position);
    };
    set(memory, 0);
    set(memory, 1);
    set(LLVM::ConstantOp::create(b, word, 0), 2);
    set(size, {3, 0});
    set(LLVM::ConstantOp::create(b, word, 1), {4, 0});
    return UnrealizedConversionCastOp::create(b, type, result).getResult(0);
  }

  func::FuncOp freeFunction() {
    return getOrAdd(frees, "kb_free", 1, {}, [&](ValueRange values) {
      call("kbcuFree", {toPointer(values[0]), noStream()});
      return Value();
    });
  }

  func::FuncOp copyFunction() {
    return getOrAdd(copies, "kb_copy", 3, {}, [&](ValueRange values) {
      call("kbcuCopy", {toPointer(values[0]), toPointer(values[1]),
                        toWord(values[2]), noStream()});
      return Value();
    });
  }

  ModuleOp module;
  SymbolTable symbols;
  CudaRuntime runtime;
  llvm::DenseSet<Operation *> shims;
  ImplicitLocOpBuilder b;
  llvm::SetVector<Value> buffers;
  func::FuncOp allocates, frees, copies;
};

} // namespace

LogicalResult kernelbrain::moveBuffersToDevice(ModuleOp module,
                                               ArrayRef<func::FuncOp> shims) {
  return BufferMover(module, shims).run();
}
