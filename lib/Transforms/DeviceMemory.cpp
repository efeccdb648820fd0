//===- DeviceMemory.cpp - Calls of the runtime for GPUs -------------------===//

#include "DeviceMemory.h"

#include "Splice.h"

#include "kernelbrain/Core/Artifact.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kernelbrain;

Value CudaRuntime::call(OpBuilder &builder, StringRef name,
                        ValueRange operands) {
  Type status = builder.getI32Type();
  auto type =
      LLVM::LLVMFunctionType::get(status, llvm::to_vector(operands.getTypes()));
  needLibrary(symbols.getOp(), cudaRuntime);
  auto function =
      declareExternal(builder, builder.getUnknownLoc(), name, type, symbols);
  return LLVM::CallOp::create(builder, builder.getUnknownLoc(), function,
                              operands)
      .getResult();
}

Value DeviceMemory::allocate(MemRefType type, ValueRange dynamicSizes) {
  Value size = bytes(type, [&](unsigned dim) {
    return dynamicSizes[type.getDynamicDimIndex(dim)];
  });
  // A function that returned a memref would be taken to give memory that
  // memref.dealloc frees.
  Value descriptor =
      func::CallOp::create(b, allocateFunction(), ValueRange(size))
          .getResult(0);
  auto untyped = MemRefType::get({ShapedType::kDynamic}, b.getI8Type());
  Value memory =
      UnrealizedConversionCastOp::create(b, untyped, descriptor).getResult(0);
  return memref::ViewOp::create(
      b, type, memory, arith::ConstantIndexOp::create(b, 0), dynamicSizes);
}

void DeviceMemory::free(Value buffer) {
  func::CallOp::create(b, freeFunction(), ValueRange(addressOf(buffer)));
}

void DeviceMemory::copy(Value to, Value from) {
  Value size = bytes(cast<MemRefType>(from.getType()), [&](unsigned dim) {
    return memref::DimOp::create(b, from, dim);
  });
  func::CallOp::create(b, copyFunction(),
                       ValueRange{addressOf(to), addressOf(from), size});
}

void DeviceMemory::synchronize() {
  func::CallOp::create(b, synchronizeFunction(), ValueRange());
}

Value DeviceMemory::addressOf(Value buffer) {
  return memref::ExtractAlignedPointerAsIndexOp::create(b, buffer);
}

Value DeviceMemory::bytes(MemRefType type,
                          llvm::function_ref<Value(unsigned)> extent) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  Value size = constant(elementBytes(type.getElementType()));
  for (auto [dim, known] : llvm::enumerate(type.getShape()))
    size = b.createOrFold<arith::MulIOp>(
        size, ShapedType::isDynamic(known) ? extent(dim) : constant(known));
  return size;
}

/// An internal function with `body`, which gets its arguments and returns a
/// result, if it has one.
func::FuncOp
DeviceMemory::getOrAdd(func::FuncOp &function, StringRef name, unsigned inputs,
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

Value DeviceMemory::toWord(Value index) {
  return arith::IndexCastOp::create(b, b.getI64Type(), index);
}
Value DeviceMemory::toPointer(Value index) {
  return LLVM::IntToPtrOp::create(b, pointer(), toWord(index));
}
Type DeviceMemory::pointer() {
  return LLVM::LLVMPointerType::get(b.getContext());
}
Value DeviceMemory::noStream() { return LLVM::ZeroOp::create(b, pointer()); }

/// Calls the runtime; what fails ends the program as a kernel that fails
/// does.
void DeviceMemory::call(StringRef name, ArrayRef<Value> operands) {
  Value status = runtime.call(b, name, operands);
  Value zero = arith::ConstantIntOp::create(b, 0, 32);
  Value bad = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, status, zero);
  LLVM::LLVMFuncOp fail = getOrAddFail(module.getLoc(), symbols);
  LLVM::GlobalOp text = addText(name, symbols);
  auto branch = scf::IfOp::create(b, bad, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value address = LLVM::AddressOfOp::create(b, text);
  LLVM::CallOp::create(b, fail, ValueRange{address, status});
}

func::FuncOp DeviceMemory::allocateFunction() {
  Type word = b.getI64Type();
  auto words = LLVM::LLVMArrayType::get(word, 1);
  auto type = LLVM::LLVMStructType::getLiteral(
      b.getContext(), {pointer(), pointer(), word, words, words});
  return getOrAdd(allocates, "kb_allocate", 1, type, [&](ValueRange values) {
    Value size = toWord(values[0]);
    Value one = LLVM::ConstantOp::create(b, b.getI64Type(), 1);
    Value slot = LLVM::AllocaOp::create(b, pointer(), pointer(), one);
    call("kbcuAllocate", {slot, size, noStream()});
    Value memory = LLVM::LoadOp::create(b, pointer(), slot);
    return describe(memory, size, type);
  });
}

/// The descriptor of a memref of `size` bytes at `memory`, as it is lowered.
Value DeviceMemory::describe(Value memory, Value size, Type type) {
  Type word = b.getI64Type();
  Value result = LLVM::UndefOp::create(b, type);
  auto set = [&](Value value, ArrayRef<int64_t> position) {
    result = LLVM::InsertValueOp::create(b, result, value, position);
  };
  set(memory, 0);
  set(memory, 1);
  set(LLVM::ConstantOp::create(b, word, 0), 2);
  set(size, {3, 0});
  set(LLVM::ConstantOp::create(b, word, 1), {4, 0});
  return result;
}

func::FuncOp DeviceMemory::freeFunction() {
  return getOrAdd(frees, "kb_free", 1, {}, [&](ValueRange values) {
    call("kbcuFree", {toPointer(values[0]), noStream()});
    return Value();
  });
}

func::FuncOp DeviceMemory::copyFunction() {
  return getOrAdd(copies, "kb_copy", 3, {}, [&](ValueRange values) {
    call("kbcuCopy", {toPointer(values[0]), toPointer(values[1]),
                      toWord(values[2]), noStream()});
    return Value();
  });
}

func::FuncOp DeviceMemory::synchronizeFunction() {
  return getOrAdd(synchronizes, "kb_synchronize", 0, {}, [&](ValueRange) {
    call("kbcuSynchronize", {noStream()});
    return Value();
  });
}
