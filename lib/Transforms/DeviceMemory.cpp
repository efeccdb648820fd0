//===- DeviceMemory.cpp - Calls of the runtime for GPUs -------------------===//

#include "DeviceMemory.h"

#include "Splice.h"

#include "kernelbrain/Core/Artifact.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
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
  return viewAs(type,
                func::CallOp::create(b, allocateFunction(), ValueRange(size))
                    .getResult(0),
                dynamicSizes);
}

Value DeviceMemory::constant(memref::GetGlobalOp global) {
  auto call = func::CallOp::create(b, constantFunction(global), ValueRange());
  return viewAs(global.getType(), call.getResult(0), {});
}

/// The bytes of a descriptor as a buffer of `type`.
Value DeviceMemory::viewAs(MemRefType type, Value descriptor,
                           ValueRange dynamicSizes) {
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
  return getOrAdd(allocates, "kb_allocate", 1, descriptorType(),
                  [&](ValueRange values) {
                    Value size = toWord(values[0]);
                    Value slot = newSlot();
                    call("kbcuAllocate", {slot, size, noStream()});
                    return describe(slot, size);
                  });
}

func::FuncOp DeviceMemory::constantFunction(memref::GetGlobalOp global) {
  std::string name = "kb_constant_" + global.getName().str();
  return getOrAdd(constants[name], name, 0, descriptorType(), [&](ValueRange) {
    MemRefType type = global.getType();
    auto copies = [&] {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(module.getBody());
      auto copies = LLVM::GlobalOp::create(b, pointer(), /*isConstant=*/false,
                                           LLVM::Linkage::Internal,
                                           name + "_copies", Attribute());
      symbols.insert(copies);
      b.createBlock(&copies.getInitializerRegion());
      LLVM::ReturnOp::create(b, LLVM::ZeroOp::create(b, pointer()));
      return copies;
    }();
    Value host = memref::GetGlobalOp::create(b, type, global.getName());
    Value size = toWord(bytes(type, [](unsigned) { return Value(); }));
    Value slot = newSlot();
    call("kbcuConstant", {LLVM::AddressOfOp::create(b, copies),
                          toPointer(addressOf(host)), size, slot});
    return describe(slot, size);
  });
}

/// Memory for a pointer.
Value DeviceMemory::newSlot() {
  Value one = LLVM::ConstantOp::create(b, b.getI64Type(), 1);
  return LLVM::AllocaOp::create(b, pointer(), pointer(), one);
}

/// Of a memref of bytes, as it is lowered.
Type DeviceMemory::descriptorType() {
  Type word = b.getI64Type();
  auto words = LLVM::LLVMArrayType::get(word, 1);
  return LLVM::LLVMStructType::getLiteral(
      b.getContext(), {pointer(), pointer(), word, words, words});
}

/// The descriptor of `size` bytes at the address in `slot`.
Value DeviceMemory::describe(Value slot, Value size) {
  Type word = b.getI64Type();
  Value memory = LLVM::LoadOp::create(b, pointer(), slot);
  Value result = LLVM::UndefOp::create(b, descriptorType());
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
