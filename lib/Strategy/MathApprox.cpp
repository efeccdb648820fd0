//===- MathApprox.cpp - Polynomials for f32 functions ---------------------===//

#include "kernelbrain/Strategy/MathApprox.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace kernelbrain::strategy;

namespace {
/// Shorthands on packs: values of one type, written side by side. A pack of one
/// value stands for as many equal ones as its partners have.
class Calculator {
public:
  using Pack = SmallVector<Value, 4>;

  Calculator(OpBuilder &builder, Location loc, ValueRange model)
      : builder(builder), loc(loc), type(model.front().getType()) {
    Type i32 = builder.getI32Type();
    auto vector = dyn_cast<VectorType>(type);
    integer = vector ? vector.clone(i32) : i32;
  }

  Pack constant(double value) {
    return make(type, builder.getF32FloatAttr(static_cast<float>(value)));
  }
  Pack integerConstant(int32_t value) {
    return make(integer, builder.getI32IntegerAttr(value));
  }
  Pack add(const Pack &a, const Pack &b) { return op<arith::AddFOp>(a, b); }
  Pack sub(const Pack &a, const Pack &b) { return op<arith::SubFOp>(a, b); }
  Pack mul(const Pack &a, const Pack &b) { return op<arith::MulFOp>(a, b); }
  Pack div(const Pack &a, const Pack &b) { return op<arith::DivFOp>(a, b); }
  Pack fma(const Pack &a, const Pack &b, const Pack &c) {
    return op<math::FmaOp>(a, b, c);
  }
  Pack addI(const Pack &a, const Pack &b) { return op<arith::AddIOp>(a, b); }
  Pack subI(const Pack &a, const Pack &b) { return op<arith::SubIOp>(a, b); }
  Pack shiftLeft(const Pack &a, int by) {
    return op<arith::ShLIOp>(a, integerConstant(by));
  }
  Pack shiftRight(const Pack &a, int by) {
    return op<arith::ShRSIOp>(a, integerConstant(by));
  }
  Pack bits(const Pack &x) { return cast<arith::BitcastOp>(integer, x); }
  Pack fromBits(const Pack &x) { return cast<arith::BitcastOp>(type, x); }
  Pack toFloat(const Pack &x) { return cast<arith::SIToFPOp>(type, x); }
  Pack compare(arith::CmpFPredicate predicate, const Pack &a, const Pack &b) {
    Pack result;
    for (size_t index = 0; index < std::max(a.size(), b.size()); ++index)
      result.push_back(arith::CmpFOp::create(builder, loc, predicate,
                                             at(a, index), at(b, index)));
    return result;
  }
  Pack select(const Pack &condition, const Pack &a, const Pack &b) {
    return op<arith::SelectOp>(condition, a, b);
  }
  /// x, but no less than `low`. The order of operands keeps a NaN.
  Pack clampLow(const Pack &x, double low) {
    Pack bound = constant(low);
    return select(compare(arith::CmpFPredicate::OLT, x, bound), bound, x);
  }
  Pack clampHigh(const Pack &x, double high) {
    Pack bound = constant(high);
    return select(compare(arith::CmpFPredicate::OGT, x, bound), bound, x);
  }
  Pack polynomial(const Pack &x, ArrayRef<float> coefficients) {
    Pack sum = constant(coefficients.back());
    for (float coefficient : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, constant(coefficient));
    return sum;
  }
  template <typename Op, typename... Packs> Pack op(const Packs &...operands) {
    Pack result;
    for (size_t index = 0; index < std::max({operands.size()...}); ++index)
      result.push_back(Op::create(builder, loc, at(operands, index)...));
    return result;
  }
  int64_t lanes() const {
    auto vector = dyn_cast<VectorType>(type);
    return vector ? vector.getNumElements() : 1;
  }
  /// p * 2^n by one instruction; n may be any float, infinite ones included.
  Pack scale(const Pack &p, const Pack &n) {
    bool isWide = lanes() == 16;
    Value all = arith::ConstantOp::create(
        builder, loc,
        builder.getIntegerAttr(builder.getIntegerType(lanes()), -1));
    auto name =
        builder.getStringAttr(isWide ? "llvm.x86.avx512.mask.scalef.ps.512"
                                     : "llvm.x86.avx512.mask.scalef.ps.256");
    Pack result;
    for (size_t index = 0; index < p.size(); ++index) {
      SmallVector<Value> operands{p[index], n[index], p[index], all};
      if (isWide) // rounding: current direction
        operands.push_back(arith::ConstantOp::create(
            builder, loc, builder.getI32IntegerAttr(4)));
      result.push_back(
          LLVM::CallIntrinsicOp::create(builder, loc, type, name, operands)
              .getResult(0));
    }
    return result;
  }

private:
  static Value at(const Pack &pack, size_t index) {
    return pack.size() == 1 ? pack[0] : pack[index];
  }
  template <typename Op> Pack cast(Type to, const Pack &x) {
    Pack result;
    for (Value value : x)
      result.push_back(Op::create(builder, loc, to, value));
    return result;
  }
  Pack make(Type of, TypedAttr scalar) {
    TypedAttr value = scalar;
    if (auto vector = dyn_cast<VectorType>(of))
      value = DenseElementsAttr::get(vector, Attribute(scalar));
    return {arith::ConstantOp::create(builder, loc, value)};
  }

