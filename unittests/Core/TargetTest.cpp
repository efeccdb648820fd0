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

TEST(Target, GpusRoundTrip) {
  for (const std::string &chip : cudaChips()) {
    Result<Target> target = makeCudaTarget(chip);
    ASSERT_TRUE(target) << chip;
    Json json = toJson(*target);
    Result<Target> back = targetFromJson(*parseJson(dumpJson(json)));
    ASSERT_TRUE(back) << chip;
    EXPECT_TRUE(*back == *target);
    json["gpu"].erase("multiprocessors");
    EXPECT_FALSE(targetFromJson(json));
    json.erase("gpu");
    EXPECT_FALSE(targetFromJson(json)) << "a GPU without limits";
  }
  Result<Target> unknown = makeCudaTarget("sm_1");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("sm_90a"), std::string::npos);
}

TEST(Target, GpusOfOneFamilyHaveItsLimits) {
  for (const char *chip : {"sm_103", "sm_103a"}) {
    Result<Target> target = makeCudaTarget(chip);
    ASSERT_TRUE(target) << chip;
    EXPECT_EQ(target->chip, chip);
    EXPECT_TRUE(*target->gpu == *makeCudaTarget("sm_100a")->gpu);
  }
  for (const char *chip : {"sm_121", "sm_121a"}) {
    Result<Target> target = makeCudaTarget(chip);
    ASSERT_TRUE(target) << chip;
    GpuLimits limits = *makeCudaTarget("sm_120")->gpu;
    limits.multiprocessors = target->gpu->multiprocessors;
    EXPECT_TRUE(*target->gpu == limits);
  }
  EXPECT_FALSE(makeCudaTarget("sm_80a"));
}

TEST(Target, GpusGetCodeThatRunsOnThem) {
  EXPECT_EQ(cudaChipOf(8, 0), "sm_80");
  EXPECT_EQ(cudaChipOf(8, 7), "sm_86"); // none is known for it alone
  EXPECT_EQ(cudaChipOf(9, 0), "sm_90a");
  EXPECT_EQ(cudaChipOf(10, 0), "sm_100a");
  EXPECT_EQ(cudaChipOf(10, 1), "sm_100");
  EXPECT_EQ(cudaChipOf(10, 3), "sm_103a");
  EXPECT_EQ(cudaChipOf(12, 0), "sm_120");
  EXPECT_EQ(cudaChipOf(12, 1), "sm_121");
  EXPECT_EQ(cudaChipOf(7, 0), "");
}

TEST(Target, GpusMoveWhatTheirCacheDoesNotHold) {
  Target target = *makeCudaTarget("sm_90a");
  EXPECT_EQ(target.leastNs(double(target.l2Bytes)), 0);
  EXPECT_DOUBLE_EQ(target.leastNs(double(target.l2Bytes) + 4.8e9), 1e6);
}

TEST(Target, VectorsFollowFeatures) {
  Target target;
  EXPECT_EQ(target.vectorBytes(), 16);
  target.features = {"avx2"};
  EXPECT_EQ(target.vectorBytes(), 32);
  target.features = {"avx2", "avx512f"};
  EXPECT_EQ(target.vectorBytes(), 64);
}

TEST(Target, NoBoundIsAboveWhatThePeaksAllow) {
  Target target;
  target.l1Bytes = 32 << 10;
  target.l2Bytes = 1 << 20;
  target.l3Bytes = 32 << 20;
  double rough = target.leastNs(64 << 20);
  target.peak = {200e9, 100e9, 40e9};
  // What is held costs less than the peak of the next level.
  EXPECT_LT(target.leastNs(16 << 10), 100);
  double l2 = target.leastNs(512 << 10), l3 = target.leastNs(16 << 20);
  EXPECT_DOUBLE_EQ(l2, 1e9 * (480 << 10) / 250e9);
  EXPECT_DOUBLE_EQ(l3, 1e9 * ((15 << 20) - (32 << 10)) / 125e9);
  double dram = 1e9 * ((31 << 20) - (32 << 10)) / 50e9;
  EXPECT_DOUBLE_EQ(target.leastNs(64 << 20), dram);
  EXPECT_GT(target.leastNs(64 << 20), rough);
  // What a busy machine measured is not believed.
  target.peak = {3e9, 2e9, 1e9};
  EXPECT_LT(target.leastNs(64 << 20), 1.5e6);
  target.peak = {200e9, 100e9, 40e9};
  // Two cores hold and move twice as much, but for the level they share.
  target.threads = 2;
  EXPECT_LT(target.leastNs(64 << 20), dram / 2);
  EXPECT_GT(target.leastNs(64 << 20), dram / 2.2);
}

TEST(Target, PeaksOutOfOrderAreNoPeaks) {
  PeakBandwidth peak{100e9, 50e9, 20e9};
  Result<PeakBandwidth> back = peakBandwidthFromJson(toJson(peak));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->l3, 50e9);
  peak.dram = 60e9;
  EXPECT_FALSE(peakBandwidthFromJson(toJson(peak)));
  EXPECT_FALSE(peakBandwidthFromJson(toJson(PeakBandwidth{})));
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

TEST(Target, KeyOfAGpuNamesTheProduct) {
  auto target = makeCudaTarget("sm_90a");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->key(),
            "cuda/sm_90a/multiprocessors=132,shared=233472,l2=62914560");
  Target sibling = *target;
  sibling.clockHz = 1e9;
  EXPECT_EQ(sibling.key(), target->key());
  sibling.gpu->multiprocessors = 114;
  EXPECT_NE(sibling.key(), target->key());
}
