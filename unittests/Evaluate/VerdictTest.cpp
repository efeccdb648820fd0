//===- VerdictTest.cpp - Numbers, tiles and bounds ------------------------===//

#include "kernelbrain/Evaluate/Device/Verdict.h"

#include "kernelbrain/Evaluate/Device/InputSets.h"
#include "kernelbrain/Evaluate/Device/Numbers.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace kernelbrain;
using namespace kernelbrain::evaluate;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

TEST(Numbers, RoundToNearestEven) {
  EXPECT_EQ(roundTo(ElementType::BF16, 1 + 0x1p-8), 1);
  EXPECT_EQ(roundTo(ElementType::BF16, 1 + 0x1.8p-7), 1 + 0x1p-6);
  EXPECT_EQ(roundTo(ElementType::F16, 65519), 65504);
  EXPECT_EQ(roundTo(ElementType::F16, 65520), infinity);
  EXPECT_EQ(roundTo(ElementType::F16, -0x1p-25), 0);
  EXPECT_TRUE(std::signbit(roundTo(ElementType::F16, -0x1p-26)));
  EXPECT_EQ(roundTo(ElementType::F16, 0x1.8p-25), 0x1p-24);
  // One rounding, not two: through f32 this would be a tie, and round down.
  EXPECT_EQ(roundTo(ElementType::BF16, 1 + 0x1p-8 + 0x1p-40), 1 + 0x1p-7);
  EXPECT_EQ(roundTo(ElementType::F32, 1e40), infinity);
}

TEST(Numbers, StoreAndLoadAgree) {
  for (ElementType type : {ElementType::F16, ElementType::BF16,
                           ElementType::F32, ElementType::F64}) {
    char data[16];
    for (double value : {0.0, -0.0, 1.0, -1.5, 0x1p-14, 0x1.5p-16, 3e38, 1e-40,
                         infinity, -infinity}) {
      storeFloat(type, data, 1, value);
      EXPECT_EQ(loadFloat(type, data, 1), roundTo(type, value))
          << toString(type) << " " << value;
    }
    storeFloat(type, data, 1, notANumber);
    EXPECT_TRUE(std::isnan(loadFloat(type, data, 1)));
  }
  char data[16];
  for (ElementType type : {ElementType::I8, ElementType::I16, ElementType::I32,
                           ElementType::I64, ElementType::Index}) {
    storeInteger(type, data, 1, -77);
    EXPECT_EQ(loadInteger(type, data, 1), -77);
  }
}

TEST(Numbers, Ulp) {
  EXPECT_EQ(ulpAt(ElementType::F32, 1.5), 0x1p-23);
  EXPECT_EQ(ulpAt(ElementType::F32, 0), 0x1p-149);
  EXPECT_EQ(ulpAt(ElementType::BF16, 256), 2);
}

TEST(Tiles, CoverEveryElementOnce) {
  for (std::vector<int64_t> extents : {std::vector<int64_t>{},
                                       {5},
                                       {3000},
                                       {70, 45},
                                       {3, 40, 33},
                                       {100, 4},
                                       {0, 7},
                                       {64, 0}}) {
    TileGrid grid(extents);
    std::vector<int> seen(size_t(grid.elements), 0);
    for (int64_t tile = 0; tile < grid.tiles(); ++tile)
      for (int64_t row = 0; row < TileGrid::edge; ++row) {
        TileGrid::Run run = grid.run(tile, row);
        for (int64_t k = 0; k < run.count; ++k)
          ++seen[size_t(run.begin + k)];
      }
    for (int count : seen)
      EXPECT_EQ(count, 1);
  }
}

