//===- InputSetsTest.cpp - What kernels are run on
//--------------------------===//

#include "kernelbrain/Evaluate/Device/InputSets.h"
#include "kernelbrain/Evaluate/Device/Numbers.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace kernelbrain;
using namespace kernelbrain::evaluate;

namespace {

std::vector<float> drawn(SetKind kind, uint64_t seed, const Domain &domain = {},
                         bool positive = false) {
  Argument argument;
  argument.shape = {-1, 48};
  argument.domain = domain;
  InputSet set;
  set.kind = kind;
  set.dims = {40};
  set.seed = seed;
  set.positive = positive;
  std::vector<float> values(40 * 48);
  fillInput(set, 0, argument, ElementType::F32, 0, values.data());
  return values;
}

TEST(InputSets, AreFunctionsOfTheSeed) {
  for (int kind = 0; kind < setKindCount; ++kind) {
    std::vector<float> a = drawn(SetKind(kind), 1), b = drawn(SetKind(kind), 1);
    EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * 4), 0);
    std::vector<float> c = drawn(SetKind(kind), 2);
    EXPECT_NE(std::memcmp(a.data(), c.data(), a.size() * 4), 0)
        << toString(SetKind(kind));
  }
}

TEST(InputSets, NormalIsNormal) {
  std::vector<float> values = drawn(SetKind::Normal, 3);
  double sum = 0, squares = 0;
  for (float value : values) {
    sum += value;
    squares += double(value) * value;
  }
  EXPECT_NEAR(sum / double(values.size()), 0, 0.1);
  EXPECT_NEAR(squares / double(values.size()), 1, 0.1);
}

TEST(InputSets, KindsHaveTheirProperty) {
  auto count = [](const std::vector<float> &values, auto predicate) {
    return std::count_if(values.begin(), values.end(), predicate);
  };
  auto isNan = [](float v) { return std::isnan(v); };
  auto isInf = [](float v) { return std::isinf(v); };
  EXPECT_GT(count(drawn(SetKind::NaNs, 1), isNan), 0);
  EXPECT_LT(count(drawn(SetKind::NaNs, 1), isNan), 40);
  EXPECT_GT(count(drawn(SetKind::Infinities, 1), isInf), 0);
  EXPECT_EQ(count(drawn(SetKind::OneHot, 1), [](float v) { return v == 1; }),
            40);
  EXPECT_EQ(count(drawn(SetKind::Denormal, 1),
                  [](float v) { return std::isnormal(v); }),
            0);
  EXPECT_EQ(count(drawn(SetKind::ZeroOne, 1),
                  [](float v) { return v != 0 && v != 1; }),
            0);
  EXPECT_EQ(count(drawn(SetKind::Normal, 1, {}, true),
                  [](float v) { return v <= 0; }),
            0);
  std::vector<float> equal = drawn(SetKind::EqualRows, 1);
  EXPECT_TRUE(
      std::equal(equal.begin(), equal.begin() + 48, equal.begin() + 48));
  std::vector<float> constant = drawn(SetKind::Constant, 1);
  EXPECT_EQ(constant[0], constant[47]);
  EXPECT_NE(constant[0], constant[48]);
}

TEST(InputSets, LimitsAreReachedInBlocksOfRows) {
  for (ElementType type : {ElementType::F16, ElementType::BF16,
                           ElementType::F32, ElementType::F64}) {
    Argument argument;
    argument.type = type;
    argument.shape = {40, 48};
    InputSet set;
    set.kind = SetKind::Limits;
    std::vector<double> values(40 * 48), blocks(8, 0);
    fillInput(set, 0, argument, ElementType::F64, 0, values.data());
    for (size_t k = 0; k < values.size(); ++k) {
      EXPECT_EQ(values[k], roundTo(type, values[k]));
      blocks[k / 240] = std::max(blocks[k / 240], std::fabs(values[k]));
    }
    double most = formatOf(type).maxExponent;
    EXPECT_GT(std::log2(blocks[0]), most / 4) << toString(type);
    EXPECT_LT(std::log2(blocks[1]), -most / 4);
    EXPECT_LT(std::log2(blocks[2]), formatOf(type).minExponent);
    EXPECT_GT(blocks[2], 0);
    EXPECT_LT(std::log2(*std::max_element(blocks.begin(), blocks.end())), most);
    // Every other input stays normal.
    fillInput(set, 1, argument, ElementType::F64, 0, values.data());
    EXPECT_LT(*std::max_element(values.begin(), values.end()), 4);
  }
}

TEST(InputSets, MostRowsOfALargeInputAreNormal) {
  Argument argument;
  argument.shape = {8192, 4};
  InputSet set;
  set.kind = SetKind::Limits;
  std::vector<float> values(8192 * 4);
  fillInput(set, 0, argument, ElementType::F32, 0, values.data());
  size_t outside = 0;
  for (float value : values)
    outside += std::fabs(value) > 4 || std::fabs(value) < 0x1p-40f;
  EXPECT_EQ(outside, 7 * 128 * 4u);
}

TEST(InputSets, KeepToTheDomain) {
  for (int kind = 0; kind < setKindCount; ++kind) {
    for (float value : drawn(SetKind(kind), 1, {0.25, 0.75})) {
      EXPECT_GE(value, 0.25);
      EXPECT_LE(value, 0.75);
    }
    for (float value : drawn(SetKind(kind), 1, {0.0, std::nullopt}))
      EXPECT_GE(value, 0);
  }
  Argument index;
  index.type = ElementType::I64;
  index.shape = {500};
  index.domain = {3.0, 11.0};
  for (bool violating : {false, true}) {
    InputSet set;
    set.violating = violating;
    int64_t values[500], outside = 0;
    fillInput(set, 0, index, ElementType::I64, 0, values);
    for (int64_t value : values)
      outside += value < 3 || value >= 11;
    EXPECT_EQ(outside > 0, violating);
  }
}

TEST(InputSets, PerturbationIsRelativeAndSmall) {
  Argument argument;
  argument.shape = {1000};
  InputSet set;
  std::vector<double> exact(1000), moved(1000);
  fillInput(set, 0, argument, ElementType::F64, 0, exact.data());
  fillInput(set, 0, argument, ElementType::F64, 0x1p-11, moved.data());
  EXPECT_NE(exact, moved);
  std::vector<double> movedOtherwise(1000);
  set.move = 1;
  fillInput(set, 0, argument, ElementType::F64, 0x1p-11, movedOtherwise.data());
  EXPECT_NE(moved, movedOtherwise);
  for (size_t k = 0; k < exact.size(); ++k) {
    EXPECT_EQ(exact[k], double(float(exact[k])));
    EXPECT_LE(std::fabs(moved[k] - exact[k]), 0x1.01p-11 * std::fabs(exact[k]));
  }
}

TEST(HashMemory, SeesEveryByte) {
  std::vector<char> bytes(100, 1);
  uint64_t before = hashMemory(bytes.data(), 100);
  for (size_t k = 0; k < bytes.size(); ++k) {
    bytes[k] ^= 64;
    EXPECT_NE(hashMemory(bytes.data(), 100), before) << k;
    bytes[k] ^= 64;
  }
  EXPECT_EQ(hashMemory(bytes.data(), 100), before);
  EXPECT_NE(hashMemory(bytes.data(), 99), before);
}

} // namespace
