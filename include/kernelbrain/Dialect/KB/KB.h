//===- KB.h - The kb dialect ------------------------------------*- C++ -*-===//

#ifndef KERNELBRAIN_DIALECT_KB_KB_H
#define KERNELBRAIN_DIALECT_KB_KB_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "kernelbrain/Dialect/KB/KBDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "kernelbrain/Dialect/KB/KBAttributes.h.inc"

namespace mlir::gpu {
class BinaryOp;
} // namespace mlir::gpu

namespace kernelbrain::kb {
class YieldOp;
} // namespace kernelbrain::kb

#define GET_OP_CLASSES
#include "kernelbrain/Dialect/KB/KBOps.h.inc"

#endif // KERNELBRAIN_DIALECT_KB_KB_H
