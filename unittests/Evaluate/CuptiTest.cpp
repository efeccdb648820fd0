//===- CuptiTest.cpp ------------------------------------------------------===//

#include "kernelbrain/Evaluate/Device/Cupti.h"

#include <gtest/gtest.h>

#ifdef KB_TEST_CUPTI_HEADERS
#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#endif

using namespace kernelbrain;
using namespace kernelbrain::evaluate;

namespace {

/// A variable of the environment for as long as it lives.
class Setting {
public:
  Setting(const char *name, const std::string &value) : name(name) {
    ::setenv(name, value.c_str(), 1);
  }
  ~Setting() { ::unsetenv(name); }

private:
  const char *name;
};

/// Calls made by one count of all metrics of the fake.
struct Counted {
  int prepared = 0, called = 0;
  Result<std::vector<double>> values = Error{};
  std::vector<std::string> metrics;

  explicit Counted(int32_t status = 0) {
    Result<Cupti> cupti = Cupti::open();
    if (!cupti) {
      values = cupti.error();
      return;
    }
    Result<std::string> chip = cupti->chipOf(0);
    metrics = *cupti->metricsOf(*chip);
    int context = 0;
    Result<std::unique_ptr<CounterSession>> session =
        CounterSession::open(*cupti, *chip, metrics, &context);
    if (!session) {
      values = session.error();
      return;
    }
    for (int k = 0; k < 2; ++k) // A session counts more than once.
      values = (*session)->count([&] { ++prepared; },
                                 [&] {
                                   ++called;
                                   return status;
                                 });
  }
};

} // namespace

TEST(Cupti, CountsInPasses) {
  Setting library("KB_CUPTI", KB_FAKE_CUPTI);
  Counted counted;
  ASSERT_TRUE(counted.values) << counted.values.error().message;
  EXPECT_EQ(counted.prepared, 6);
  EXPECT_EQ(counted.called, 6);
  EXPECT_EQ(counted.values->size(), counted.metrics.size());
  // A name that the chip has stands in for one that it has not.
  EXPECT_EQ(counted.metrics[1], "dram__bytes_op_read.sum");
  Profile profile = profileOf(counted.metrics, *counted.values);
  EXPECT_EQ(profile.value(counter::profiledTime), 0.0);
  EXPECT_EQ(profile.value(counter::dramReadBytes), 1.0);
  EXPECT_EQ(profile.stalls.count("barrier"), 1u);
  EXPECT_EQ(profile.stalls.count("gmma"), 0u);
}

TEST(Cupti, SharesOfPasses) {
  Profile profile =
      profileOf({"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
                 "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"},
                {30, 40});
  EXPECT_EQ(profile.value(counter::conflictPercent), 75.0);
  EXPECT_EQ(profile.values.size(), 1u);
  Profile none =
      profileOf({"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
                 "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"},
                {0, 0});
  EXPECT_TRUE(none.values.empty()); // no shared memory: nothing to say
}

TEST(Cupti, SaysWhyThereAreNoCounters) {
  Setting library("KB_CUPTI", KB_FAKE_CUPTI);
  for (const char *function : {"enable", "setConfig"}) {
    Setting refuses("KB_FAKE_CUPTI_REFUSES", function);
    Counted counted;
    ASSERT_FALSE(counted.values);
    EXPECT_NE(counted.values.error().message.find("may not read counters"),
              std::string::npos);
    EXPECT_EQ(counted.called, 0);
  }
  Result<std::vector<std::string>> other =
      Cupti::open()->metricsOf("another chip");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message, "hostInitialize: words of the library");
}

TEST(Cupti, ACallThatFails) {
  Setting library("KB_CUPTI", KB_FAKE_CUPTI);
  Counted counted(7);
  ASSERT_FALSE(counted.values);
  EXPECT_EQ(counted.values.error().message, "the call returned status 7");
  EXPECT_EQ(counted.called, 2); // not for the passes that are left
}

TEST(Cupti, NoLibrary) {
  {
    Setting library("KB_CUPTI", "/nonexistent/libcupti.so");
    Counted counted;
    ASSERT_FALSE(counted.values);
    EXPECT_NE(counted.values.error().message.find("/nonexistent/libcupti.so"),
              std::string::npos);
  }
  // A library without the functions.
  Setting library("KB_CUPTI", "libm.so.6");
  Counted counted;
  ASSERT_FALSE(counted.values);
  EXPECT_NE(counted.values.error().message.find("cuptiProfilerInitialize"),
            std::string::npos);
}

