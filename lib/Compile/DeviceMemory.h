//===- DeviceMemory.h - Memrefs around plain pointers -----------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_COMPILE_DEVICEMEMORY_H
#define KERNELBRAIN_LIB_COMPILE_DEVICEMEMORY_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace kernelbrain::compile {

/// A memref of `type`, whose layout is the identity, that starts at a pointer
/// of the LLVM dialect; its dynamic extents as values of type i64.
mlir::Value describeMemory(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value pointer, mlir::MemRefType type,
                           mlir::ValueRange dynamicSizes);

/// Bytes of a buffer of static shape.
int64_t bytesOf(mlir::MemRefType type);

/// Bytes of an element.
int64_t elementBytes(mlir::MemRefType type);

} // namespace kernelbrain::compile

#endif // KERNELBRAIN_LIB_COMPILE_DEVICEMEMORY_H
