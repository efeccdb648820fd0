//===- InputSets.cpp - Inputs as functions of a seed ----------------------===//

#include "kernelbrain/Evaluate/Device/InputSets.h"

#include "Parallel.h"

#include "kernelbrain/Evaluate/Device/Numbers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace kernelbrain::evaluate {

const char *toString(SetKind kind) {
  static const char *const names[] = {
      "normal",     "composite", "nans",       "zero-one",  "limits",
      "wide",       "one-hot",   "infinities", "times-ten", "shifted",
      "equal-rows", "constant",  "denormal",   "uniform",   "offset",
      "sparse",     "tail"};
  static_assert(sizeof names / sizeof *names == setKindCount);
  return names[int(kind)];
}

std::string InputSet::name() const {
  std::string text = toString(kind);
  if (kind == SetKind::Limits)
    text += "#" + std::to_string(limitsInput);
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
  constexpr int64_t most = int64_t(1) << 50;
  int64_t bytes = byteSize(type);
  for (int64_t extent : extentsOf(argument, dims))
    if (__builtin_mul_overflow(bytes, extent, &bytes) || bytes > most)
      bytes = most;
  return bytes;
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

/// Draws the floats of one input row by row. What depends on the row alone is
/// decided outside the loop over its elements: inputs have millions.
class FloatDrawer {
public:
  FloatDrawer(Stream stream, Grid grid, ElementType type, bool isVector)
      : stream(stream), grid(grid), type(type), isVector(isVector) {}

  /// Writes columns [begin, begin + count) of row `row`.
  void draw(SetKind kind, int64_t row, int64_t begin, int64_t count,
            double *out) const {
    if (kind == SetKind::Composite)
      kind = compositeKind(row, begin);
    uint64_t first = uint64_t(row * grid.columns + begin);
    auto fill = [&](auto value) {
      for (int64_t k = 0; k < count; ++k)
        out[k] = value(stream.at(first + uint64_t(k)), begin + k);
    };
    switch (kind) {
    case SetKind::Composite:
    case SetKind::Normal:
    case SetKind::NaNs:
    case SetKind::Infinities:
      fill([](uint64_t bits, int64_t) { return normalOf(bits); });
      return sprinkle(kind, row, begin, count, out);
    case SetKind::TimesTen:
      return fill([](uint64_t bits, int64_t) { return 10 * normalOf(bits); });
    case SetKind::Shifted:
      return fill([](uint64_t bits, int64_t) { return normalOf(bits) + 5; });
    case SetKind::Offset:
      return fill([](uint64_t bits, int64_t) { return normalOf(bits) + 100; });
    case SetKind::Uniform:
      return fill([](uint64_t bits, int64_t) { return uniformOf(bits); });
    case SetKind::ZeroOne:
      return fill([](uint64_t bits, int64_t) { return double(bits >> 63); });
    case SetKind::Wide:
      return fill([range = type == ElementType::F16 ? 6.0 : 20.0](uint64_t bits,
                                                                  int64_t) {
        double magnitude = std::exp2((2 * uniformOf(bits) - 1) * range);
        return mix(bits) & 1 ? magnitude : -magnitude;
      });
    case SetKind::Limits:
      return fill([unit = std::exp2(limitsExponent(row, begin))](uint64_t bits,
                                                                 int64_t) {
        return normalOf(bits) * unit;
      });
    case SetKind::OneHot: {
      uint64_t hot = mix(stream.at(uint64_t(row)) + 2) % uint64_t(grid.columns);
      return fill([hot](uint64_t, int64_t column) {
        return uint64_t(column) == hot ? 1.0 : 0.0;
      });
    }
    case SetKind::EqualRows:
      return fill([this](uint64_t, int64_t column) {
        return normalOf(stream.at(uint64_t(column)));
      });
    case SetKind::Constant:
      return fill([value = normalOf(stream.at(uint64_t(row)))](
                      uint64_t, int64_t) { return value; });
    case SetKind::Denormal:
      return fill(
          [unit = std::ldexp(0.25, formatOf(type).minExponent)](
              uint64_t bits, int64_t) { return normalOf(bits) * unit; });
    case SetKind::Sparse:
      return fill([](uint64_t bits, int64_t) {
        return mix(bits) % 10 == 0 ? normalOf(bits) : 0;
      });
    case SetKind::Tail:
      return fill([tail = grid.columns - grid.columns / 16](uint64_t bits,
                                                            int64_t column) {
        return normalOf(bits) * (column >= tail ? 1000 : 1);
      });
    }
  }

private:
  /// Rows are sprinkled with special values; of a vector, runs of 64.
  void sprinkle(SetKind kind, int64_t row, int64_t begin, int64_t count,
                double *out) const {
    if (kind != SetKind::NaNs && kind != SetKind::Infinities)
      return;
    int64_t run = isVector ? 64 : grid.columns;
    for (int64_t chunk = begin / run; chunk * run < begin + count; ++chunk) {
      uint64_t bits = mix(stream.at(uint64_t(isVector ? chunk : row)) + 1);
      bool chosen =
          bits % 8 == 0 || (isVector && grid.columns < 512 && chunk == 0);
      int64_t at = chunk * run + int64_t(bits / 8 % uint64_t(run)) - begin;
      if (!chosen || at < 0 || at >= count)
        continue;
      double infinity = std::numeric_limits<double>::infinity();
      out[at] = kind == SetKind::NaNs ? std::numeric_limits<double>::quiet_NaN()
                                      : (bits >> 63 ? infinity : -infinity);
    }
  }

  SetKind compositeKind(int64_t row, int64_t column) const {
    static const SetKind kinds[] = {SetKind::Normal,    SetKind::TimesTen,
                                    SetKind::Shifted,   SetKind::Uniform,
                                    SetKind::Sparse,    SetKind::Tail,
                                    SetKind::EqualRows, SetKind::Offset};
    int64_t along = isVector ? column : row;
    int64_t extent = isVector ? grid.columns : grid.rows;
    return kinds[along * 16 / std::max<int64_t>(extent, 1) % 8];
  }

  /// Eight blocks of rows have magnitudes of their own: powers of two such that
  /// no sum or square comes to lie at the very limit, where the order of
  /// additions decides between overflow and none. Many rows stay normal:
  /// subnormal operands are a hundred times slower on some processors.
  double limitsExponent(int64_t row, int64_t column) const {
    int64_t along = isVector ? column : row;
    int64_t extent = isVector ? grid.columns : grid.rows;
    int64_t length = std::max<int64_t>(1, extent / 8);
    int64_t block = std::min<int64_t>(7, along / length);
    if (along - block * length >= std::max<int64_t>(64, length / 8))
      return 0;
    FloatFormat format = formatOf(type);
    if (block == 2) // deep among the subnormal numbers
      return format.minExponent - format.mantissaBits / 2;
    // Of f64 the squares stay in range: the reference has no wider format.
    double step = type == ElementType::F64 ? 3.5 : format.maxExponent / 127.0;
    static const double steps[] = {80, -80, 0, 50, 112, -50, -112, 0};
    return steps[block] * step;
  }

  Stream stream;
  Grid grid;
  ElementType type;
  bool isVector; ///< rank below 2
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

void fillFloats(const InputSet &set, const Argument &argument, Grid grid,
                const FloatDrawer &drawer, const Stream &moves, SetKind kind,
                ElementType type, double perturbation, void *data,
                int threads) {
  constexpr int64_t width = 64;
  const Domain &domain = argument.domain;
  bool bounded = domain.low || domain.high;
  if (bounded && (kind == SetKind::NaNs || kind == SetKind::Infinities))
    kind = SetKind::Normal;
  // Pieces of rows, numbered along them.
  int64_t perRow = (grid.columns + width - 1) / width;
  forEachPiece(threads, grid.rows * perRow, 1024, [&](int64_t at, int64_t end) {
    double values[width];
    for (; at < end; ++at) {
      int64_t row = at / perRow, column = at % perRow * width;
      int64_t count = std::min(width, grid.columns - column);
      int64_t index = row * grid.columns + column;
      drawer.draw(kind, row, column, count, values);
      if (set.positive)
        for (int64_t k = 0; k < count; ++k)
          values[k] =
              std::fabs(values[k]) + (kind == SetKind::Limits ? 0 : 0.0625);
      if (bounded)
        for (int64_t k = 0; k < count; ++k)
          values[k] = intoDomain(domain, values[k]);
      // What is stored as drawn is rounded then.
      if (type != argument.type || domain.high || perturbation != 0)
        roundFloats(argument.type, values, count, values);
      // Rounding may have left the domain.
      if (domain.high)
        for (int64_t k = 0; k < count; ++k)
          if (values[k] > *domain.high)
            values[k] = roundTo(argument.type, domain.low.value_or(0));
      if (perturbation != 0)
        for (int64_t k = 0; k < count; ++k)
          values[k] *=
              1 +
              perturbation * (2 * uniformOf(moves.at(uint64_t(index + k))) - 1);
      storeFloats(type, values, count, data, index);
    }
  });
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
                  const Stream &stream, Grid grid, ElementType type, void *data,
                  int threads) {
  int64_t low, high;
  integerRange(argument, low, high);
  auto range = uint64_t(std::max<int64_t>(1, high - low));
  bool leaves = set.violating && argument.domain.high;
  forEachPiece(threads, grid.rows * grid.columns, 65536,
               [&](int64_t index, int64_t end) {
                 for (; index < end; ++index) {
                   int64_t row = index / grid.columns,
                           column = index % grid.columns;
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
               });
}

} // namespace

void fillInput(const InputSet &set, size_t position, const Argument &argument,
               ElementType type, double perturbation, void *data, int threads) {
  std::vector<int64_t> extents = extentsOf(argument, set.dims);
  uint64_t seed = mix(set.seed + position * 0x632be59bd9b4e019 +
                      uint64_t(set.kind) * 0x2545f4914f6cdd1d);
  if (set.freshInput == int(position))
    seed = mix(seed + 1);
  Stream stream{seed};
  Grid grid = gridOf(extents);
  SetKind kind = set.kind;
  if (kind == SetKind::Limits && set.limitsInput != int(position))
    kind = SetKind::Normal;
  if (isFloat(argument.type))
    fillFloats(set, argument, grid,
               FloatDrawer(stream, grid, argument.type, extents.size() < 2),
               Stream{mix(seed + 3 + uint64_t(set.move))}, kind, type,
               perturbation, data, threads);
  else
    fillIntegers(set, argument, stream, grid, type, data, threads);
}

static uint64_t hashPiece(const char *at, int64_t bytes) {
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

uint64_t hashMemory(const void *data, int64_t bytes, int threads) {
  std::vector<uint64_t> hashes(size_t((bytes + pieceBytes - 1) / pieceBytes));
  forEachPiece(threads, bytes, pieceBytes, [&](int64_t begin, int64_t end) {
    hashes[size_t(begin / pieceBytes)] =
        hashPiece(static_cast<const char *>(data) + begin, end - begin);
  });
  uint64_t hash = uint64_t(bytes);
  for (uint64_t piece : hashes)
    hash = mix(hash ^ piece) + 1;
  return hash;
}

} // namespace kernelbrain::evaluate