  OpBuilder &builder;
  Location loc;
  Type type, integer;
};
using Pack = Calculator::Pack;
} // namespace

// Minimax on [-ln2/2, ln2/2] in relative error, rounded from the lowest
// coefficient up with a refit of the others.
static ArrayRef<float> expCoefficients(int degree) {
  static const float four[] = {1.0f, 0.9999666810035706f, 0.5000301003456116f,
                               0.16787737607955933f, 0.041515033692121506f};
  static const float five[] = {1.0f,
                               1.0f,
                               0.4999922811985016f,
                               0.16667114198207855f,
                               0.041890621185302734f,
                               0.00831267237663269f};
  static const float six[] = {1.0f,
                              1.0f,
                              0.4999999403953552f,
                              0.1666652113199234f,
                              0.04166827350854874f,
                              0.008368683978915215f,
                              0.0013820079620927572f};
  return degree <= 4 ? ArrayRef(four) : degree == 5 ? ArrayRef(five) : six;
}

static constexpr double log2e = 1.44269504088896341;
// ln 2 in two parts; the first has few bits, so that its products are exact.
static constexpr double ln2High = 0.693359375, ln2Low = -2.12194440e-4;
// Adding it rounds to an integer, which then stands in the low bits.
static constexpr double roundingShift = 12582912.0;

/// x log2(e) = n + r / ln 2 with n an integer: n as a number, and with the
/// rounding shift added.
struct ExpArgument {
  Pack n, shifted, r;
};

/// Exact to the last place: r is found with ln 2 in two parts.
static ExpArgument splitArgument(Calculator &c, Pack x,
                                 const ExpOptions &options) {
  // Beyond the bounds the result is 0 or infinite; without them the remainder
  // of a large argument is no remainder.
  x = c.clampLow(x, options.form == ExpForm::Flush ? -87.33 : -104.0);
  if (!options.nonPositive)
    x = c.clampHigh(x, 89.0);
  ExpArgument result;
  result.shifted = c.fma(x, c.constant(log2e), c.constant(roundingShift));
  result.n = c.sub(result.shifted, c.constant(roundingShift));
  result.r = c.fma(result.n, c.constant(-ln2High), x);
  result.r = c.fma(result.n, c.constant(-ln2Low), result.r);
  return result;
}

/// In base 2, where the rounding of the product with log2(e) stays; r is in
/// units of ln 2. Without a bound where the scaling can do without: large
/// numbers are integers, and what an infinite one leaves is a NaN that scaling
/// by an infinite power makes 0 or infinite.
static ExpArgument splitBase2(Calculator &c, const Pack &x, ExpForm form) {
  ExpArgument result;
  Pack t = c.mul(x, c.constant(log2e));
  if (form == ExpForm::Scale) {
    result.n = c.op<math::RoundEvenOp>(t);
  } else {
    t = c.clampLow(t, form == ExpForm::Flush ? -126.0 : -151.0);
    result.shifted = c.add(t, c.constant(roundingShift));
    result.n = c.sub(result.shifted, c.constant(roundingShift));
  }
  result.r = c.sub(t, result.n);
  return result;
}

