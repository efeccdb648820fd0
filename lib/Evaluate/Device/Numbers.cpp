//===- Numbers.cpp - Elements as doubles, and rounding back ---------------===//

#include "kernelbrain/Evaluate/Device/Numbers.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

namespace kernelbrain::evaluate {

static constexpr FloatFormat formatF16 = {10, -14, 15},
                             formatBF16 = {7, -126, 127};

FloatFormat formatOf(ElementType type) {
  switch (type) {
  case ElementType::F16:
    return formatF16;
  case ElementType::BF16:
    return formatBF16;
  case ElementType::F32:
    return {23, -126, 127};
  default:
    assert(type == ElementType::F64 && "not a float type");
    return {52, -1022, 1023};
  }
}

static uint64_t bitsOf(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

static double fromBits(uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// Exponent of a normal number, without a call: these are drawn, rounded and
/// compared by the million.
static int exponentOf(uint64_t bits) { return int(bits >> 52 & 2047) - 1023; }

/// Two to the power of `exponent`, a normal number.
static double powerOfTwo(int exponent) {
  return fromBits(uint64_t(exponent + 1023) << 52);
}

static double roundNarrow(FloatFormat format, double value) {
  uint64_t bits = bitsOf(value);
  int exponent = exponentOf(bits);
  if (exponent < format.minExponent) {
    // A sum whose last place is the unit of subnormal numbers.
    double shift =
        1.5 * powerOfTwo(format.minExponent - format.mantissaBits + 52);
    return std::copysign(std::fabs(value) + shift - shift, value);
  }
  if (exponent == 1024)
    return value;
  // Half a unit, less one bit where what is kept is even: a carry out of the
  // mantissa makes the exponent what it should be.
  int dropped = 52 - format.mantissaBits;
  uint64_t unit = uint64_t(1) << dropped;
  bits = (bits + unit / 2 - 1 + (bits >> dropped & 1)) & ~(unit - 1);
  if (exponentOf(bits) > format.maxExponent)
    return std::copysign(std::numeric_limits<double>::infinity(), value);
  return fromBits(bits);
}

double roundTo(ElementType type, double value) {
  if (type == ElementType::F64)
    return value;
  if (type == ElementType::F32)
    return float(value);
  return roundNarrow(type == ElementType::F16 ? formatF16 : formatBF16, value);
}

double ulpAt(ElementType type, double scale) {
  FloatFormat format = formatOf(type);
  int exponent = format.minExponent;
  if (std::isfinite(scale) && scale != 0)
    exponent = std::max(std::ilogb(scale), format.minExponent);
  return std::ldexp(1.0, exponent - format.mantissaBits);
}

double lowerPrecisionRoundoff(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return std::ldexp(1.0, -24);
  case ElementType::F32:
    return std::ldexp(1.0, -11);
  case ElementType::F16:
    return std::ldexp(1.0, -8);
  default:
    return std::ldexp(1.0, -5);
  }
}

static double fromBF16(uint16_t bits) {
  uint32_t wide = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

static double fromF16(uint16_t bits) {
  uint64_t exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  uint64_t sign = uint64_t(bits >> 15) << 63;
  if (exponent == 0) {
    double magnitude = double(mantissa) * 0x1p-24;
    return sign ? -magnitude : magnitude;
  }
  // All ones are those of infinity and NaN in both formats.
  uint64_t wide = exponent == 31 ? 2047 : exponent + 1023 - 15;
  return fromBits(sign | wide << 52 | mantissa << 42);
}

static uint16_t toBF16(double value) {
  if (std::isnan(value))
    return 0x7fc0;
  auto narrow = float(roundNarrow(formatBF16, value));
  uint32_t bits;
  std::memcpy(&bits, &narrow, sizeof bits);
  return uint16_t(bits >> 16);
}

static uint16_t toF16(double value) {
  if (std::isnan(value))
    return 0x7e00;
  uint64_t bits = bitsOf(roundNarrow(formatF16, value));
  auto sign = uint16_t(bits >> 63 << 15);
  int exponent = exponentOf(bits);
  if (exponent > formatF16.maxExponent)
    return sign | 0x7c00;
  if (exponent < formatF16.minExponent)
    return sign | uint16_t(std::fabs(fromBits(bits)) * 0x1p24);
  return sign | uint16_t((exponent + 15) << 10) | uint16_t(bits >> 42 & 1023);
}

template <typename T> static T loadAs(const void *data, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char *>(data) + index * sizeof(T),
              sizeof(T));
  return value;
}

template <typename T> static void storeAs(void *data, int64_t index, T value) {
  std::memcpy(static_cast<char *>(data) + index * sizeof(T), &value, sizeof(T));
}

double loadFloat(ElementType type, const void *data, int64_t index) {
  switch (type) {
  case ElementType::F16:
    return fromF16(loadAs<uint16_t>(data, index));
  case ElementType::BF16:
    return fromBF16(loadAs<uint16_t>(data, index));
  case ElementType::F32:
    return loadAs<float>(data, index);
  default:
    assert(type == ElementType::F64 && "not a float type");
    return loadAs<double>(data, index);
  }
}

int64_t loadInteger(ElementType type, const void *data, int64_t index) {
  switch (type) {
  case ElementType::I1:
    return loadAs<uint8_t>(data, index);
  case ElementType::I8:
    return loadAs<int8_t>(data, index);
  case ElementType::I16:
    return loadAs<int16_t>(data, index);
  case ElementType::I32:
    return loadAs<int32_t>(data, index);
  default:
    assert(!isFloat(type) && "not an integer type");
    return loadAs<int64_t>(data, index);
  }
}

void storeFloat(ElementType type, void *data, int64_t index, double value) {
  switch (type) {
  case ElementType::F16:
    return storeAs<uint16_t>(data, index, toF16(value));
  case ElementType::BF16:
    return storeAs<uint16_t>(data, index, toBF16(value));
  case ElementType::F32:
    return storeAs<float>(data, index, float(value));
  default:
    assert(type == ElementType::F64 && "not a float type");
    return storeAs<double>(data, index, value);
  }
}

void storeInteger(ElementType type, void *data, int64_t index, int64_t value) {
  switch (type) {
  case ElementType::I1:
  case ElementType::I8:
    return storeAs<int8_t>(data, index, int8_t(value));
  case ElementType::I16:
    return storeAs<int16_t>(data, index, int16_t(value));
  case ElementType::I32:
    return storeAs<int32_t>(data, index, int32_t(value));
  default:
    assert(!isFloat(type) && "not an integer type");
    return storeAs<int64_t>(data, index, value);
  }
}

void loadFloats(ElementType type, const void *data, int64_t begin,
                int64_t count, double *out) {
  if (type == ElementType::F32) {
    const float *in = static_cast<const float *>(data) + begin;
    for (int64_t i = 0; i < count; ++i)
      out[i] = in[i];
    return;
  }
  if (type == ElementType::F64) {
    std::memcpy(out, static_cast<const double *>(data) + begin, count * 8);
    return;
  }
  if (type == ElementType::BF16)
    for (int64_t i = 0; i < count; ++i)
      out[i] = fromBF16(loadAs<uint16_t>(data, begin + i));
  else
    for (int64_t i = 0; i < count; ++i)
      out[i] = fromF16(loadAs<uint16_t>(data, begin + i));
}

void storeFloats(ElementType type, const double *in, int64_t count, void *data,
                 int64_t begin) {
  if (type == ElementType::F32) {
    float *out = static_cast<float *>(data) + begin;
    for (int64_t i = 0; i < count; ++i)
      out[i] = float(in[i]);
    return;
  }
  if (type == ElementType::F64) {
    std::memcpy(static_cast<double *>(data) + begin, in, size_t(count) * 8);
    return;
  }
  if (type == ElementType::BF16)
    for (int64_t i = 0; i < count; ++i)
      storeAs<uint16_t>(data, begin + i, toBF16(in[i]));
  else
    for (int64_t i = 0; i < count; ++i)
      storeAs<uint16_t>(data, begin + i, toF16(in[i]));
}

void roundFloats(ElementType type, const double *in, int64_t count,
                 double *out) {
  if (type == ElementType::F32) {
    for (int64_t i = 0; i < count; ++i)
      out[i] = float(in[i]);
    return;
  }
  if (type == ElementType::F64)
    std::copy_n(in, count, out);
  else if (type == ElementType::BF16)
    for (int64_t i = 0; i < count; ++i)
      out[i] = roundNarrow(formatBF16, in[i]);
  else
    for (int64_t i = 0; i < count; ++i)
      out[i] = roundNarrow(formatF16, in[i]);
}

} // namespace kernelbrain::evaluate
