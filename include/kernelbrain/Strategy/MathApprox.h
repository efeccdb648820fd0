//===- MathApprox.h - Polynomials for f32 functions -------------*- C++ -*-===//
//
// Each function writes straight-line code for values of one type, f32 or a
// vector of it, side by side: chains of dependent instructions are long, and
// processors look ahead only so far. NaN gives NaN. Errors are the largest ones
// against f64 over the whole range, measured by
// test/Strategy/math-accuracy.test, which fails above them.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_STRATEGY_MATHAPPROX_H
#define KERNELBRAIN_STRATEGY_MATHAPPROX_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/ValueRange.h"

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

struct ExpOptions {
  ExpForm form = ExpForm::Split;
  int degree = 6;           ///< of the polynomial, 4 to 6
  bool nonPositive = false; ///< x is known to be no more than 0, or NaN
  /// With `nonPositive`: fewer instructions, and |x| / 10 ulp more error.
  bool base2 = false;
};

/// e^x; 0 at -inf, inf at inf. Degree 4: 43 ulp; 5: 3 ulp; 6: 1 ulp.
llvm::SmallVector<mlir::Value, 4> emitExp(mlir::OpBuilder &builder,
                                          mlir::Location loc,
                                          mlir::ValueRange x,
                                          ExpOptions options);

/// The natural logarithm, 1 ulp; -inf at 0, NaN below, inf at inf; denormals
/// are exact like the others.
llvm::SmallVector<mlir::Value, 4>
emitLog(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange x);

/// Stands for a degree of emitErf: two polynomials and an exponential, twice
/// the work, 2 ulp.
constexpr int erfInPieces = 20;

/// Absolute error by degree: 12: 6e-7, 13: 3.5e-7, 14: 2.5e-7 (52, 25 and 12
/// ulp for small arguments); exactly -1 and 1 beyond 3.85.
llvm::SmallVector<mlir::Value, 4> emitErf(mlir::OpBuilder &builder,
                                          mlir::Location loc,
                                          mlir::ValueRange x, int degree);

/// The hyperbolic tangent, 2 ulp; keeps the sign of zero.
llvm::SmallVector<mlir::Value, 4> emitTanh(mlir::OpBuilder &builder,
                                           mlir::Location loc,
                                           mlir::ValueRange x, ExpForm form);

/// 1 / sqrt(x) with the rounding of a square root and a division: 1.5 ulp.
llvm::SmallVector<mlir::Value, 4>
emitRsqrt(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange x);

} // namespace kernelbrain::strategy

#endif // KERNELBRAIN_STRATEGY_MATHAPPROX_H