SmallVector<Value, 4> kernelbrain::strategy::emitExp(OpBuilder &builder,
                                                     Location loc,
                                                     ValueRange xs,
                                                     ExpOptions options) {
  Calculator c(builder, loc, xs);
  Pack x(xs);
  if ((options.form == ExpForm::Scale && c.lanes() != 8 && c.lanes() != 16) ||
      (options.form == ExpForm::Flush && !options.nonPositive))
    options.form = ExpForm::Split;
  bool base2 = options.base2 && options.nonPositive;
  ExpArgument argument =
      base2 ? splitBase2(c, x, options.form) : splitArgument(c, x, options);
  SmallVector<float> coefficients(expCoefficients(options.degree));
  double power = 1;
  for (float &coefficient : coefficients) {
    coefficient *= power;
    power *= base2 ? 0.69314718055994531 : 1;
  }
  Pack p = c.polynomial(argument.r, coefficients);
  if (options.form == ExpForm::Scale)
    return c.scale(p, argument.n);
  auto powerOfTwo = [&](const Pack &exponent) {
    return c.fromBits(
        c.shiftLeft(c.addI(exponent, c.integerConstant(127)), 23));
  };
  Pack bits = c.bits(argument.shifted);
  if (options.form == ExpForm::Flush) {
    // A multiplication, so that a NaN of p stays one.
    Pack y = c.mul(p, powerOfTwo(bits));
    Pack isTiny = c.compare(arith::CmpFPredicate::OLT, x, c.constant(-87.33));
    return c.select(isTiny, c.constant(0.0), y);
  }
  // 2^n = 2^(n/2) * 2^(n - n/2), each an ordinary number.
  Pack count = c.subI(bits, c.integerConstant(0x4B400000));
  Pack half = c.shiftRight(count, 1);
  Pack rest = c.subI(count, half);
  return c.mul(c.mul(p, powerOfTwo(half)), powerOfTwo(rest));
}

SmallVector<Value, 4> kernelbrain::strategy::emitLog(OpBuilder &builder,
                                                     Location loc,
                                                     ValueRange xs) {
  static const float coefficients[] = {
      0.3333331346511841f,  -0.25000008940696716f, 0.2000211924314499f,
      -0.1666799634695053f, 0.14219550788402557f,  -0.12405591458082199f,
      0.11888174712657928f, -0.11675640940666199f, 0.06746601313352585f};
  Calculator c(builder, loc, xs);
  Pack x(xs);
  // Denormals are scaled up first.
  Pack isSmall =
      c.compare(arith::CmpFPredicate::OLT, x, c.constant(1.17549435e-38));
  Pack normal = c.select(isSmall, c.mul(x, c.constant(8388608.0)), x);
  // x = 2^n * m with m in [sqrt(1/2), sqrt(2)).
  Pack offset = c.integerConstant(0x3F3504F3);
  Pack shifted = c.subI(c.bits(normal), offset);
  Pack exponent = c.shiftRight(shifted, 23);
  Pack mantissa = c.subI(c.bits(normal), c.shiftLeft(exponent, 23));
  Pack r = c.sub(c.fromBits(mantissa), c.constant(1.0));
  Pack n = c.toFloat(exponent);
  n = c.sub(n, c.select(isSmall, c.constant(23.0), c.constant(0.0)));
  Pack square = c.mul(r, r);
  Pack p = c.fma(c.polynomial(r, coefficients), r, c.constant(-0.5));
  Pack low = c.fma(p, square, c.mul(n, c.constant(ln2Low)));
  Pack y = c.fma(n, c.constant(ln2High), c.add(r, low));
  Pack infinity = c.constant(std::numeric_limits<float>::infinity());
  // The unordered comparison sends NaN and negative numbers the same way.
  Pack inDomain = c.compare(arith::CmpFPredicate::OGE, x, c.constant(0.0));
  y = c.select(inDomain, y,
               c.constant(std::numeric_limits<float>::quiet_NaN()));
  y = c.select(c.compare(arith::CmpFPredicate::OEQ, x, c.constant(0.0)),
               c.constant(-std::numeric_limits<float>::infinity()), y);
  return c.select(c.compare(arith::CmpFPredicate::OEQ, x, infinity), infinity,
                  y);
}

/// erf(x) = x + x P(x^2) near 0, 1 - e^R(|x|) elsewhere; P fitted in relative,
/// R in absolute error of the result.
static SmallVector<Value, 4> emitErfInPieces(OpBuilder &builder, Location loc,
                                             ValueRange xs) {
  static const float nearZero[] = {
      0.12837915122509003f,   -0.3761252462863922f,  0.11282140761613846f,
      -0.026778897270560265f, 0.005011945962905884f, -0.0006090268725529313f};
  static const float logErfc[] = {
      -0.0001774892007233575f, -1.1277495622634888f, -0.6370596885681152f,
      -0.10403739660978317f,   0.02227710746228695f, -0.0030556130222976208f,
      0.00019718230760190636f};
  Calculator c(builder, loc, xs);
  Pack x(xs);
  Pack size = c.op<math::AbsFOp>(x);
  Pack nearby = c.fma(c.polynomial(c.mul(x, x), nearZero), x, x);
  Pack complement =
      emitExp(builder, loc, c.polynomial(c.clampHigh(size, 4.0), logErfc),
              {ExpForm::Flush, /*degree=*/6, /*nonPositive=*/true});
  Pack away = c.sub(c.constant(1.0), complement);
  Pack isNear = c.compare(arith::CmpFPredicate::OLT, size, c.constant(0.9));
  return c.op<math::CopySignOp>(c.select(isNear, nearby, away), x);
}

