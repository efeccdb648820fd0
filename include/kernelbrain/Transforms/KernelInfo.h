//===- KernelInfo.h - A kernel in the words of Core -------------*- C++ -*-===//

#ifndef KERNELBRAIN_TRANSFORMS_KERNELINFO_H
#define KERNELBRAIN_TRANSFORMS_KERNELINFO_H

#include "kernelbrain/Core/Kernel.h"
#include "kernelbrain/Dialect/KB/KB.h"

#include <optional>

namespace kernelbrain {

/// What a dynamic extent counts as where nothing says better.
constexpr int64_t defaultDynamicDim = 100;

/// The element type as Core knows it; none for types without a place in ABI
/// version 1.
std::optional<ElementType> coreElementType(mlir::Type type);

/// Describes `kernel`: arguments, distinct dynamic dimensions (two are one
/// where the body proves them equal), work, hash. An extent without a hint in
/// `arg_specs` is tuned at `dynamicDim`. All elements of the arguments must
/// have a type that Core knows.
Kernel describeKernel(kb::KernelOp kernel,
                      int64_t dynamicDim = defaultDynamicDim);

/// Writes the hints of a description of `kernel` into its `arg_specs`:
/// strategies choose by the extents that it is tuned at.
void addDimHints(kb::KernelOp kernel, const Kernel &described);

/// Nanoseconds that one call takes at least on one core that moves 8 GB/s and
/// does 60e9 operations a second: a roofline, for shares and ranking only.
double rooflineNs(const Kernel &kernel);

} // namespace kernelbrain

#endif // KERNELBRAIN_TRANSFORMS_KERNELINFO_H
