//===- KernelHash.h - Identity of a kernel ----------------------*- C++ -*-===//

#ifndef KERNELBRAIN_TRANSFORMS_KERNELHASH_H
#define KERNELBRAIN_TRANSFORMS_KERNELHASH_H

#include "kernelbrain/Dialect/KB/KB.h"

#include <string>

namespace kernelbrain {

/// Returns 32 hexadecimal digits that depend on what the kernel computes and
/// on what callers promise: its body, argument types, `arg_specs` and
/// `numerics`. Locations, names of values and of the kernel, its visibility,
/// `kind`, `share` and `budget` do not enter. Operations count in their order:
/// a body reordered without need is another one.
std::string kernelHash(kb::KernelOp kernel);

} // namespace kernelbrain

#endif // KERNELBRAIN_TRANSFORMS_KERNELHASH_H
