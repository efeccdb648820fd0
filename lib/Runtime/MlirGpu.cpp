//===- MlirGpu.cpp - mgpu* ------------------------------------------------===//
//
// The functions that programs call which upstream's gpu-to-llvm lowered. They
// return no status, so that a failure is printed and kept for kbcuTakeFailure;
// what follows it in the program fails as well.
//
//===----------------------------------------------------------------------===//

#include "kernelbrain/Runtime/CudaDriver.h"
#include "kernelbrain/Runtime/CudaRuntime.h"

#include <stdio.h>
#include <stdlib.h>

using namespace kernelbrain::cuda;

namespace {

int32_t failure = 0;
thread_local int defaultDevice = 0;

/// Runs one call and reports its failure under its name.
template <typename Work> bool run(const char *name, Work work) {
  int32_t code = status(withContext(defaultDevice, work));
  if (!code)
    return true;
  int32_t none = 0;
  __atomic_compare_exchange_n(&failure, &none, code, false, __ATOMIC_ACQ_REL,
                              __ATOMIC_ACQUIRE);
  fprintf(stderr, "KernelBrain runtime: %s failed: %s (status %d)\n", name,
          kbcuMessage(code), code);
  return false;
}

DevicePointer device(const void *memory) {
  return reinterpret_cast<DevicePointer>(memory);
}

/// The head of upstream's StridedMemRefType: sizes and strides follow.
struct MemRefHead {
  char *base, *data;
  int64_t offset;
  int64_t extents[1];
};

/// The dense buffer that a descriptor describes: its first byte and its size.
void *bytesOf(int64_t rank, const MemRefHead *memref, int64_t elementSize,
              size_t &bytes) {
  bytes = static_cast<size_t>(elementSize);
  for (int64_t i = 0; i < rank; ++i)
    bytes *= static_cast<size_t>(memref->extents[i]);
  return memref->data + memref->offset * elementSize;
}

} // namespace

