//===- DeviceMemory.cpp - Memrefs around plain pointers -------------------===//

#include "DeviceMemory.h"

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kernelbrain::compile {

Value describeMemory(OpBuilder &builder, Location loc, Value pointer,
                     MemRefType type, ValueRange dynamicSizes) {
  // The memory space goes with those of the others.
  MemRefType plain = MemRefType::Builder(type).setMemorySpace({});
  Type descriptorType = LLVMTypeConverter(type.getContext()).convertType(plain);
  Type i64 = builder.getI64Type();
  auto constant = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(builder, loc, i64,
                                    builder.getI64IntegerAttr(value));
  };
  Value descriptor = LLVM::PoisonOp::create(builder, loc, descriptorType);
  auto put = [&](Value value, ArrayRef<int64_t> position) {
    descriptor =
        LLVM::InsertValueOp::create(builder, loc, descriptor, value, position);
  };
  put(pointer, {0});
  put(pointer, {1});
  put(constant(0), {2});
  Value stride = constant(1);
  size_t dynamic = dynamicSizes.size();
  for (int64_t dim = type.getRank(); dim-- > 0;) {
    Value size = type.isDynamicDim(dim) ? dynamicSizes[--dynamic]
                                        : constant(type.getDimSize(dim));
    put(size, {3, dim});
    put(stride, {4, dim});
    stride = LLVM::MulOp::create(builder, loc, stride, size);
  }
  return UnrealizedConversionCastOp::create(builder, loc, type, descriptor)
      .getResult(0);
}

int64_t elementBytes(MemRefType type) {
  Type element = type.getElementType();
  if (element.isIndex())
    return 8;
  auto vector = dyn_cast<VectorType>(element);
  int64_t count = vector ? vector.getNumElements() : 1;
  return count * llvm::divideCeil(
                     getElementTypeOrSelf(element).getIntOrFloatBitWidth(), 8);
}

int64_t bytesOf(MemRefType type) {
  return type.getNumElements() * elementBytes(type);
}

} // namespace kernelbrain::compile