TEST(Tiles, ASampleHasTheCorners) {
  TileGrid grid({4096, 1024});
  std::vector<int64_t> tiles = chooseTiles(grid, 64, 1);
  EXPECT_GE(tiles.size(), 64u);
  EXPECT_LT(tiles.size(), 200u);
  for (int64_t corner :
       {int64_t(0), int64_t(31), grid.tiles() - 32, grid.tiles() - 1})
    EXPECT_TRUE(std::count(tiles.begin(), tiles.end(), corner)) << corner;
  EXPECT_EQ(chooseTiles(grid, 0, 1).size(), size_t(grid.tiles()));
}

/// An f32 output of 64 x 64 whose reference is `reference`.
OutputReference makeReference(const std::vector<double> &reference,
                              ElementType type = ElementType::F32,
                              double lostAbove = 0) {
  OutputReference output;
  output.argument.type = type;
  output.argument.isOutput = true;
  output.extents = {64, 64};
  output.lostAbove = lostAbove;
  output.tiles = chooseTiles(TileGrid(output.extents), 0, 1);
  takeReference(output, isFloat(type) ? ElementType::F64 : type,
                reference.data());
  return output;
}

std::vector<double> ramp() {
  std::vector<double> values(64 * 64);
  for (size_t k = 0; k < values.size(); ++k)
    values[k] = 1 + double(k) / 3000;
  return values;
}

std::vector<float> rounded(const std::vector<double> &values) {
  return {values.begin(), values.end()};
}

TEST(Judge, TheRoundedReferenceHasNoError) {
  OutputReference output = makeReference(ramp());
  std::vector<float> exact = rounded(ramp());
  takeBaseline(output, exact.data());
  Judgement judgement = judge(output, exact.data());
  EXPECT_EQ(judgement.error, 0);
  EXPECT_TRUE(judgement.reason.empty());
}

TEST(Judge, AFewUlpsPassAndMoreDoNot) {
  OutputReference output = makeReference(ramp());
  std::vector<float> values = rounded(ramp());
  takeBaseline(output, values.data());
  values[100] += 4 * 0x1p-23f;
  EXPECT_TRUE(judge(output, values.data()).reason.empty());
  values[100] += 40 * 0x1p-23f;
  Judgement judgement = judge(output, values.data());
  EXPECT_GT(judgement.error, 1);
  EXPECT_NE(judgement.reason.find("element (1, 36)"), std::string::npos)
      << judgement.reason;
}

TEST(Judge, TheBaselinesErrorWidensTheBound) {
  OutputReference output = makeReference(ramp());
  std::vector<float> values = rounded(ramp());
  for (float &value : values)
    value *= 1 + 20 * 0x1p-23f;
  takeBaseline(output, values.data());
  values[7] *= 1 + 8 * 0x1p-23f;
  EXPECT_TRUE(judge(output, values.data()).reason.empty());
  values[7] *= 1 + 80 * 0x1p-23f;
  EXPECT_FALSE(judge(output, values.data()).reason.empty());
}

TEST(Judge, AnotherAlgorithmMayRoundElsewhere) {
  OutputReference output = makeReference(ramp());
  std::vector<float> values = rounded(ramp());
  std::vector<double> lower = ramp();
  for (double &value : lower)
    value *= 1 + 0x1p-11;
  takeLower(output, ElementType::F64, lower.data());
  takeBaseline(output, values.data());
  values[100] += 40 * 0x1p-23f;
  EXPECT_FALSE(judge(output, values.data()).reason.empty());
  EXPECT_TRUE(judge(output, values.data(), /*rewritten=*/true).reason.empty());
  values[100] += 200 * 0x1p-23f;
  EXPECT_FALSE(judge(output, values.data(), /*rewritten=*/true).reason.empty());
}

TEST(Judge, ClassesComeFirst) {
  std::vector<double> reference = ramp();
  reference[3] = notANumber;
  reference[4] = infinity;
  reference[5] = 3.5e38; // rounds to infinity
  OutputReference output = makeReference(reference);
  std::vector<float> values = rounded(reference);
  takeBaseline(output, values.data());
  EXPECT_TRUE(judge(output, values.data()).reason.empty());
  for (auto [at, wrong] : {std::pair<int, double>{3, 0.0},
                           {4, notANumber},
                           {4, -infinity},
                           {9, notANumber},
                           {9, infinity}}) {
    std::vector<float> changed = values;
    changed[size_t(at)] = float(wrong);
    EXPECT_FALSE(judge(output, changed.data()).reason.empty()) << at;
  }
}