SmallVector<Value, 4> kernelbrain::strategy::emitErf(OpBuilder &builder,
                                                     Location loc,
                                                     ValueRange xs,
                                                     int degree) {
  if (degree == erfInPieces)
    return emitErfInPieces(builder, loc, xs);
  // erf(t) = t P(2 t^2 / limit^2 - 1), fitted in absolute error under the
  // condition that the f32 result at the limit is exactly 1.
  static const float twelve[] = {
      0.3927120268344879f,    -0.1954885721206665f,   0.1438189148902893f,
      -0.11385349929332733f,  0.0897054374217987f,    -0.06751128286123276f,
      0.04880413040518761f,   -0.034471459686756134f, 0.020150670781731606f,
      -0.008184322156012058f, 0.005644145421683788f,  -0.005789899732917547f,
      0.0022414957638829947f};
  static const float thirteen[] = {
      0.38342875242233276f,   -0.1910845786333084f,   0.14117015898227692f,
      -0.112818643450737f,    0.09054911881685257f,   -0.07005826383829117f,
      0.05111120641231537f,   -0.036145590245723724f, 0.024614013731479645f,
      -0.013115680776536465f, 0.00518043152987957f,   -0.004143205936998129f,
      0.003728414885699749f,  -0.001229691319167614f};
  static const float fourteen[] = {
      0.3672848045825958f,    -0.18330176174640656f,   0.13621152937412262f,
      -0.11037467420101166f,  0.09081951528787613f,    -0.073312908411026f,
      0.05640255659818649f,   -0.040416330099105835f,  0.028343835845589638f,
      -0.020173760131001472f, 0.011047011241316795f,   -0.0034297264646738768f,
      0.0026726603973656893f, -0.0033100293949246407f, 0.0012775262584909797f};
  bool isShort = degree <= 12, isLong = degree >= 14;
  double limit = isShort ? 3.6 : isLong ? 3.85 : 3.6875;
  Calculator c(builder, loc, xs);
  Pack x(xs);
  Pack t = c.clampLow(c.clampHigh(x, limit), -limit);
  Pack u =
      c.fma(t, c.mul(t, c.constant(2.0 / (limit * limit))), c.constant(-1.0));
  return c.mul(t, c.polynomial(u, isShort  ? ArrayRef(twelve)
                                  : isLong ? ArrayRef(fourteen)
                                           : thirteen));
}

SmallVector<Value, 4> kernelbrain::strategy::emitTanh(OpBuilder &builder,
                                                      Location loc,
                                                      ValueRange xs,
                                                      ExpForm form) {
  static const float coefficients[] = {
      -0.3333328068256378f, 0.13331441581249237f, -0.05373971536755562f,
      0.02063908986747265f, -0.005704990588128567f};
  Calculator c(builder, loc, xs);
  Pack x(xs);
  Pack size = c.op<math::AbsFOp>(x);
  // Near zero an odd polynomial, elsewhere 1 - 2 / (e^2|x| + 1) with the sign.
  Pack square = c.mul(x, x);
  Pack cube = c.mul(square, x);
  Pack nearby = c.fma(c.polynomial(square, coefficients), cube, x);
  Pack far = c.clampHigh(size, 10.0);
  Pack e = emitExp(builder, loc, c.add(far, far),
                   {form, /*degree=*/6, /*nonPositive=*/true});
  Pack quotient = c.div(c.constant(2.0), c.add(e, c.constant(1.0)));
  Pack away = c.sub(c.constant(1.0), quotient);
  Pack isNear = c.compare(arith::CmpFPredicate::OLT, size, c.constant(0.625));
  // The sign last: it is that of x for zeros too.
  return c.op<math::CopySignOp>(c.select(isNear, nearby, away), x);
}

SmallVector<Value, 4> kernelbrain::strategy::emitRsqrt(OpBuilder &builder,
                                                       Location loc,
                                                       ValueRange xs) {
  Calculator c(builder, loc, xs);
  Pack x(xs);
  return c.div(c.constant(1.0), c.op<math::SqrtOp>(x));
}
