//===- CudaRuntimeTest.cpp - Which driver calls the runtime makes ---------===//

#include "kernelbrain/Runtime/CudaRuntime.h"
#include "EmulatedCuda.h"

#include "gtest/gtest.h"

#include <cstdint>
#include <fstream>
#include <thread>

extern "C" {
int cuCtxSetCurrent(void *context);
void *mgpuModuleLoad(void *image, size_t);
void *mgpuModuleGetFunction(void *module, const char *name);
void mgpuLaunchKernel(void *, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t,
                      intptr_t, int32_t, void *, void **, void **, size_t);
void *mgpuMemAlloc(uint64_t, void *, bool);
void mgpuMemFree(void *, void *);
void *mgpuStreamCreate();
void mgpuStreamSynchronize(void *);
void *mgpuTensorMapEncodeTiledMemref(int64_t, void *, int, int, int, int, int,
                                     int64_t *);
}

namespace {

using Calls = std::vector<std::string>;

std::string readImage() {
  std::ifstream file(KB_DEVICE_IMAGE, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class CudaRuntimeTest : public ::testing::Test {
protected:
  CudaRuntimeTest() : cuda(*emulatedCuda()), image(readImage()) {
    kbcuSynchronize(nullptr); // the driver is looked for by now
    kbcuTakeFailure();
    cuda = EmulatedCuda();
    cuda.counts = true;
    cuda.needsContext = false;
  }

  EmulatedCuda &cuda;
  std::string image;
  kbcuModule module = {image.data(), nullptr};
  kbcuKernel kernel = {&module, "k", nullptr, 0};
  kbcuShape shape = {{4, 2, 1}, {128, 1, 1}, {0, 0, 0}, 0};
  int streams[2];
};

TEST_F(CudaRuntimeTest, ALaunchIsOneCall) {
  EXPECT_EQ(kbcuLaunch(&kernel, &shape, streams, nullptr), 0);
  EXPECT_EQ(cuda.calls,
            Calls({"LibraryLoadData", "LibraryGetKernel", "LaunchKernel"}));
  EXPECT_EQ(cuda.stream, streams);
  EXPECT_EQ(cuda.grid[0], 4u);
  EXPECT_EQ(cuda.grid[1], 2u);
  cuda.calls.clear();
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(kbcuLaunch(&kernel, &shape, streams, nullptr), 0);
  EXPECT_EQ(cuda.calls, Calls(3, "LaunchKernel"));
}

TEST_F(CudaRuntimeTest, KernelsShareTheirModule) {
  kbcuKernel other = {&module, "l", nullptr, 0};
  kbcuLaunch(&kernel, &shape, nullptr, nullptr);
  cuda.calls.clear();
  EXPECT_EQ(kbcuLaunch(&other, &shape, nullptr, nullptr), 0);
  EXPECT_EQ(cuda.calls, Calls({"LibraryGetKernel", "LaunchKernel"}));
}

TEST_F(CudaRuntimeTest, AnEmptyGridDoesNothing) {
  shape.grid[1] = 0;
  EXPECT_EQ(kbcuLaunch(&kernel, &shape, nullptr, nullptr), 0);
  EXPECT_TRUE(cuda.calls.empty());
}

TEST_F(CudaRuntimeTest, ThreadsHaveTheirStreams) {
  kbcuSetStream(&streams[0]);
  std::thread other([&] {
    EXPECT_EQ(kbcuGetStream(), nullptr);
    kbcuSetStream(&streams[1]);
    kbcuLaunch(&kernel, &shape, nullptr, nullptr);
    EXPECT_EQ(cuda.stream, &streams[1]);
  });
  other.join();
  kbcuLaunch(&kernel, &shape, nullptr, nullptr);
  EXPECT_EQ(cuda.stream, &streams[0]);
  kbcuSetStream(nullptr);
  kbcuLaunch(&kernel, &shape, nullptr, nullptr);
  EXPECT_EQ(cuda.stream, nullptr);
}

TEST_F(CudaRuntimeTest, ManyThreadsLoadOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 100; ++j)
        EXPECT_EQ(kbcuLaunch(&kernel, &shape, nullptr, nullptr), 0);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(std::count(cuda.calls.begin(), cuda.calls.end(), "LaunchKernel"),
            800);
  EXPECT_EQ(cuda.calls.size(), 802u);
}

TEST_F(CudaRuntimeTest, MuchSharedMemoryIsAskedForOnce) {
  kernel.sharedBytes = 100 * 1024;
  shape.sharedBytes = 90 * 1024;
  cuda.numDevices = 2;
  EXPECT_EQ(kbcuLaunch(&kernel, &shape, nullptr, nullptr), 0);
  EXPECT_EQ(cuda.calls, Calls({"LibraryLoadData", "LibraryGetKernel",
                               "DeviceGetCount", "KernelSetAttribute",
                               "KernelSetAttribute", "LaunchKernel"}));
  EXPECT_EQ(cuda.attribute, 8);
  EXPECT_EQ(cuda.attributeValue, 100 * 1024);
  EXPECT_EQ(cuda.sharedBytes, 90u * 1024);
  cuda.calls.clear();
  kbcuLaunch(&kernel, &shape, nullptr, nullptr);
  EXPECT_EQ(cuda.calls, Calls({"LaunchKernel"}));
}

TEST_F(CudaRuntimeTest, TooMuchSharedMemoryIsRefused) {
  kernel.sharedBytes = 1 << 30;
  cuda.results["KernelSetAttribute"] = 1;
  EXPECT_EQ(kbcuLaunch(&kernel, &shape, nullptr, nullptr), 1001);
  EXPECT_EQ(kernel.handle, nullptr);
}

TEST_F(CudaRuntimeTest, ConstantsAreCopiedOnceAContext) {
  int32_t constant[2] = {3, 4};
  void *copies = nullptr, *first = nullptr, *again = nullptr;
  EXPECT_EQ(kbcuConstant(&copies, constant, sizeof constant, &first), 0);
  EXPECT_EQ(cuda.calls, Calls({"CtxGetCurrent", "MemAlloc", "MemcpyAsync",
                               "StreamSynchronize"}));
  EXPECT_NE(first, constant);
  EXPECT_EQ(static_cast<int32_t *>(first)[1], 4);
  cuda.calls.clear();
  EXPECT_EQ(kbcuConstant(&copies, constant, sizeof constant, &again), 0);
  EXPECT_EQ(again, first);
  EXPECT_EQ(cuda.calls, Calls({"CtxGetCurrent"}));

  // A thread with a context of its own has a copy of its own.
  std::thread other([&] {
    int context;
    cuCtxSetCurrent(&context);
    EXPECT_EQ(kbcuConstant(&copies, constant, sizeof constant, &again), 0);
    EXPECT_NE(again, first);
    EXPECT_EQ(static_cast<int32_t *>(again)[0], 3);
  });
  other.join();
  EXPECT_EQ(kbcuConstant(&copies, constant, sizeof constant, &again), 0);
  EXPECT_EQ(again, first);
}

TEST_F(CudaRuntimeTest, AThreadWithoutAContextGetsOneForAConstant) {
  cuda.needsContext = true;
  std::thread other([&] {
    int32_t constant = 5;
    void *copies = nullptr, *memory = nullptr;
    EXPECT_EQ(kbcuConstant(&copies, &constant, sizeof constant, &memory), 0);
    EXPECT_NE(memory, nullptr);
  });
  other.join();
}

TEST_F(CudaRuntimeTest, AConstantThatCannotBeCopiedIsTriedAgain) {
  int32_t constant = 5;
  void *copies = nullptr, *memory = nullptr;
  cuda.results["MemcpyAsync"] = 1;
  EXPECT_EQ(kbcuConstant(&copies, &constant, sizeof constant, &memory), 1001);
  EXPECT_EQ(cuda.calls.back(), "MemFree");
  EXPECT_EQ(memory, nullptr);
  cuda.results.clear();
  EXPECT_EQ(kbcuConstant(&copies, &constant, sizeof constant, &memory), 0);
  EXPECT_NE(memory, nullptr);
  EXPECT_EQ(kbcuConstant(&copies, &constant, 0, &memory), 0);
  EXPECT_EQ(memory, nullptr);
}

TEST_F(CudaRuntimeTest, Clusters) {
  shape.cluster[0] = 2;
  shape.cluster[1] = shape.cluster[2] = 1;
  EXPECT_EQ(kbcuLaunch(&kernel, &shape, streams, nullptr), 0);
  EXPECT_EQ(cuda.calls.back(), "LaunchKernelEx");
  EXPECT_EQ(cuda.cluster[0], 2u);
  EXPECT_EQ(cuda.grid[1], 2u);
  EXPECT_EQ(cuda.stream, streams);
}

TEST_F(CudaRuntimeTest, AThreadWithoutAContextGetsOne) {
  cuda.needsContext = true;
  std::thread([&] {
    EXPECT_EQ(kbcuLaunch(&kernel, &shape, nullptr, nullptr), 0);
    EXPECT_EQ(cuda.calls,
              Calls({"LibraryLoadData", "LibraryGetKernel", "LaunchKernel",
                     "CtxGetCurrent", "DeviceGet", "DevicePrimaryCtxRetain",
                     "CtxSetCurrent", "LaunchKernel"}));
    cuda.calls.clear();
    EXPECT_EQ(kbcuLaunch(&kernel, &shape, nullptr, nullptr), 0);
    EXPECT_EQ(cuda.calls, Calls({"LaunchKernel"}));
  }).join();
}

TEST_F(CudaRuntimeTest, MemoryFindsAContextBeforeACallCanFail) {
  cuda.needsContext = true;
  std::thread([&] {
    EXPECT_EQ(kbcuSynchronize(nullptr), 0);
    EXPECT_EQ(cuda.calls,
              Calls({"CtxGetCurrent", "DeviceGet", "DevicePrimaryCtxRetain",
                     "CtxSetCurrent", "StreamSynchronize"}));
  }).join();
}

TEST_F(CudaRuntimeTest, FailuresAreStatuses) {
  cuda.results["LibraryLoadData"] = 209;
  EXPECT_EQ(kbcuLaunch(&kernel, &shape, nullptr, nullptr), 1209);
  cuda.results.clear(); // not remembered
  EXPECT_EQ(kbcuLaunch(&kernel, &shape, nullptr, nullptr), 0);
  kbcuKernel missing = {&module, "missing", nullptr, 0};
  EXPECT_EQ(kbcuLaunch(&missing, &shape, nullptr, nullptr), 1500);
  cuda.results["LaunchKernel"] = 1;
  EXPECT_EQ(kbcuLaunch(&kernel, &shape, nullptr, nullptr), 1001);
  cuda.results["StreamSynchronize"] = 700;
  int32_t status = kbcuSynchronize(nullptr);
  EXPECT_EQ(status, 1700);
  EXPECT_STREQ(kbcuMessage(status), "an illegal memory access was encountered");
  EXPECT_STREQ(kbcuMessage(0), "success");
  EXPECT_STREQ(kbcuMessage(1), "declined");
  EXPECT_STREQ(kbcuMessage(1999), "unknown error");
  EXPECT_STREQ(kbcuMessage(1100), "no CUDA driver or no device");
}

TEST_F(CudaRuntimeTest, MemoryInStreamOrder) {
  void *memory = streams;
  EXPECT_EQ(kbcuAllocate(&memory, 0, streams), 0);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(kbcuFree(memory, streams), 0);
  EXPECT_EQ(kbcuCopy(streams, streams, 0, nullptr), 0);
  EXPECT_TRUE(cuda.calls.empty());
  EXPECT_EQ(kbcuAllocate(&memory, 16, streams), 0);
  EXPECT_NE(memory, nullptr);
  char words[16] = {};
  EXPECT_EQ(kbcuCopy(memory, words, 16, streams), 0);
  EXPECT_EQ(kbcuFree(memory, streams), 0);
  EXPECT_EQ(cuda.calls,
            Calls({"CtxGetCurrent", "MemAllocAsync", "CtxGetCurrent",
                   "MemcpyAsync", "CtxGetCurrent", "MemFreeAsync"}));
  cuda.results["MemAllocAsync"] = 2;
  EXPECT_EQ(kbcuAllocate(&memory, 16, streams), 1002);
}

TEST_F(CudaRuntimeTest, ProgramsOfStockMlir) {
  void *loaded = mgpuModuleLoad(image.data(), 0);
  void *function = mgpuModuleGetFunction(loaded, "k");
  void *stream = mgpuStreamCreate();
  void *memory = mgpuMemAlloc(64, stream, false);
  mgpuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr, 0);
  mgpuStreamSynchronize(stream);
  mgpuMemFree(memory, stream);
  EXPECT_EQ(cuda.calls, Calls({"ModuleLoadData", "ModuleGetFunction",
                               "StreamCreate", "MemAlloc", "LaunchKernelEx",
                               "StreamSynchronize", "MemFree"}));
  EXPECT_EQ(cuda.cluster[0], 0u);
  EXPECT_EQ(kbcuTakeFailure(), 0);
  cuda.calls.clear();
  mgpuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 64 << 10, stream, nullptr,
                   nullptr, 0);
  EXPECT_EQ(cuda.calls, Calls({"FuncSetAttribute", "LaunchKernelEx"}));
  EXPECT_EQ(cuda.attributeValue, 64 << 10);
}

