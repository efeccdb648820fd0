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

TEST(Profile, TheProfilersOwnTimeDoesNotCount) {
  Profile counted = profile({{counter::memoryPercent, 50},
                             {counter::computePercent, 60},
                             {counter::profiledTime, 200}});
  Profile referred = counted;
  referTo(referred, 100);
  EXPECT_EQ(referred.value(counter::memoryPercent), 100.0);
  EXPECT_EQ(referred.value(counter::computePercent), 100.0); // not 120
  EXPECT_EQ(referred.value(counter::time), 100.0);
  // What is not shorter is not believed.
  referTo(counted, 250);
  EXPECT_EQ(counted.value(counter::memoryPercent), 50.0);
}

/// Counters of an H200 (driver 580.159, CUPTI 13.0) for kernels written to have
/// one fault each, and what they take without the profiler.
TEST(Profile, RecordedOnAnH200) {
  struct {
    const char *what;
    double timeNs, least;
    Profile profile;
    Bottleneck bottleneck;
  } recorded[] = {
      {"a copy in 16-byte accesses", 142e3, 536870912,
       profile({{counter::profiledTime, 221568},
                {counter::memoryPercent, 50.66},
                {counter::computePercent, 4.40},
                {counter::dramReadBytes, 268447232},
                {counter::dramWriteBytes, 271567872},
                {counter::occupancyPercent, 90.2},
                {counter::loadSectors, 16},
                {counter::storeSectors, 16}},
               {{"long_scoreboard", 253.7}, {"wait", 1.94}}),
       Bottleneck::MemoryBandwidth},
      {"a copy along the wrong dimension", 2345e3, 536870912,
       profile({{counter::profiledTime, 2453344},
                {counter::memoryPercent, 18.4},
                {counter::computePercent, 1.67},
                {counter::dramReadBytes, 1353409536},
                {counter::dramWriteBytes, 813943808},
                {counter::loadSectors, 32},
                {counter::storeSectors, 32}},
               {{"long_scoreboard", 884.4}, {"lg_throttle", 119.4}}),
       Bottleneck::Coalescing},
      {"256 MB read twice", 136e3, 268435456,
       profile({{counter::profiledTime, 193856},
                {counter::memoryPercent, 60.8},
                {counter::computePercent, 5.84},
                {counter::dramReadBytes, 532912128},
                {counter::dramWriteBytes, 33932800},
                {counter::loadSectors, 16}},
               {{"long_scoreboard", 101.7}, {"wait", 1.5}}),
       Bottleneck::MemoryTraffic},
      {"one warp a multiprocessor", 26e3, 4194304,
       profile({{counter::profiledTime, 84000},
                {counter::memoryPercent, 1.21},
                {counter::computePercent, 0.15},
                {counter::dramReadBytes, 4206336},
                {counter::dramWriteBytes, 675072},
                {counter::occupancyPercent, 1.57},
                {counter::loadSectors, 16.5}},
               {{"long_scoreboard", 60.3}, {"wait", 2.4}}),
       Bottleneck::Occupancy},
      {"32 lanes in one bank", 4164e3, 0,
       profile({{counter::profiledTime, 4222240},
                {counter::memoryPercent, 0.0035},
                {counter::computePercent, 3.71},
                {counter::conflictPercent, 96.9}},
               {{"short_scoreboard", 193.1}, {"mio_throttle", 124.1}}),
       Bottleneck::BankConflicts},
      {"multiplications and additions", 437e3, 0,
       profile({{counter::profiledTime, 478848},
                {counter::memoryPercent, 0.051},
                {counter::computePercent, 53.4}},
               {{"dispatch_stall", 6.9}, {"wait", 1.6}}),
       Bottleneck::Compute},
      {"softmax of 8192x8192 bf16, rows in registers", 69175, 268435456,
       profile({{counter::profiledTime, 111008},
                {counter::memoryPercent, 50.4},
                {counter::computePercent, 35.6},
                {counter::dramReadBytes, 134222592},
                {counter::dramWriteBytes, 134746112},
                {counter::occupancyPercent, 59.9},
                {counter::loadSectors, 16},
                {counter::storeSectors, 16}},
               {{"long_scoreboard", 7.4}, {"barrier", 2.5}, {"wait", 1.5}}),
       Bottleneck::MemoryBandwidth},
      {"the same in three passes of 2-byte accesses", 147264, 268435456,
       profile({{counter::profiledTime, 181632},
                {counter::memoryPercent, 31.2},
                {counter::computePercent, 66.6},
                {counter::dramReadBytes, 134237184},
                {counter::dramWriteBytes, 138408960},
                {counter::occupancyPercent, 93.7},
                {counter::loadSectors, 2},
                {counter::storeSectors, 2},
                {counter::tensorPercent, 3.4}},
               {{"long_scoreboard", 6.1}, {"wait", 1.5}}),
       Bottleneck::Compute},
      {"one thread works, 1024 wait", 205e3, 0,
       profile({{counter::profiledTime, 235904},
                {counter::memoryPercent, 0.031},
                {counter::computePercent, 22.5},
                {counter::occupancyPercent, 50.2}},
               {{"barrier", 16.7}, {"wait", 2.6}, {"short_scoreboard", 2.3}}),
       Bottleneck::Barriers},
  };
  for (auto &kernel : recorded) {
    kernel.profile.values[counter::leastBytes] = kernel.least;
    referTo(kernel.profile, kernel.timeNs);
    Diagnosis found = diagnose(kernel.profile);
    EXPECT_EQ(found.bottleneck, kernel.bottleneck)
        << kernel.what << ": " << describe(found);
  }
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
