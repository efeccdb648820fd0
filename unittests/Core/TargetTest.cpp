//===- TargetTest.cpp - Devices -------------------------------------------===//

#include "kernelbrain/Core/Target.h"

#include <gtest/gtest.h>

using namespace kernelbrain;

TEST(Target, RoundTrips) {
  Target target;
  target.chip = "znver4";
  target.features = {"aes", "avx2", "avx512f", "fma"};
  target.threads = 2;
  target.clockHz = 3.7e9;
  Result<Target> back = targetFromJson(*parseJson(dumpJson(toJson(target))));
  ASSERT_TRUE(back);
  EXPECT_TRUE(*back == target);
  back->l2Bytes = 1;
  EXPECT_FALSE(*back == target);
  EXPECT_FALSE(targetFromJson({{"kind", "host"}}));
}

TEST(Target, VectorsFollowFeatures) {
  Target target;
  EXPECT_EQ(target.vectorBytes(), 16);
  target.features = {"avx2"};
  EXPECT_EQ(target.vectorBytes(), 32);
  target.features = {"avx2", "avx512f"};
  EXPECT_EQ(target.vectorBytes(), 64);
}

TEST(Target, TheKeyHoldsWhatChangesCode) {
  Target target;
  target.chip = "znver4";
  target.features = {"aes", "avx2", "fma"};
  EXPECT_EQ(target.key(), "host/znver4/avx2,fma");
  Target sibling = target;
  sibling.features = {"avx2", "fma", "sha"};
  EXPECT_EQ(sibling.key(), target.key());
  sibling.features = {"fma"};
  EXPECT_NE(sibling.key(), target.key());
  sibling = target;
  sibling.chip = "skylake";
  EXPECT_NE(sibling.key(), target.key());
}