TEST_F(CudaRuntimeTest, FailuresOfStockMlirAreKept) {
  cuda.results["LaunchKernelEx"] = 1;
  cuda.results["StreamSynchronize"] = 700;
  ::testing::internal::CaptureStderr();
  mgpuLaunchKernel(streams, 1, 1, 1, 2048, 1, 1, 0, nullptr, nullptr, nullptr,
                   0);
  mgpuStreamSynchronize(nullptr);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "KernelBrain runtime: a launch failed: invalid argument (status "
            "1001)\nKernelBrain runtime: waiting for a stream failed: an "
            "illegal memory access was encountered (status 1700)\n");
  EXPECT_EQ(kbcuTakeFailure(), 1001);
  EXPECT_EQ(kbcuTakeFailure(), 0);
}

TEST_F(CudaRuntimeTest, TensorMapsAreFastestFirst) {
  struct {
    char *base, *data;
    int64_t offset, sizes[2], strides[2];
  } memref = {nullptr, nullptr, 0, {100, 64}, {64, 1}};
  int64_t box[] = {16, 32};
  const int float16 = 6;
  void *map =
      mgpuTensorMapEncodeTiledMemref(2, &memref, float16, 0, 0, 0, 0, box);
  ASSERT_NE(map, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(map) % 64, 0u);
  free(map);
  EXPECT_EQ(cuda.extents, std::vector<uint64_t>({64, 100}));
  EXPECT_EQ(cuda.strides, std::vector<uint64_t>({128}));
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(mgpuTensorMapEncodeTiledMemref(6, &memref, 6, 0, 0, 0, 0, box),
            nullptr);
  EXPECT_NE(::testing::internal::GetCapturedStderr(), "");
}

} // namespace