TEST(Cupti, KnowsMetricsOfRealChips) {
  Result<Cupti> cupti = Cupti::open();
  if (!cupti)
    GTEST_SKIP() << cupti.error().message;
  for (const char *chip : {"GA100", "AD102", "GH100"}) {
    Result<std::vector<std::string>> metrics = cupti->metricsOf(chip);
    ASSERT_TRUE(metrics) << metrics.error().message;
    EXPECT_GE(metrics->size(), 26u) << chip;
    Result<int64_t> passes = cupti->passes(chip, *metrics);
    ASSERT_TRUE(passes) << passes.error().message;
    EXPECT_GT(*passes, 0);
    EXPECT_LE(*passes, 16) << chip; // each is a call of the kernel
  }
}

#ifdef KB_TEST_CUPTI_HEADERS
#define KB_EXPECT_LAYOUT(ours, oursLast, theirs)                               \
  EXPECT_EQ(KB_CUPTI_SIZE(cupti::ours, oursLast), theirs##_STRUCT_SIZE)

TEST(Cupti, LayoutsAreThoseOfTheToolkit) {
  KB_EXPECT_LAYOUT(Initialize, reserved, CUpti_Profiler_Initialize_Params);
  KB_EXPECT_LAYOUT(ChipName, name, CUpti_Device_GetChipName_Params);
  KB_EXPECT_LAYOUT(HostInitialize, host, CUpti_Profiler_Host_Initialize_Params);
  KB_EXPECT_LAYOUT(HostDeinitialize, host,
                   CUpti_Profiler_Host_Deinitialize_Params);
  KB_EXPECT_LAYOUT(MetricProperties, type,
                   CUpti_Profiler_Host_GetMetricProperties_Params);
  KB_EXPECT_LAYOUT(AddMetrics, count,
                   CUpti_Profiler_Host_ConfigAddMetrics_Params);
  KB_EXPECT_LAYOUT(ConfigSize, bytes,
                   CUpti_Profiler_Host_GetConfigImageSize_Params);
  KB_EXPECT_LAYOUT(ConfigImage, image,
                   CUpti_Profiler_Host_GetConfigImage_Params);
  KB_EXPECT_LAYOUT(PassCount, passes,
                   CUpti_Profiler_Host_GetNumOfPasses_Params);
  KB_EXPECT_LAYOUT(Evaluate, values,
                   CUpti_Profiler_Host_EvaluateToGpuValues_Params);
  KB_EXPECT_LAYOUT(RangeEnable, range, CUpti_RangeProfiler_Enable_Params);
  KB_EXPECT_LAYOUT(RangeOnly, range, CUpti_RangeProfiler_Disable_Params);
  KB_EXPECT_LAYOUT(RangeOnly, range, CUpti_RangeProfiler_Start_Params);
  KB_EXPECT_LAYOUT(RangeOnly, range, CUpti_RangeProfiler_PopRange_Params);
  KB_EXPECT_LAYOUT(CounterSize, bytes,
                   CUpti_RangeProfiler_GetCounterDataSize_Params);
  KB_EXPECT_LAYOUT(CounterInitialize, counters,
                   CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
  KB_EXPECT_LAYOUT(SetConfig, targetNestingLevel,
                   CUpti_RangeProfiler_SetConfig_Params);
  KB_EXPECT_LAYOUT(PushRange, name, CUpti_RangeProfiler_PushRange_Params);
  KB_EXPECT_LAYOUT(RangeStop, allPasses, CUpti_RangeProfiler_Stop_Params);
  KB_EXPECT_LAYOUT(Decode, dropped, CUpti_RangeProfiler_DecodeData_Params);
  EXPECT_EQ(offsetof(cupti::SetConfig, pass),
            offsetof(CUpti_RangeProfiler_SetConfig_Params, passIndex));
  EXPECT_EQ(offsetof(cupti::SetConfig, rangeMode),
            offsetof(CUpti_RangeProfiler_SetConfig_Params, range));
  EXPECT_EQ(offsetof(cupti::RangeStop, allPasses),
            offsetof(CUpti_RangeProfiler_Stop_Params, isAllPassSubmitted));
  EXPECT_EQ(int(cupti::rangeProfiler), int(CUPTI_PROFILER_TYPE_RANGE_PROFILER));
  EXPECT_EQ(int(cupti::userRange), int(CUPTI_UserRange));
  EXPECT_EQ(int(cupti::userReplay), int(CUPTI_UserReplay));
  EXPECT_EQ(int(cupti::insufficientPrivileges),
            int(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES));
}
#endif
