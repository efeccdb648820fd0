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

TEST(Judge, AtTheLimitsLostRowsMayBeFourTimesAsWrong) {
  std::vector<double> reference = rampWithLargeRows();
  OutputReference output = makeReference(reference, ElementType::F32, 0x1p-18);
  std::vector<float> right = rounded(reference), baseline = right, off = right;
  baseline[8 * 64] *= 1 + 0x1p-10f;
  takeBaseline(output, baseline.data());
  off[8 * 64] *= 1 + 3.9f * 0x1p-10f;
  EXPECT_EQ(judge(output, off.data()).reason, "");
  off[8 * 64] = right[8 * 64] * (1 + 4.2f * 0x1p-10f);
  EXPECT_NE(judge(output, off.data()).reason.find("the baseline is lost"),
            std::string::npos);
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

TEST(Judge, TheErrorOfOneValueIsLuck) {
  // Inputs without repetition: the baseline is off by 30 units here and there.
  OutputReference usual = makeReference(ramp());
  std::vector<float> values = rounded(ramp());
  values[100] += 30 * 0x1p-23f;
  takeBaseline(usual, values.data());
  std::vector<double> moved = ramp();
  moved[7] += 0x1p-10;
  takeLower(usual, ElementType::F64, moved.data());
  // Inputs that give one value all over, of which the baseline is right; they
  // amplify changes twice as much.
  std::vector<double> same(64 * 64, 1.5);
  OutputReference repeated = makeReference(same);
  std::vector<float> exact = rounded(same), off = exact;
  takeBaseline(repeated, exact.data());
  double scale = usual.scales[0] / repeated.scales[0];
  moved = same;
  moved[7] += 2 * 0x1p-10 / scale;
  takeLower(repeated, ElementType::F64, moved.data());
  for (float &value : off)
    value += 20 * 0x1p-23f;
  Judgement before = judge(repeated, off.data());
  EXPECT_NE(before.reason.find("times the bound"), std::string::npos);
  takeUsualError(repeated, usual);
  EXPECT_EQ(judge(repeated, off.data()).reason, "");
  for (float &value : off)
    value += 100 * 0x1p-23f;
  EXPECT_NE(judge(repeated, off.data()).reason, "");
}

TEST(Judge, OutputsOfFewElementsAreJudgedByAllSets) {
  // One number a set; the baseline was off by chance in the second one only.
  auto scalar = [](double value, float baseline, double moved) {
    OutputReference output;
    output.argument.type = ElementType::F32;
    output.argument.isOutput = true;
    output.tiles = {0};
    takeReference(output, ElementType::F64, &value);
    takeLower(output, ElementType::F64, &moved);
    takeBaseline(output, &baseline);
    return output;
  };
  OutputReference first = scalar(1.5, 1.5f, 1.5 + 0x1p-12);
  OutputReference second = scalar(1.5, 1.5f + 60 * 0x1p-23f, 1.5 + 0x1p-12);
  OutputReference limits = scalar(1.5, 1.5f, 1.5 + 0x1p-12);
  limits.lostAbove = 0x1p-6;
  EXPECT_TRUE(first.hasFewElements());
  EXPECT_FALSE(makeReference(ramp()).hasFewElements());
  float near = 1.5f + 50 * 0x1p-23f, far = 1.5f + 150 * 0x1p-23f;
  EXPECT_NE(judge(first, &near).reason, "");
  shareUsualError({&first, &second, &limits});
  EXPECT_EQ(judge(first, &near).reason, "");
  EXPECT_NE(judge(first, &far).reason, "");
  EXPECT_EQ(limits.baseline.largest, 0);
}

TEST(Judge, TheNormThatFailsIsNamed) {
  OutputReference output = makeReference(ramp());
  std::vector<float> values = rounded(ramp());
  takeBaseline(output, values.data());
  // One element makes the largest error, a whole tile the mean.
  values[100] += 40 * 0x1p-23f;
  EXPECT_NE(judge(output, values.data()).reason.find("times the bound)"),
            std::string::npos);
  output.baseline.largest = 1;
  for (int64_t row = 0; row < 32; ++row)
    for (int64_t column = 0; column < 32; ++column)
      values[size_t(row * 64 + column)] += 40 * 0x1p-23f;
  EXPECT_NE(judge(output, values.data()).reason.find("root mean square"),
            std::string::npos);
}

TEST(Judge, WhatACutOffLeavesIsMeasuredByItsTerms) {
  // max(x, 0) left one small element of a tile: a difference of terms near 1.
  std::vector<double> values = ramp();
  for (int64_t row = 0; row < 32; ++row)
    for (int64_t column = 0; column < 32; ++column)
      values[size_t(row * 64 + column)] = 0;
  values[70] = 1.5e-5;
  OutputReference output = makeReference(values);
  std::vector<float> right = rounded(values), off = right;
  takeBaseline(output, right.data());
  std::vector<double> moved = values;
  moved[71] = 5e-4; // which a small change of the inputs lets through
  takeLower(output, ElementType::F64, moved.data());
  off[70] += 0x1p-26f; // an eighth of a unit of the terms
  EXPECT_EQ(judge(output, off.data()).reason, "");
  off[70] = 0;
  EXPECT_NE(judge(output, off.data()).reason, "");
  // Eight such elements are a tile like others.
  for (size_t k = 71; k < 78; ++k)
    values[k] = 1e-5;
  output = makeReference(values);
  right = off = rounded(values);
  takeBaseline(output, right.data());
  off[70] += 0x1p-26f;
  EXPECT_NE(judge(output, off.data()).reason, "");
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

} // namespace
