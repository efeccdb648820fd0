//===- RowRange.h - How large the values of a row program are ---*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_STRATEGY_ROWRANGE_H
#define KERNELBRAIN_LIB_STRATEGY_ROWRANGE_H

#include "kernelbrain/Strategy/RowProgram.h"

namespace kernelbrain::strategy {

/// A value is 0, infinite, NaN, or of a magnitude in [2^low, 2^high].
struct Magnitude {
  int low = -1100, high = 1100;
};
using Magnitudes = NodeMap<Magnitude>;

/// True if the node is x - max(x).
bool isNonPositive(const Node *node);

/// Bounds of all live float nodes. `limits` narrows what follows from the
/// operands.
Magnitudes magnitudesOf(const RowProgram &program,
                        const Magnitudes &limits = {});

/// Normal numbers of a float type whose reciprocals are normal too.
Magnitude invertible(mlir::Type type);

/// What computing in f32 instead of f64 does to the range of values.
struct Narrowing {
  /// Row values that leave the range of f32 for some inputs, and the limits
  /// that they have to keep for the row to be right.
  Magnitudes limits;
  /// Differences of row values, which cancel for some inputs.
  std::vector<const Node *> differences;
  /// False if some matrix leaves the range and no limit would tell.
  bool isGuarded = true;
};
Narrowing analyzeNarrowing(const RowProgram &program);

} // namespace kernelbrain::strategy

#endif // KERNELBRAIN_LIB_STRATEGY_ROWRANGE_H
