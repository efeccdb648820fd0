//===- Numbers.cpp - Elements as doubles, and rounding back ---------------===//

#include "kernelbrain/Evaluate/Device/Numbers.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

namespace kernelbrain::evaluate {

FloatFormat formatOf(ElementType type) {
  switch (type) {
  case ElementType::F16:
    return {10, -14, 15};
  case ElementType::BF16:
    return {7, -126, 127};
  case ElementType::F32:
    return {23, -126, 127};
  default:
    assert(type == ElementType::F64 && "not a float type");
    return {52, -1022, 1023};
  }
}

static double roundNarrow(FloatFormat format, double value) {
  if (!std::isfinite(value) || value == 0)
    return value;
  int exponent = std::max(std::ilogb(value), format.minExponent);
  double unit = std::ldexp(1.0, exponent - format.mantissaBits);
  double rounded = std::nearbyint(value / unit) * unit;
  if (std::fabs(rounded) >= std::ldexp(1.0, format.maxExponent + 1))
    return std::copysign(std::numeric_limits<double>::infinity(), value);
  return rounded == 0 ? std::copysign(0.0, value) : rounded;
}

double roundTo(ElementType type, double value) {
  if (type == ElementType::F64)
    return value;
  if (type == ElementType::F32)
    return float(value);
  return roundNarrow(formatOf(type), value);
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
  int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  double magnitude;
  if (exponent == 31)
    magnitude = mantissa ? std::numeric_limits<double>::quiet_NaN()
                         : std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    magnitude = std::ldexp(mantissa, -24);
  else
    magnitude = std::ldexp(1024 + mantissa, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

static uint16_t toBF16(double value) {
  float narrow = float(roundTo(ElementType::BF16, value));
  uint32_t bits;
  std::memcpy(&bits, &narrow, sizeof bits);
  return std::isnan(value) ? 0x7fc0 : uint16_t(bits >> 16);
}

static uint16_t toF16(double value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value))
    return 0x7e00;
  double magnitude = std::fabs(roundTo(ElementType::F16, value));
  if (std::isinf(magnitude))
    return sign | 0x7c00;
  if (magnitude < std::ldexp(1.0, -14))
    return sign | uint16_t(std::ldexp(magnitude, 24));
  int exponent = std::ilogb(magnitude);
  auto mantissa = uint16_t(std::ldexp(magnitude, 10 - exponent));
  return sign | uint16_t((exponent + 15) << 10) | (mantissa & 1023);
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
  for (int64_t i = 0; i < count; ++i)
    out[i] = loadFloat(type, data, begin + i);
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
  for (int64_t i = 0; i < count; ++i)
    storeFloat(type, data, begin + i, in[i]);
}

void roundFloats(ElementType type, const double *in, int64_t count,
                 double *out) {
  if (type == ElementType::F32) {
    for (int64_t i = 0; i < count; ++i)
      out[i] = float(in[i]);
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    out[i] = roundTo(type, in[i]);
}

} // namespace kernelbrain::evaluate
