//===- EmulatorTest.cpp - Device code on the host's CPU -------------------===//

#include "EmulatedCuda.h"

#include "kernelbrain/Runtime/CudaRuntime.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstdint>
#include <fstream>
#include <numeric>

// The driver's own functions.
extern "C" int cuEventCreate(void **event, unsigned flags);
extern "C" int cuEventRecord(void *event, void *stream);
extern "C" int cuEventElapsedTime(float *milliseconds, void *start, void *end);
extern "C" int cuEventDestroy_v2(void *event);

namespace {

using Words = std::vector<int32_t>;

class EmulatorTest : public ::testing::Test {
protected:
  EmulatorTest() {
    *emulatedCuda() = EmulatedCuda();
    std::ifstream file(KB_DEVICE_IMAGE, std::ios::binary);
    image.assign(std::istreambuf_iterator<char>(file), {});
    module = {image.data(), nullptr};
  }
  ~EmulatorTest() override { EXPECT_EQ(kbcuFree(memory, nullptr), 0); }

  /// The launch's status, or the stream's.
  int32_t run(const char *name, uint32_t grid, uint32_t block,
              std::vector<void *> parameters, uint32_t sharedBytes = 0) {
    kbcuKernel kernel = {&module, name, nullptr, int32_t(sharedBytes)};
    kbcuShape shape = {{grid, 1, 1}, {block, 1, 1}, {0, 0, 0}, sharedBytes};
    int32_t status = kbcuLaunch(&kernel, &shape, nullptr, parameters.data());
    return status ? status : kbcuSynchronize(nullptr);
  }
  void allocate(size_t words) {
    ASSERT_EQ(kbcuAllocate(&memory, int64_t(4 * words), nullptr), 0);
    result.assign(words, 0);
  }
  const Words &copyBack() {
    EXPECT_EQ(
        kbcuCopy(result.data(), memory, int64_t(4 * result.size()), nullptr),
        0);
    return result;
  }

  std::string image;
  kbcuModule module;
  void *memory = nullptr;
  Words result;
};

TEST_F(EmulatorTest, EveryThreadOfEveryBlockRuns) {
  allocate(3000);
  ASSERT_EQ(run("iota", 3, 1000, {&memory}), 0);
  Words expected(3000);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(copyBack(), expected);
}

TEST_F(EmulatorTest, BarriersOrderSharedMemory) {
  allocate(2048);
  ASSERT_EQ(run("reverse", 2, 1024, {&memory}, 4096), 0);
  copyBack();
  EXPECT_EQ(result[0], 1023);
  EXPECT_EQ(result[1023], 0);
  EXPECT_EQ(result[1024], 2023);
}

TEST_F(EmulatorTest, WarpsShuffle) {
  allocate(64);
  ASSERT_EQ(run("warpSum", 1, 64, {&memory}), 0);
  copyBack();
  EXPECT_EQ(result[5], 31 * 32 / 2);
  EXPECT_EQ(result[40], 31 * 32 / 2 + 32 * 32);
  allocate(16);
  int32_t mode = 1, operand = 3;
  ASSERT_EQ(run("shuffle", 1, 16, {&memory, &mode, &operand}), 0);
  EXPECT_EQ(copyBack(), Words({3, 4, 5, 6, 7, -5, -6, -7, 11, 12, 13, 14, 15,
                               -13, -14, -15}));
  mode = 2;
  ASSERT_EQ(run("shuffle", 1, 16, {&memory, &mode, &operand}), 0);
  EXPECT_EQ(copyBack(),
            Words({0, -1, -2, 0, 1, 2, 3, 4, -8, -9, -10, 8, 9, 10, 11, 12}));
}

TEST_F(EmulatorTest, ABarrierDoesNotWaitForThreadsThatEnded) {
  allocate(8);
  ASSERT_EQ(run("leaves", 1, 8, {&memory}), 0);
  EXPECT_EQ(copyBack(), Words({1, -1, 1, -1, 1, -1, 1, -1}));
}

TEST_F(EmulatorTest, EventsTellTheTimeOfAModel) {
  allocate(3000);
  auto nanoseconds = [&](uint32_t grid, uint32_t block) {
    void *events[2];
    float milliseconds = 0;
    for (void *&event : events) {
      EXPECT_EQ(cuEventCreate(&event, 0), 0);
      EXPECT_EQ(cuEventRecord(event, nullptr), 0);
      if (&event == events)
        EXPECT_EQ(run("iota", grid, block, {&memory}), 0);
    }
    EXPECT_EQ(cuEventElapsedTime(&milliseconds, events[0], events[1]), 0);
    for (void *event : events)
      EXPECT_EQ(cuEventDestroy_v2(event), 0);
    return std::lround(milliseconds * 1e6f);
  };
  // A launch, and one turn a thread.
  EXPECT_EQ(nanoseconds(1, 1000), 4050);
  EXPECT_EQ(nanoseconds(3, 1000), 4150);
}

TEST_F(EmulatorTest, LimitsOfALaunch) {
  EXPECT_EQ(run("k", 1, 1025, {}), 1001);
  EXPECT_EQ(run("k", 1, 1, {}, 160 << 10), 0);
  EXPECT_EQ(run("k", 1, 1, {}, 200 << 10), 1001);
  EXPECT_EQ(run("none", 1, 1, {}), 1500);
  std::string text = "no image";
  module = {text.data(), nullptr};
  EXPECT_EQ(run("k", 1, 1, {}), 1200);
}

/// Faults last for the life of a process.
class EmulatorDeathTest : public EmulatorTest {
protected:
  [[noreturn]] void exitWith(int32_t status) {
    // Sticky: nothing works any more.
    if (run("k", 1, 1, {}) != status)
      status = -1;
    std::fprintf(stderr, "status %d", status);
    std::exit(0);
  }
};

TEST_F(EmulatorDeathTest, FaultsAreSticky) {
  allocate(256);
  int64_t inside = 1023, behind = 1024;
  EXPECT_EQ(run("writesBehind", 1, 32, {&memory, &inside}), 0);
  EXPECT_EXIT(exitWith(run("writesBehind", 1, 32, {&memory, &behind})),
              ::testing::ExitedWithCode(0), "status 1700");
  EXPECT_EXIT(exitWith(run("overflowsStack", 1, 2, {})),
              ::testing::ExitedWithCode(0), "status 1700");
  EXPECT_EXIT(exitWith(run("traps", 2, 32, {})), ::testing::ExitedWithCode(0),
              "status 1719");
  EXPECT_EXIT(exitWith(run("deadlock", 1, 32, {})),
              ::testing::ExitedWithCode(0), "status 1719");
  int32_t last = 1023, over = 1024;
  EXPECT_EQ(run("overrunsShared", 1, 1, {&last}, 1024), 0);
  EXPECT_EXIT(exitWith(run("overrunsShared", 1, 1, {&over}, 1024)),
              ::testing::ExitedWithCode(0), "status 1700");
}

} // namespace