TEST(Judge, WhatTheBaselineOverflowsIsRightEitherWay) {
  OutputReference output = makeReference(ramp());
  std::vector<float> values = rounded(ramp());
  values[9] = float(infinity);
  takeBaseline(output, values.data());
  EXPECT_TRUE(judge(output, values.data()).reason.empty());
  EXPECT_TRUE(judge(output, rounded(ramp()).data()).reason.empty());
  values[9] = float(notANumber);
  EXPECT_FALSE(judge(output, values.data()).reason.empty());
}

TEST(Judge, OneWrongTileDoesNotDrown) {
  OutputReference output = makeReference(ramp());
  std::vector<float> values = rounded(ramp());
  takeBaseline(output, values.data());
  for (int row = 32; row < 64; ++row)
    for (int column = 0; column < 32; ++column)
      values[size_t(row * 64 + column)] = 0;
  EXPECT_GT(judge(output, values.data()).error, 1000);
}

/// Rows 8 to 15 are 2^100 times as large as the others.
std::vector<double> rampWithLargeRows() {
  std::vector<double> values = ramp();
  for (size_t k = 8 * 64; k < 16 * 64; ++k)
    values[k] *= 0x1p100;
  return values;
}

TEST(Judge, AtTheLimitsEveryRowStandsForItself) {
  std::vector<double> reference = rampWithLargeRows();
  OutputReference output = makeReference(reference, ElementType::F32, 0x1p-18);
  std::vector<float> values = rounded(reference);
  takeBaseline(output, values.data());
  EXPECT_TRUE(judge(output, values.data()).reason.empty());
  values[3] = 0; // nothing beside the large rows of its tile
  EXPECT_GT(judge(output, values.data()).error, 1000);
}

TEST(Judge, AtTheLimitsAVariantMayBeAsWrongAsTheBaseline) {
  std::vector<double> reference = rampWithLargeRows();
  OutputReference output = makeReference(reference, ElementType::F32, 0x1p-18);
  std::vector<float> right = rounded(reference), baseline = right;
  for (size_t k = 8 * 64; k < 16 * 64; ++k)
    baseline[k] = 0; // as with the inverse of an infinite sum
  baseline[20 * 64] = float(notANumber);
  takeBaseline(output, baseline.data());
  EXPECT_TRUE(judge(output, baseline.data()).reason.empty());
  EXPECT_TRUE(judge(output, right.data()).reason.empty());
  // An infinity where the baseline has the difference of two.
  baseline[20 * 64] = float(infinity);
  EXPECT_TRUE(judge(output, baseline.data()).reason.empty());
  // But not elsewhere, and with no infinity where the baseline has none.
  std::vector<float> zeroElsewhere = baseline;
  zeroElsewhere[17 * 64] = 0;
  EXPECT_FALSE(judge(output, zeroElsewhere.data()).reason.empty());
  baseline[8 * 64] = float(infinity);
  EXPECT_FALSE(judge(output, baseline.data()).reason.empty());
  EXPECT_FALSE(boundOf(output).hasPower);
}

TEST(Judge, AtTheLimitsFewLargeElementsAreNoMeasure) {
  std::vector<double> reference = ramp();
  for (size_t k = 0; k < 64; k += 16)
    reference[k] *= 0x1p20;
  OutputReference output = makeReference(reference, ElementType::F32, 0x1p-18);
  std::vector<float> values = rounded(reference), baseline = values;
  baseline[16] *= 1 + 0x1p-20f; // within `lostAbove`
  takeBaseline(output, baseline.data());
  EXPECT_EQ(output.baseline.largest, 0);
  values[0] *= 1 + 0x1.8p-20f;
  EXPECT_TRUE(judge(output, values.data()).reason.empty());
  values[0] = 0;
  EXPECT_FALSE(judge(output, values.data()).reason.empty());
}

