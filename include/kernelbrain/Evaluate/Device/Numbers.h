//===- Numbers.h - Elements as doubles, and rounding back -------*- C++ -*-===//

#ifndef KERNELBRAIN_EVALUATE_DEVICE_NUMBERS_H
#define KERNELBRAIN_EVALUATE_DEVICE_NUMBERS_H

#include "kernelbrain/Core/Kernel.h"

#include <cstdint>

namespace kernelbrain::evaluate {

/// Bits of the mantissa without the hidden one, exponents of the smallest
/// normal and of the largest finite value.
struct FloatFormat {
  int mantissaBits, minExponent, maxExponent;
};
/// `type` must be a float type.
FloatFormat formatOf(ElementType type);

/// `value` rounded to the nearest value of `type` (ties to even), overflow to
/// infinity, gradual underflow. Exact where `value` is a value of `type`.
double roundTo(ElementType type, double value);

/// Distance of neighbouring values of `type` at the magnitude `scale`.
double ulpAt(ElementType type, double scale);

/// Half a unit in the last place of the format one step below `type`, relative:
/// f64 -> f32, f32 -> tf32, f16 -> bf16, bf16 -> a 4-bit mantissa.
double lowerPrecisionRoundoff(ElementType type);

/// Reads element `index` of an array of `type`.
double loadFloat(ElementType type, const void *data, int64_t index);
int64_t loadInteger(ElementType type, const void *data, int64_t index);
/// Writes `value`, rounded, to element `index`.
void storeFloat(ElementType type, void *data, int64_t index, double value);
void storeInteger(ElementType type, void *data, int64_t index, int64_t value);

/// Bulk forms over [begin, begin + count).
void loadFloats(ElementType type, const void *data, int64_t begin,
                int64_t count, double *out);
void storeFloats(ElementType type, const double *in, int64_t count, void *data,
                 int64_t begin);
void roundFloats(ElementType type, const double *in, int64_t count,
                 double *out);

} // namespace kernelbrain::evaluate

#endif // KERNELBRAIN_EVALUATE_DEVICE_NUMBERS_H
