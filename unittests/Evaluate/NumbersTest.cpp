//===- NumbersTest.cpp - Floats of every width
//------------------------------===//

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

/// All values of 16 bits and the points between them.
TEST(Numbers, EveryNarrowValue) {
  for (ElementType type : {ElementType::F16, ElementType::BF16}) {
    int finite = type == ElementType::F16 ? 0x7c00 : 0x7f80;
    int wrong = 0;
    for (int bits = 0; bits + 1 < finite; ++bits) {
      uint16_t words[] = {uint16_t(bits), uint16_t(bits + 1)}, stored = 0;
      double low = loadFloat(type, words, 0), high = loadFloat(type, words, 1);
      double middle = low + (high - low) / 2;
      wrong += !(low < high) || roundTo(type, low) != low;
      wrong += roundTo(type, middle) != (bits % 2 ? high : low);
      wrong += roundTo(type, std::nextafter(middle, low)) != low;
      wrong += roundTo(type, -std::nextafter(middle, high)) != -high;
      storeFloat(type, &stored, 0, std::nextafter(middle, low));
      wrong += stored != words[0];
      storeFloat(type, &stored, 0, -high);
      wrong += stored != (words[1] | 0x8000);
      double bulk[2], rounded[2];
      loadFloats(type, words, 0, 2, bulk);
      roundFloats(type, bulk, 2, rounded);
      wrong += bulk[0] != low || rounded[1] != high;
    }
    EXPECT_EQ(wrong, 0) << toString(type);
  }
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

} // namespace