TEST(Judge, WhatTheTypeCannotHoldIsNoScale) {
  std::vector<double> reference = ramp();
  reference[3] = 0x1p200;
  OutputReference output = makeReference(reference);
  std::vector<float> values = rounded(reference);
  takeBaseline(output, values.data());
  values[4] = 0;
  EXPECT_FALSE(judge(output, values.data()).reason.empty());
}

TEST(Judge, AFlushedSubnormalIsWrong) {
  std::vector<double> reference = ramp();
  for (double &value : reference)
    value *= 0x1p-140;
  OutputReference output = makeReference(reference);
  std::vector<float> values = rounded(reference);
  takeBaseline(output, values.data());
  values[5] += 0x1p-149f;
  EXPECT_TRUE(judge(output, values.data()).reason.empty());
  values[5] = 0;
  EXPECT_FALSE(judge(output, values.data()).reason.empty());
}

TEST(Judge, LowerPrecisionIsToldApart) {
  OutputReference output = makeReference(ramp());
  takeBaseline(output, rounded(ramp()).data());
  std::vector<double> moved = ramp();
  for (double &value : moved)
    value *= 1 + 0x1p-12;
  takeLower(output, ElementType::F64, moved.data());
  EXPECT_TRUE(boundOf(output).hasPower);
  // With a baseline as bad as that, nothing can be told.
  takeBaseline(output, rounded(moved).data());
  EXPECT_FALSE(boundOf(output).hasPower);
}

TEST(Judge, NarrowOutputsAreJudgedByTheShareOfRoundings) {
  OutputReference output = makeReference(ramp(), ElementType::BF16);
  std::vector<uint16_t> values(64 * 64);
  for (size_t k = 0; k < values.size(); ++k)
    storeFloat(ElementType::BF16, values.data(), int64_t(k), ramp()[k]);
  takeBaseline(output, values.data());
  EXPECT_TRUE(judge(output, values.data()).reason.empty());
  for (size_t k = 0; k < values.size(); k += 5)
    ++values[k]; // by one unit, as an accumulator in bf16 would
  Judgement judgement = judge(output, values.data());
  EXPECT_NE(judgement.reason.find("share"), std::string::npos);
  EXPECT_GT(judgement.error, 1);
}

TEST(Judge, IntegersAreEqual) {
  OutputReference output;
  output.argument.type = ElementType::I32;
  output.extents = {40};
  output.tiles = chooseTiles(TileGrid(output.extents), 0, 1);
  std::vector<int32_t> values(40, 7);
  takeReference(output, ElementType::I32, values.data());
  EXPECT_TRUE(judge(output, values.data()).reason.empty());
  values[39] = 8;
  EXPECT_EQ(judge(output, values.data()).reason,
            "element (39) is 8, expected 7");
}

TEST(Judge, IntegersMayBeTheBaselinesOrThoseOfATie) {
  OutputReference output;
  output.argument.type = ElementType::I32;
  output.extents = {40};
  output.tiles = chooseTiles(TileGrid(output.extents), 0, 1);
  std::vector<int64_t> reference(40, 7);
  takeReference(output, ElementType::I64, reference.data());
  reference[5] = 9; // with the inputs moved
  takeAlternatives(output, ElementType::I64, reference.data());
  std::vector<int32_t> values(40, 7);
  values[39] = -1;
  takeBaseline(output, values.data());
  EXPECT_TRUE(judge(output, values.data()).reason.empty());
  values[5] = 9;
  EXPECT_TRUE(judge(output, values.data()).reason.empty());
  values[39] = 9; // only the other element's
  EXPECT_FALSE(judge(output, values.data()).reason.empty());
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

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
