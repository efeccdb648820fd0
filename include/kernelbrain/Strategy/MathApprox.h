//===- MathApprox.h - Polynomials for f32 functions -------------*- C++ -*-===//
//
// Each function writes straight-line code for a value of type f32 or a vector
// of it. NaN gives NaN. Errors are the largest ones against f64 over the whole
// range, measured by test/Strategy/math-accuracy.test, which fails above them.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_STRATEGY_MATHAPPROX_H
#define KERNELBRAIN_STRATEGY_MATHAPPROX_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace kernelbrain::strategy {

enum class ExpForm {
  /// AVX-512's vscalefps, for vectors of 8 or 16 (else Split is written).
  Scale,
  /// Two multiplications by powers of two; right down to the denormals.
  Split,
  /// One multiplication by a power of two; results below 2^-126 become 0. Only
  /// for arguments known to be no more than 0 (else Split is written).
  Flush
};

/// e^x; 0 at -inf, inf at inf. Degree 4: 43 ulp; 5: 3 ulp; 6 (and more): 2 ulp.
/// `nonPositive`: x is known to be no more than 0, or NaN.
mlir::Value emitExp(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x,
                    ExpForm form, int degree, bool nonPositive);

/// The natural logarithm, 2 ulp; -inf at 0, NaN below, inf at inf; denormals
/// are exact like the others.
mlir::Value emitLog(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value x);

/// Absolute error by degree: 12: 6e-7, 13: 3.5e-7, 14: 2.5e-7; exactly -1 and 1
/// beyond 3.85.
mlir::Value emitErf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x,
                    int degree);

/// The hyperbolic tangent, 3 ulp; keeps the sign of zero.
mlir::Value emitTanh(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value x, ExpForm form);

/// 1 / sqrt(x) with the rounding of a square root and a division: 1.5 ulp.
mlir::Value emitRsqrt(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value x);

} // namespace kernelbrain::strategy

#endif // KERNELBRAIN_STRATEGY_MATHAPPROX_H
