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
    return run(name, {{grid, 1, 1}, {block, 1, 1}, {0, 0, 0}, sharedBytes},
               std::move(parameters));
  }
  int32_t run(const char *name, kbcuShape shape,
              std::vector<void *> parameters) {
    kbcuKernel kernel = {&module, name, nullptr, int32_t(shape.sharedBytes)};
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

TEST_F(EmulatorTest, BlocksHaveStaticMemoryOfTheirOwn) {
  allocate(6 * 128);
  ASSERT_EQ(run("staticMemory", 6, 128, {&memory}, 4096), 0);
  Words expected;
  for (int32_t block = 0; block < 6; ++block)
    expected.insert(expected.end(), 128, block);
  EXPECT_EQ(copyBack(), expected);
  // In clusters too.
  ASSERT_EQ(
      run("staticMemory", {{6, 1, 1}, {128, 1, 1}, {3, 1, 1}, 0}, {&memory}),
      0);
  EXPECT_EQ(copyBack(), expected);
}

TEST_F(EmulatorTest, BlocksOfAClusterReadAndWriteEachOthersMemory) {
  int32_t without = 0;
  for (uint32_t size : {1, 2, 4, 8}) {
    allocate(16 * 64);
    ASSERT_EQ(run("passOn", {{16, 1, 1}, {64, 1, 1}, {size, 1, 1}, 0},
                  {&memory, &without}),
              0);
    copyBack();
    for (uint32_t at = 0; at < 16 * 64; ++at)
      ASSERT_EQ(result[at], int32_t((at / 64 + 1) % size * 100 + at % 64))
          << at << " " << size;
    EXPECT_EQ(kbcuFree(memory, nullptr), 0);
    memory = nullptr;
  }
}

TEST_F(EmulatorTest, ThereIsNoResultWithoutTheBarrierBetween) {
  int32_t without = 2;
  allocate(2 * 64);
  ASSERT_EQ(
      run("passOn", {{2, 1, 1}, {64, 1, 1}, {2, 1, 1}, 0}, {&memory, &without}),
      0);
  // The last block to come to the first barrier is the first one to go on.
  EXPECT_EQ(copyBack()[64], -1);
}

TEST_F(EmulatorTest, KernelsKnowTheirClusters) {
  allocate(4 * 4);
  ASSERT_EQ(run("ranks", {{4, 4, 1}, {1, 1, 1}, {0, 0, 0}, 0}, {&memory}), 0);
  EXPECT_EQ(copyBack(),
            Words({0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1, 2, 3, 2, 3}));
  EXPECT_EQ(run("ranks", {{4, 4, 1}, {1, 1, 1}, {2, 2, 1}, 0}, {&memory}), 0);
  // Other clusters than the kernel's, ones that do not divide the grid, and too
  // large ones.
  EXPECT_EQ(run("ranks", {{4, 4, 1}, {1, 1, 1}, {4, 1, 1}, 0}, {&memory}),
            1912);
  EXPECT_EQ(run("ranks", {{4, 3, 1}, {1, 1, 1}, {0, 0, 0}, 0}, {&memory}),
            1912);
  EXPECT_EQ(run("k", {{9, 1, 1}, {1, 1, 1}, {2, 1, 1}, 0}, {}), 1912);
  EXPECT_EQ(run("k", {{16, 1, 1}, {1, 1, 1}, {16, 1, 1}, 0}, {}), 1912);
  EXPECT_EQ(run("k", {{16, 1, 1}, {1, 1, 1}, {8, 0, 1}, 0}, {}), 1912);
  EXPECT_STREQ(kbcuMessage(1912), "cluster misconfiguration");
  EXPECT_EQ(run("k", {{16, 1, 1}, {1, 1, 1}, {8, 1, 1}, 0}, {}), 0);
}

TEST_F(EmulatorTest, AClusterDoesNotWaitForThreadsThatEnded) {
  allocate(8);
  ASSERT_EQ(
      run("leavesCluster", {{2, 1, 1}, {4, 1, 1}, {2, 1, 1}, 0}, {&memory}), 0);
  EXPECT_EQ(copyBack(), Words({1, -1, -1, 1, 1, -1, -1, 1}));
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
  last = 127, over = 128;
  EXPECT_EQ(run("overrunsStatic", 1, 1, {&last}), 0);
  EXPECT_EXIT(exitWith(run("overrunsStatic", 1, 1, {&over})),
              ::testing::ExitedWithCode(0), "status 1700");
}

TEST_F(EmulatorDeathTest, MistakesInClusters) {
  // Blocks that may not have started, or have ended, have no memory.
  allocate(4 * 64);
  for (int32_t without : {1, 3})
    EXPECT_EXIT(exitWith(run("passOn", {{4, 1, 1}, {64, 1, 1}, {4, 1, 1}, 0},
                             {&memory, &without})),
                ::testing::ExitedWithCode(0), "status 1700");
  auto expect = [&](int32_t mistake, const char *text) {
    EXPECT_EXIT(exitWith(run("misuse", {{2, 1, 1}, {4, 1, 1}, {0, 0, 0}, 0},
                             {&mistake})),
                ::testing::ExitedWithCode(0), text);
  };
  expect(0, "for ever: of 8, 1 at a barrier, 0 in a shuffle and 7 for the "
            "cluster\nstatus 1719");
  expect(1, "without having arrived there\nstatus 1719");
  expect(2, "without having waited there\nstatus 1719");
  expect(3, "no block of that rank\nstatus 1700");
  expect(4, "no block of that rank\nstatus 1700");
  expect(5, "not in the block's shared memory\nstatus 1700");
  expect(6, "not in the block's shared memory\nstatus 1700");
}

} // namespace
