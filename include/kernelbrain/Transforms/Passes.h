//===- Passes.h - Pure passes on kernels ------------------------*- C++ -*-===//

#ifndef KERNELBRAIN_TRANSFORMS_PASSES_H
#define KERNELBRAIN_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

#include <memory>
#include <string>

namespace kernelbrain {

#define GEN_PASS_DECL
#include "kernelbrain/Transforms/Passes.h.inc"

/// registerTransformsPasses() registers every pass of Passes.td.
#define GEN_PASS_REGISTRATION
#include "kernelbrain/Transforms/Passes.h.inc"

} // namespace kernelbrain

#endif // KERNELBRAIN_TRANSFORMS_PASSES_H