extern "C" {

int32_t kbcuTakeFailure(void) {
  return __atomic_exchange_n(&failure, 0, __ATOMIC_ACQ_REL);
}

void mgpuSetDefaultDevice(int32_t ordinal) { defaultDevice = ordinal; }

void *mgpuModuleLoad(void *image, size_t) {
  void *module = nullptr;
  run("loading a module", [&](const Driver &driver) {
    return driver.ModuleLoadData(&module, image);
  });
  return module;
}

/// PTX ends with a zero byte, which the driver wants.
void *mgpuModuleLoadJIT(void *text, int) { return mgpuModuleLoad(text, 0); }

void mgpuModuleUnload(void *module) {
  run("unloading a module",
      [&](const Driver &driver) { return driver.ModuleUnload(module); });
}

void *mgpuModuleGetFunction(void *module, const char *name) {
  void *function = nullptr;
  run(name, [&](const Driver &driver) {
    return driver.ModuleGetFunction(&function, module, name);
  });
  return function;
}

void mgpuLaunchClusterKernel(void *function, intptr_t clusterX,
                             intptr_t clusterY, intptr_t clusterZ,
                             intptr_t gridX, intptr_t gridY, intptr_t gridZ,
                             intptr_t blockX, intptr_t blockY, intptr_t blockZ,
                             int32_t sharedBytes, void *stream,
                             void **parameters, void **extra, size_t) {
  if (!gridX || !gridY || !gridZ)
    return;
  run("a launch", [&](const Driver &driver) {
    if (sharedBytes > DeviceDefaultSharedBytes)
      if (Result result = driver.FuncSetAttribute(
              function, FunctionMaxDynamicSharedSize, sharedBytes))
        return result;
    LaunchAttribute cluster = {};
    cluster.id = LaunchClusterDimension;
    cluster.value.clusterDim[0] = static_cast<unsigned>(clusterX);
    cluster.value.clusterDim[1] = static_cast<unsigned>(clusterY);
    cluster.value.clusterDim[2] = static_cast<unsigned>(clusterZ);
    LaunchConfig config = {};
    const intptr_t sizes[] = {gridX, gridY, gridZ, blockX, blockY, blockZ};
    for (int i = 0; i < 3; ++i) {
      config.grid[i] = static_cast<unsigned>(sizes[i]);
      config.block[i] = static_cast<unsigned>(sizes[i + 3]);
    }
    config.sharedBytes = static_cast<unsigned>(sharedBytes);
    config.stream = stream;
    config.attributes = &cluster;
    config.numAttributes = clusterX != 0;
    return driver.LaunchKernelEx(&config, function, parameters, extra);
  });
}

void mgpuLaunchKernel(void *function, intptr_t gridX, intptr_t gridY,
                      intptr_t gridZ, intptr_t blockX, intptr_t blockY,
                      intptr_t blockZ, int32_t sharedBytes, void *stream,
                      void **parameters, void **extra, size_t count) {
  mgpuLaunchClusterKernel(function, 0, 0, 0, gridX, gridY, gridZ, blockX,
                          blockY, blockZ, sharedBytes, stream, parameters,
                          extra, count);
}

void *mgpuStreamCreate() {
  void *stream = nullptr;
  const unsigned nonBlocking = 1;
  run("making a stream", [&](const Driver &driver) {
    return driver.StreamCreate(&stream, nonBlocking);
  });
  return stream;
}

void mgpuStreamDestroy(void *stream) {
  run("ending a stream",
      [&](const Driver &driver) { return driver.StreamDestroy(stream); });
}

void mgpuStreamSynchronize(void *stream) {
  run("waiting for a stream",
      [&](const Driver &driver) { return driver.StreamSynchronize(stream); });
}

void mgpuStreamWaitEvent(void *stream, void *event) {
  run("waiting for an event", [&](const Driver &driver) {
    return driver.StreamWaitEvent(stream, event, 0);
  });
}

void *mgpuEventCreate() {
  void *event = nullptr;
  run("making an event", [&](const Driver &driver) {
    return driver.EventCreate(&event, EventDisableTiming);
  });
  return event;
}

void mgpuEventDestroy(void *event) {
  run("ending an event",
      [&](const Driver &driver) { return driver.EventDestroy(event); });
}

void mgpuEventSynchronize(void *event) {
  run("waiting for an event",
      [&](const Driver &driver) { return driver.EventSynchronize(event); });
}

void mgpuEventRecord(void *event, void *stream) {
  run("recording an event",
      [&](const Driver &driver) { return driver.EventRecord(event, stream); });
}

void *mgpuMemAlloc(uint64_t bytes, void *, bool hostShared) {
  DevicePointer memory = 0;
  const unsigned attachGlobal = 1;
  if (bytes)
    run("allocating device memory", [&](const Driver &driver) {
      return hostShared ? driver.MemAllocManaged(&memory, bytes, attachGlobal)
                        : driver.MemAlloc(&memory, bytes);
    });
  return reinterpret_cast<void *>(memory);
}

void mgpuMemFree(void *memory, void *) {
  if (memory)
    run("freeing device memory",
        [&](const Driver &driver) { return driver.MemFree(device(memory)); });
}

void mgpuMemcpy(void *to, void *from, size_t bytes, void *stream) {
  if (bytes)
    run("a copy", [&](const Driver &driver) {
      return driver.MemcpyAsync(device(to), device(from), bytes, stream);
    });
}

void mgpuMemset32(void *to, unsigned value, size_t count, void *stream) {
  if (count)
    run("a fill", [&](const Driver &driver) {
      return driver.MemsetD32Async(device(to), value, count, stream);
    });
}

void mgpuMemset16(void *to, unsigned short value, size_t count, void *stream) {
  if (count)
    run("a fill", [&](const Driver &driver) {
      return driver.MemsetD16Async(device(to), value, count, stream);
    });
}

void mgpuMemHostRegister(void *memory, uint64_t bytes) {
  if (bytes)
    run("registering host memory", [&](const Driver &driver) {
      return driver.MemHostRegister(memory, bytes, 0);
    });
}

void mgpuMemHostUnregister(void *memory) {
  run("unregistering host memory",
      [&](const Driver &driver) { return driver.MemHostUnregister(memory); });
}

void mgpuMemHostRegisterMemRef(int64_t rank, MemRefHead *memref,
                               int64_t elementSize) {
  size_t bytes;
  void *memory = bytesOf(rank, memref, elementSize, bytes);
  mgpuMemHostRegister(memory, bytes);
}

void mgpuMemHostUnregisterMemRef(int64_t rank, MemRefHead *memref,
                                 int64_t elementSize) {
  size_t bytes;
  void *memory = bytesOf(rank, memref, elementSize, bytes);
  if (bytes)
    mgpuMemHostUnregister(memory);
}

/// The descriptor's extents are slowest first, the driver's fastest first. The
/// map is the caller's for the rest of the program, as upstream has it.
void *mgpuTensorMapEncodeTiledMemref(int64_t rank, MemRefHead *memref,
                                     int dataType, int interleave, int swizzle,
                                     int promotion, int fill, int64_t *box) {
  static const uint64_t typeBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  void *map = nullptr;
  if (rank < 1 || rank > 5 || dataType < 0 ||
      dataType >= static_cast<int>(sizeof(typeBytes) / sizeof(*typeBytes)) ||
      posix_memalign(&map, 64, 128)) {
    fprintf(stderr, "KernelBrain runtime: no tensor map of rank %d, type %d\n",
            static_cast<int>(rank), dataType);
    return nullptr;
  }
  kbcuTensorMapShape shape = {};
  shape.rank = static_cast<uint32_t>(rank);
  shape.dataType = static_cast<uint32_t>(dataType);
  shape.interleave = static_cast<uint32_t>(interleave);
  shape.swizzle = static_cast<uint32_t>(swizzle);
  shape.promotion = static_cast<uint32_t>(promotion);
  shape.fill = static_cast<uint32_t>(fill);
  const int64_t *extents = memref->extents, *strides = extents + rank;
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t from = rank - 1 - i;
    shape.extents[i] = static_cast<uint64_t>(extents[from]);
    shape.box[i] = static_cast<uint32_t>(box[from]);
    shape.elementStrides[i] = 1;
    if (i > 0)
      shape.strides[i - 1] =
          static_cast<uint64_t>(strides[from]) * typeBytes[dataType];
  }
  const char *data =
      memref->data + memref->offset * static_cast<int64_t>(typeBytes[dataType]);
  run("encoding a tensor map", [&](const Driver &) -> Result {
    int32_t code = kbcuEncodeTensorMap(map, data, &shape);
    return code ? code - 1000 : Success;
  });
  return map;
}

} // extern "C"
