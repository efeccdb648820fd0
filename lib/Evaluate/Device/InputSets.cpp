//===- InputSets.cpp - Inputs as functions of a seed ----------------------===//

#include "kernelbrain/Evaluate/Device/InputSets.h"

#include "kernelbrain/Evaluate/Device/Numbers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace kernelbrain::evaluate {

const char *toString(SetKind kind) {
  static const char *const names[] = {
      "normal",   "composite",  "nans",       "wide",
      "zero-one", "one-hot",    "infinities", "times-ten",
      "shifted",  "equal-rows", "constant",   "denormal",
      "uniform",  "offset",     "sparse",     "tail"};
  static_assert(sizeof names / sizeof *names == setKindCount);
  return names[int(kind)];
}

std::string InputSet::name() const {
  std::string text = toString(kind);
  if (positive)
    text += "+positive";
  if (violating)
    text += "+violating";
  for (size_t k = 0; k < dims.size(); ++k)
    text += (k ? "x" : "@") + std::to_string(dims[k]);
  return text;
}

std::vector<int64_t> extentsOf(const Argument &argument,
                               const std::vector<int64_t> &dims) {
  std::vector<int64_t> extents = argument.shape;
  for (int64_t &extent : extents)
    if (extent < 0)
      extent = dims.at(size_t(-extent - 1));
  return extents;
}

int64_t elementCount(const std::vector<int64_t> &extents) {
  int64_t count = 1;
  for (int64_t extent : extents)
    count *= extent;
  return count;
}

int64_t bytesOf(const Argument &argument, ElementType type,
                const std::vector<int64_t> &dims) {
  return elementCount(extentsOf(argument, dims)) * byteSize(type);
}

namespace {

uint64_t mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9;
  x ^= x >> 27;
  x *= 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// Random numbers by position, so that any element can be drawn alone.
struct Stream {
  uint64_t seed;
  uint64_t at(uint64_t index) const {
    return mix(seed + index * 0x9e3779b97f4a7c15);
  }
};

double uniformOf(uint64_t bits) { return double(bits >> 11) * 0x1p-53; }

/// The sum of four 16-bit lanes is nearly normal (within 3.46 deviations); the
/// second word fills the mantissa.
double normalOf(uint64_t bits) {
  uint64_t sum = (bits & 0xffff) + (bits >> 16 & 0xffff) +
                 (bits >> 32 & 0xffff) + (bits >> 48);
  double fill = double((bits * 0xd1342543de82ef95) >> 40) * 0x1p-24;
  return (double(sum) + fill - 131070.5) * (1.7320508075688772 / 65536);
}

/// Where an element lies: its row is the collapsed leading dimensions.
struct Grid {
  int64_t rows, columns;
};
Grid gridOf(const std::vector<int64_t> &extents) {
  int64_t count = elementCount(extents);
  int64_t columns = extents.empty() ? 1 : extents.back();
  return {columns ? count / columns : 0, columns};
}

struct FloatDrawer {
  Stream stream;
  Grid grid;
  ElementType type;
  bool vector; ///< rank below 2: rows for sprinkling are runs of 64

  /// The special value of this element's row, if it is the element's turn.
  bool isSpecial(int64_t row, int64_t column, uint64_t &bits) const {
    int64_t run = vector ? 64 : std::max<int64_t>(1, grid.columns);
    int64_t chunk = vector ? column / run : row;
    bits = mix(stream.at(uint64_t(chunk)) + 1);
    bool chosen = bits % 8 == 0 || (vector && grid.columns < 512 && chunk == 0);
    return chosen && int64_t(bits / 8 % uint64_t(run)) == column % run;
  }

  SetKind kindOf(SetKind kind, int64_t row, int64_t column) const {
    if (kind != SetKind::Composite)
      return kind;
    static const SetKind kinds[] = {SetKind::Normal,    SetKind::TimesTen,
                                    SetKind::Shifted,   SetKind::Uniform,
                                    SetKind::Sparse,    SetKind::Tail,
                                    SetKind::EqualRows, SetKind::Offset};
    int64_t along = vector ? column : row;
    int64_t extent = vector ? grid.columns : grid.rows;
    return kinds[along * 16 / std::max<int64_t>(extent, 1) % 8];
  }

