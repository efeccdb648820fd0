//===- ProfileTest.cpp ----------------------------------------------------===//

#include "kernelbrain/Core/Profile.h"

#include <gtest/gtest.h>

using namespace kernelbrain;

/// A profile of a call that has to move 100 bytes, with these changes.
static Profile profile(std::map<std::string, double> values,
                       std::map<std::string, double> stalls = {}) {
  Profile made;
  made.values = {
      {counter::memoryPercent, 30},  {counter::computePercent, 20},
      {counter::leastBytes, 100},    {counter::dramReadBytes, 60},
      {counter::dramWriteBytes, 50}, {counter::occupancyPercent, 80}};
  for (const auto &[name, value] : values)
    made.values[name] = value;
  made.stalls = std::move(stalls);
  return made;
}

static Bottleneck bottleneck(const Profile &profile) {
  return diagnose(profile).bottleneck;
}

TEST(Profile, NamesWhatIsUsedMost) {
  EXPECT_EQ(bottleneck(profile({{counter::memoryPercent, 80}})),
            Bottleneck::MemoryBandwidth);
  EXPECT_EQ(bottleneck(profile({{counter::memoryPercent, 95}})),
            Bottleneck::Roofline);
  EXPECT_EQ(bottleneck(profile({{counter::computePercent, 60}})),
            Bottleneck::Compute);
  EXPECT_EQ(bottleneck(profile({{counter::computePercent, 96}})),
            Bottleneck::Roofline);
  EXPECT_EQ(bottleneck(profile(
                {{counter::computePercent, 70}, {counter::tensorPercent, 6}})),
            Bottleneck::TensorPipe);
  EXPECT_EQ(bottleneck(profile(
                {{counter::computePercent, 70}, {counter::tensorPercent, 5}})),
            Bottleneck::Compute);
  EXPECT_DOUBLE_EQ(
      diagnose(profile({{counter::memoryPercent, 80}})).rooflineShare, 0.8);
}

TEST(Profile, BytesThatNeedNotMoveAreNoBandwidth) {
  Profile twice =
      profile({{counter::memoryPercent, 97}, {counter::dramReadBytes, 110}});
  EXPECT_EQ(bottleneck(twice), Bottleneck::MemoryTraffic);
  EXPECT_EQ(describe(diagnose(twice)),
            "excess memory traffic (memory 97% of peak, compute 20% of peak, "
            "moves 1.60 times the bytes it has to)");
  Profile unknown = twice;
  unknown.values.erase(counter::leastBytes);
  // Where it is not known how many have to, none is too many.
  EXPECT_EQ(diagnose(unknown).bottleneck, Bottleneck::Roofline);
}

TEST(Profile, NamesWhatAnUnderusedCallWaitsFor) {
  EXPECT_EQ(bottleneck(profile({{counter::conflictPercent, 50}})),
            Bottleneck::BankConflicts);
  EXPECT_EQ(bottleneck(profile({{counter::storeSectors, 32}})),
            Bottleneck::Coalescing);
  EXPECT_EQ(bottleneck(profile({{counter::loadSectors, 16}})),
            Bottleneck::Underused);
  EXPECT_EQ(bottleneck(profile({}, {{"barrier", 5}, {"wait", 1}})),
            Bottleneck::Barriers);
  EXPECT_EQ(bottleneck(profile({}, {{"mio_throttle", 5}, {"wait", 1}})),
            Bottleneck::SharedMemory);
  EXPECT_EQ(bottleneck(profile({}, {{"math_pipe_throttle", 5}, {"wait", 1}})),
            Bottleneck::Compute);
  EXPECT_EQ(bottleneck(profile({}, {{"long_scoreboard", 5}, {"wait", 1}})),
            Bottleneck::MemoryLatency);
  EXPECT_EQ(bottleneck(profile({{counter::occupancyPercent, 12}},
                               {{"long_scoreboard", 5}, {"wait", 1}})),
            Bottleneck::Occupancy);
  EXPECT_EQ(bottleneck(profile({{counter::occupancyPercent, 12}})),
            Bottleneck::Occupancy);
  // Nothing stands out.
  EXPECT_EQ(bottleneck(profile(
                {}, {{"barrier", 1}, {"wait", 1}, {"drain", 1}, {"x", 1}})),
            Bottleneck::Underused);
  EXPECT_EQ(describe(diagnose(profile({}, {{"barrier", 3}, {"wait", 1}}))),
            "barriers (memory 30% of peak, compute 20% of peak, occupancy 80%, "
            "75% of waiting warps wait for barrier)");
}

TEST(Profile, WithoutCountersNothingIsKnown) {
  Profile none;
  EXPECT_EQ(describe(diagnose(none)), "unknown");
  none.refused = "no libcupti";
  EXPECT_EQ(describe(diagnose(none)), "unknown (no counters)");
}

TEST(Profile, ReportAndModelStandInForCounters) {
  Target target = *makeCudaTarget("sm_90a"); // 4.8 TB/s
  Json launches = {{{"block", {256, 1, 1}},
                    {"registers", 64},
                    {"shared_bytes", 0},
                    {"dynamic_shared_bytes", 0},
                    {"spill_bytes", 0}}};
  Profile half = modelledProfile(launches, target, 4.8e6, 2000, "why");
  // 64 registers for each of 2048 threads are twice what there is.
  EXPECT_EQ(half.value(counter::occupancyPercent), 50.0);
  EXPECT_NEAR(*half.value(counter::memoryPercent), 50, 1e-9);
  EXPECT_EQ(describe(diagnose(half)),
            "underused (no counters, memory 50% of peak, occupancy 50%)");

  launches[0]["dynamic_shared_bytes"] = 100 << 10; // two blocks fit
  launches[0]["spill_bytes"] = 16;
  Profile few = modelledProfile(launches, target, 4.8e6, 2000, "why");
  EXPECT_EQ(few.value(counter::occupancyPercent), 25.0);
  EXPECT_EQ(describe(diagnose(few)),
            "too few warps (no counters, memory 50% of peak, spills 16 bytes, "
            "occupancy 25%)");

  // The launch that fits worst counts; PTX has no report, the host no launches.
  launches.push_back({{"block", {32, 1, 1}}, {"registers", 16}});
  EXPECT_EQ(modelledProfile(launches, target, 1, 1, "why")
                .value(counter::occupancyPercent),
            25.0);
  EXPECT_EQ(modelledProfile({{{"block", {1024}}}}, target, 1, 1, "why")
                .value(counter::occupancyPercent),
            100.0);
  EXPECT_FALSE(modelledProfile(Json(), target, 1, 0, "why")
                   .value(counter::occupancyPercent));
}

TEST(Profile, RoundTrips) {
  Profile made = profile({{counter::time, 1.5}}, {{"barrier", 2}});
  made.refused = "why";
  Result<Profile> read = profileFromJson(toJson(made));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->values, made.values);
  EXPECT_EQ(read->stalls, made.stalls);
  EXPECT_EQ(read->refused, "why");
  Result<Profile> wrong = profileFromJson({{"values", {{"time_ns", "soon"}}}});
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("time_ns"), std::string::npos);
  EXPECT_FALSE(profileFromJson({{"values", 3}}));
}
