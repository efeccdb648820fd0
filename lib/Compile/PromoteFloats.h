//===- PromoteFloats.h - Code in double precision ---------------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_COMPILE_PROMOTEFLOATS_H
#define KERNELBRAIN_LIB_COMPILE_PROMOTEFLOATS_H

#include "mlir/IR/Operation.h"

namespace kernelbrain::compile {

/// Turns every f16, bf16 and f32 in `root` (a kernel or a module) into f64:
/// types, constants (their exact values), and the conversions between them,
/// which vanish. Emits a diagnostic and fails where an operation depends on the
/// bits of a float.
mlir::LogicalResult promoteFloats(mlir::Operation *root);

} // namespace kernelbrain::compile

#endif // KERNELBRAIN_LIB_COMPILE_PROMOTEFLOATS_H
