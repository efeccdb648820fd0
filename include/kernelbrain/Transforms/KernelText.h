//===- KernelText.h - A kernel as a model sees it ---------------*- C++ -*-===//

#ifndef KERNELBRAIN_TRANSFORMS_KERNELTEXT_H
#define KERNELBRAIN_TRANSFORMS_KERNELTEXT_H

#include "kernelbrain/Dialect/KB/KB.h"

#include <string>

namespace kernelbrain {

/// The text of `kernel` for whoever rewrites it, and the form in which a
/// rewritten body is given back (Recipe::payload): `kb.kernel @kernel` with its
/// body, without locations, names of values, attributes that have no meaning to
/// the operation, or what callers promise, which no payload can change. Ends
/// with a newline. Kernels of equal bodies have equal texts.
std::string printKernelText(kb::KernelOp kernel);

} // namespace kernelbrain

#endif // KERNELBRAIN_TRANSFORMS_KERNELTEXT_H