  double draw(SetKind kind, int64_t row, int64_t column) const {
    int64_t index = row * grid.columns + column;
    uint64_t bits = stream.at(uint64_t(index)), other = 0;
    double normal = normalOf(bits);
    switch (kindOf(kind, row, column)) {
    case SetKind::Normal:
    case SetKind::Composite:
      return normal;
    case SetKind::TimesTen:
      return 10 * normal;
    case SetKind::Shifted:
      return normal + 5;
    case SetKind::Offset:
      return normal + 100;
    case SetKind::Uniform:
      return uniformOf(bits);
    case SetKind::Wide: {
      double range = type == ElementType::F16 ? 6 : 20;
      double magnitude = std::exp2((2 * uniformOf(bits) - 1) * range);
      return mix(bits) & 1 ? magnitude : -magnitude;
    }
    case SetKind::ZeroOne:
      return double(bits >> 63);
    case SetKind::OneHot: {
      uint64_t hot = mix(stream.at(uint64_t(row)) + 2);
      return int64_t(hot % uint64_t(grid.columns)) == column;
    }
    case SetKind::EqualRows:
      return normalOf(stream.at(uint64_t(column)));
    case SetKind::Constant:
      return normalOf(stream.at(uint64_t(row)));
    case SetKind::Denormal:
      return normal * std::ldexp(0.25, formatOf(type).minExponent);
    case SetKind::Sparse:
      return mix(bits) % 10 == 0 ? normal : 0;
    case SetKind::Tail:
      return column >= grid.columns - grid.columns / 16 ? 1000 * normal
                                                        : normal;
    case SetKind::NaNs:
      return isSpecial(row, column, other)
                 ? std::numeric_limits<double>::quiet_NaN()
                 : normal;
    case SetKind::Infinities:
      if (!isSpecial(row, column, other))
        return normal;
      return other >> 63 ? std::numeric_limits<double>::infinity()
                         : -std::numeric_limits<double>::infinity();
    }
    return normal;
  }
};

double intoDomain(const Domain &domain, double value) {
  if (domain.low && domain.high) {
    double width = *domain.high - *domain.low;
    if (value >= *domain.low && value <= *domain.high)
      return value;
    return width > 0 ? *domain.low + std::fmod(std::fabs(value), width)
                     : *domain.low;
  }
  if (domain.low && !(value >= *domain.low))
    return *domain.low + std::fabs(value - *domain.low);
  if (domain.high && !(value <= *domain.high))
    return *domain.high - std::fabs(value - *domain.high);
  return value;
}

void fillFloats(const InputSet &set, const Argument &argument,
                const FloatDrawer &drawer, ElementType type,
                double perturbation, void *data) {
  bool bounded = argument.domain.low || argument.domain.high;
  SetKind kind = set.kind;
  if (bounded && (kind == SetKind::NaNs || kind == SetKind::Infinities))
    kind = SetKind::Normal;
  Stream moves{mix(drawer.stream.seed + 3)};
  for (int64_t row = 0, index = 0; row < drawer.grid.rows; ++row) {
    for (int64_t column = 0; column < drawer.grid.columns; ++column, ++index) {
      double value = drawer.draw(kind, row, column);
      if (set.positive)
        value = std::fabs(value) + 0.0625;
      if (bounded)
        value = intoDomain(argument.domain, value);
      value = roundTo(argument.type, value);
      // Rounding may have left the domain.
      if (argument.domain.high && value > *argument.domain.high)
        value = roundTo(argument.type, *argument.domain.low);
      if (perturbation != 0)
        value *=
            1 + perturbation * (2 * uniformOf(moves.at(uint64_t(index))) - 1);
      storeFloat(type, data, index, value);
    }
  }
}

/// The range [low, high) that integers are drawn from.
void integerRange(const Argument &argument, int64_t &low, int64_t &high) {
  const Domain &domain = argument.domain;
  low = argument.type == ElementType::I8 ? -127 : 0;
  high = argument.type == ElementType::I8   ? 128
         : argument.type == ElementType::I1 ? 2
                                            : 10;
  if (domain.low)
    low = int64_t(*domain.low);
  if (domain.high)
    high = int64_t(*domain.high);
  else if (domain.low)
    high = argument.type == ElementType::I8 ? 128 : low + 10;
  if (domain.high && !domain.low && low >= high)
    low = high - 10;
}

void fillIntegers(const InputSet &set, const Argument &argument,
                  const Stream &stream, Grid grid, ElementType type,
                  void *data) {
  int64_t low, high;
  integerRange(argument, low, high);
  auto range = uint64_t(std::max<int64_t>(1, high - low));
  bool leaves = set.violating && argument.domain.high;
  for (int64_t row = 0, index = 0; row < grid.rows; ++row) {
    for (int64_t column = 0; column < grid.columns; ++column, ++index) {
      uint64_t bits = stream.at(uint64_t(index));
      int64_t value = low + int64_t(bits % range);
      if (set.kind == SetKind::OneHot)
        value = low;
      else if (set.kind == SetKind::Tail)
        value = low + int64_t(range - 1);
      else if (set.kind == SetKind::ZeroOne)
        value = low + int64_t(range > 1 ? bits >> 63 : 0);
      else if (set.kind == SetKind::EqualRows)
        value = low + int64_t(stream.at(uint64_t(column)) % range);
      else if (set.kind == SetKind::Constant)
        value = low + int64_t(stream.at(uint64_t(row)) % range);
      if (leaves && (index == 0 || mix(bits) % 97 == 0))
        value = mix(bits + 1) & 1 ? high : low - 1;
      storeInteger(type, data, index, value);
    }
  }
}

} // namespace

void fillInput(const InputSet &set, size_t position, const Argument &argument,
               ElementType type, double perturbation, void *data) {
  std::vector<int64_t> extents = extentsOf(argument, set.dims);
  uint64_t seed = mix(set.seed + position * 0x632be59bd9b4e019 +
                      uint64_t(set.kind) * 0x2545f4914f6cdd1d);
  if (set.freshInput == int(position))
    seed = mix(seed + 1);
  Stream stream{seed};
  Grid grid = gridOf(extents);
  if (isFloat(argument.type))
    fillFloats(set, argument, {stream, grid, argument.type, extents.size() < 2},
               type, perturbation, data);
  else
    fillIntegers(set, argument, stream, grid, type, data);
}

uint64_t hashMemory(const void *data, int64_t bytes) {
  auto *at = static_cast<const char *>(data);
  uint64_t lanes[4] = {1, 2, 3, 4};
  int64_t k = 0;
  for (; k + 32 <= bytes; k += 32) {
    uint64_t words[4];
    std::memcpy(words, at + k, 32);
    for (int lane = 0; lane < 4; ++lane) {
      lanes[lane] = (lanes[lane] ^ words[lane]) * 0x9e3779b97f4a7c15;
      lanes[lane] ^= lanes[lane] >> 29;
    }
  }
  uint64_t hash = uint64_t(bytes);
  for (; k < bytes; ++k)
    hash = mix(hash ^ uint8_t(at[k]));
  for (uint64_t lane : lanes)
    hash = mix(hash ^ lane);
  return hash;
}

} // namespace kernelbrain::evaluate
