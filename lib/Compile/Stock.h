//===- PromoteFloats.h - Kernels in double precision ------------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_COMPILE_PROMOTEFLOATS_H
#define KERNELBRAIN_LIB_COMPILE_PROMOTEFLOATS_H

#include "kernelbrain/Dialect/KB/KB.h"

namespace kernelbrain::compile {

/// Turns every f16, bf16 and f32 in `kernel` into f64: types, constants (their
/// exact values), and the conversions between them, which vanish. Emits a
/// diagnostic and fails where an operation depends on the bits of a float.
mlir::LogicalResult promoteFloats(kb::KernelOp kernel);

} // namespace kernelbrain::compile

#endif // KERNELBRAIN_LIB_COMPILE_PROMOTEFLOATS_H
