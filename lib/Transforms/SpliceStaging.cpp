//===- SpliceStaging.cpp - Device kernels on buffers of the host ----------===//

#include "DeviceMemory.h"
#include "Splice.h"

#include "kernelbrain/Core/Artifact.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace kernelbrain;

namespace {

/// Writes a function of ABI version 1 that takes pointers of the host, and
/// calls the implementation on copies in one piece of the device's memory.
class StagingBuilder {
public:
  StagingBuilder(SplicedKernel &spliced, SymbolTable &symbols)
      : spliced(spliced), symbols(symbols), runtime(symbols),
        b(spliced.kernel.getLoc(), spliced.kernel.getContext()) {}

  LLVM::LLVMFuncOp build() {
    LLVM::LLVMFuncOp implementation = spliced.implementation;
    function = LLVM::LLVMFuncOp::create(
        b, b.getLoc(), (spliced.kernel.getSymName() + "_staged").str(),
        implementation.getFunctionType(), LLVM::Linkage::Internal);
    SymbolTable::setSymbolVisibility(function,
                                     SymbolTable::Visibility::Private);
    symbols.insert(function);
    b.setInsertionPointToStart(function.addEntryBlock(b));
    stream = function.getArguments().back();
    release = b.createBlock(&function.getBody(), function.getBody().end(),
                            b.getI32Type(), b.getLoc());
    end = b.createBlock(&function.getBody(), function.getBody().end(),
                        b.getI32Type(), b.getLoc());
    b.setInsertionPointToStart(&function.front());
    layOut();
    allocate();
    copyAndCall();
    finish();
    return function;
  }

private:
  Value constant(int64_t value) {
    return LLVM::ConstantOp::create(b, b.getI64Type(), value);
  }

  /// Gives each argument, and the workspace, its place.
  void layOut() {
    kb::KernelOp kernel = spliced.kernel;
    auto shapes = kernel.getShapes();
    Value next = constant(0);
    for (auto [argument, shape] :
         llvm::zip(kernel.getBody().getArguments(), shapes)) {
      Type element =
          cast<RankedTensorType>(argument.getType()).getElementType();
      int64_t known = elementBytes(element);
      Value size;
      for (int64_t extent : shape) {
        if (extent >= 0) {
          known *= extent;
          continue;
        }
        Value dim = function.getArgument(shapes.size() - extent - 1);
        size = size ? LLVM::MulOp::create(b, size, dim).getResult() : dim;
      }
      size = size ? LLVM::MulOp::create(b, size, constant(known)).getResult()
                  : constant(known);
      bytes.push_back(size);
      offsets.push_back(next);
      next = LLVM::AddOp::create(b, next, roundUp(size));
    }
    offsets.push_back(next);
    total = LLVM::AddOp::create(b, next,
                                constant(spliced.variant.getWorkspaceBytes()));
  }

  /// What the driver's allocator aligns to.
  Value roundUp(Value size) {
    constexpr int64_t alignment = 256;
    Value more = LLVM::AddOp::create(b, size, constant(alignment - 1));
    return LLVM::AndOp::create(b, more, constant(-alignment));
  }

  /// Goes on if `status` is 0, else to `otherwise`.
  void require(Value status, Block *otherwise) {
    Value zero = LLVM::ConstantOp::create(b, b.getI32Type(), 0);
    Value good = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, status, zero);
    Block *next = b.createBlock(release);
    b.setInsertionPointToEnd(next->getPrevNode());
    LLVM::CondBrOp::create(b, good, next, ValueRange(), otherwise,
                           ValueRange(status));
    b.setInsertionPointToStart(next);
  }

  void allocate() {
    Type pointer = LLVM::LLVMPointerType::get(b.getContext());
    Value one = LLVM::ConstantOp::create(b, b.getI64Type(), 1);
    Value slot = LLVM::AllocaOp::create(b, pointer, pointer, one);
    require(runtime.call(b, "kbcuAllocate", {slot, total, stream}), end);
    base = LLVM::LoadOp::create(b, pointer, slot);
    for (Value offset : offsets)
      onDevice.push_back(LLVM::GEPOp::create(b, pointer, b.getI8Type(), base,
                                             ArrayRef<LLVM::GEPArg>(offset)));
  }

  void copy(size_t argument, bool toDevice) {
    Value host = function.getArgument(argument), device = onDevice[argument];
    require(runtime.call(b, "kbcuCopy",
                         {toDevice ? device : host, toDevice ? host : device,
                          bytes[argument], stream}),
            release);
  }

  void copyAndCall() {
    size_t numInputs = spliced.kernel.getInputs().size();
    for (size_t index = 0; index < bytes.size(); ++index)
      if (index < numInputs || spliced.readOutputs[index - numInputs])
        copy(index, /*toDevice=*/true);
    SmallVector<Value> operands(onDevice.begin(), onDevice.end() - 1);
    for (size_t dim = bytes.size(); dim + 2 < function.getNumArguments(); ++dim)
      operands.push_back(function.getArgument(dim));
    operands.push_back(onDevice.back());
    operands.push_back(stream);
    require(
        LLVM::CallOp::create(b, spliced.implementation, operands).getResult(),
        release);
    for (size_t index = numInputs; index < bytes.size(); ++index)
      copy(index, /*toDevice=*/false);
  }

  /// Waits before memory is given back, whatever happened: copies may still
  /// read buffers of the host.
  void finish() {
    Value zero = LLVM::ConstantOp::create(b, b.getI32Type(), 0);
    LLVM::BrOp::create(b, ValueRange(zero), release);
    b.setInsertionPointToStart(release);
    Value before = release->getArgument(0);
    Value waited = runtime.call(b, "kbcuSynchronize", {stream});
    runtime.call(b, "kbcuFree", {base, stream});
    Value none = LLVM::ConstantOp::create(b, b.getI32Type(), 0);
    Value isGood =
        LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, before, none);
    Value status = LLVM::SelectOp::create(b, isGood, waited, before);
    LLVM::BrOp::create(b, ValueRange(status), end);
    b.setInsertionPointToStart(end);
    LLVM::ReturnOp::create(b, end->getArgument(0));
  }

  SplicedKernel &spliced;
  SymbolTable &symbols;
  CudaRuntime runtime;
  ImplicitLocOpBuilder b;
  LLVM::LLVMFuncOp function;
  Value stream, total, base;
  SmallVector<Value> bytes, offsets; ///< of arguments; then of the workspace
  SmallVector<Value> onDevice;
  Block *release = nullptr, *end = nullptr; ///< each takes the status
};

} // namespace

LLVM::LLVMFuncOp kernelbrain::addStaging(SplicedKernel &spliced,
                                         SymbolTable &symbols) {
  return StagingBuilder(spliced, symbols).build();
}
