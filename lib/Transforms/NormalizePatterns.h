//===- NormalizePatterns.h - Own patterns of kb-normalize -------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_TRANSFORMS_NORMALIZEPATTERNS_H
#define KERNELBRAIN_LIB_TRANSFORMS_NORMALIZEPATTERNS_H

#include "mlir/IR/PatternMatch.h"

namespace kernelbrain {

/// Scalars: constant and splat operands become constants of the body, a
/// constant that the body truncates is truncated here, powers with exponents
/// 2, 3 and 0.5 become products and square roots.
void populateScalarPatterns(mlir::RewritePatternSet &patterns);

/// Structure: named operations that are neither products, convolutions nor
/// pooling become generics; copies and broadcasts move into the indexing maps
/// of their users; what a product or convolution adds to becomes an epilogue.
void populateStructurePatterns(mlir::RewritePatternSet &patterns);

/// Softmax and packs, which are no loops by themselves, become operations that
/// are, and pads by negative amounts slices and other pads; those with the
/// marker `kb.skip` only if `takesSkipped`.
void populateDecomposePatterns(mlir::RewritePatternSet &patterns,
                               bool takesSkipped);

/// Gathers through constant index tensors that hold an affine function of
/// their position become ordinary operands.
void populateGatherPatterns(mlir::RewritePatternSet &patterns);

} // namespace kernelbrain

#endif // KERNELBRAIN_LIB_TRANSFORMS_NORMALIZEPATTERNS_H
