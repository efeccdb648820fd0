//===- CudaRuntime.cpp - kbcu* --------------------------------------------===//

#include "kernelbrain/Runtime/CudaRuntime.h"
#include "kernelbrain/Runtime/CudaDriver.h"

#include <pthread.h>

using namespace kernelbrain::cuda;

namespace {

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
thread_local void *threadStream = nullptr;

void *streamOr(void *stream) { return stream ? stream : threadStream; }

/// Loads what a kernel needs. A CUlibrary belongs to no context: the driver
/// puts it into each one on its first launch there.
Result load(const Driver &driver, kbcuKernel &kernel) {
  Result result = Success;
  if (!kernel.module->handle &&
      (result =
           driver.LibraryLoadData(&kernel.module->handle, kernel.module->image,
                                  nullptr, nullptr, 0, nullptr, nullptr, 0)))
    return result;
  void *handle = nullptr;
  if ((result = driver.LibraryGetKernel(&handle, kernel.module->handle,
                                        kernel.name)))
    return result;
  if (kernel.sharedBytes > DeviceDefaultSharedBytes) {
    // On every device, so that no launch has to ask which one it is on. One
    // that has not so much refuses its launches itself.
    int devices = 0, allowed = 0;
    if ((result = driver.DeviceGetCount(&devices)))
      return result;
    for (int device = 0; device < devices; ++device) {
      result = driver.KernelSetAttribute(FunctionMaxDynamicSharedSize,
                                         kernel.sharedBytes, handle, device);
      allowed += result == Success;
    }
    if (!allowed)
      return result;
  }
  __atomic_store_n(&kernel.handle, handle, __ATOMIC_RELEASE);
  return Success;
}

Result loadOnce(const Driver &driver, kbcuKernel &kernel) {
  if (__atomic_load_n(&kernel.handle, __ATOMIC_ACQUIRE))
    return Success;
  pthread_mutex_lock(&mutex);
  Result result = kernel.handle ? Success : load(driver, kernel);
  pthread_mutex_unlock(&mutex);
  return result;
}

/// A CUkernel is taken wherever a CUfunction is.
Result launch(const Driver &driver, void *function, const kbcuShape &shape,
              void *stream, void **parameters) {
  const uint32_t *grid = shape.grid, *block = shape.block;
  if (!shape.cluster[0])
    return driver.LaunchKernel(function, grid[0], grid[1], grid[2], block[0],
                               block[1], block[2], shape.sharedBytes, stream,
                               parameters, nullptr);
  LaunchAttribute cluster = {};
  cluster.id = LaunchClusterDimension;
  LaunchConfig config = {};
  for (int i = 0; i < 3; ++i) {
    cluster.value.clusterDim[i] = shape.cluster[i];
    config.grid[i] = grid[i];
    config.block[i] = block[i];
  }
  config.sharedBytes = shape.sharedBytes;
  config.stream = stream;
  config.attributes = &cluster;
  config.numAttributes = 1;
  return driver.LaunchKernelEx(&config, function, parameters, nullptr);
}

} // namespace

extern "C" {

int32_t kbcuLaunch(kbcuKernel *kernel, const kbcuShape *shape, void *stream,
                   void **parameters) {
  if (!shape->grid[0] || !shape->grid[1] || !shape->grid[2])
    return 0;
  return status(withContext(0, [&](const Driver &driver) {
    Result result = loadOnce(driver, *kernel);
    return result ? result
                  : launch(driver, kernel->handle, *shape, streamOr(stream),
                           parameters);
  }));
}

void kbcuSetStream(void *stream) { threadStream = stream; }

void *kbcuGetStream(void) { return threadStream; }

int32_t kbcuAllocate(void **memory, int64_t bytes, void *stream) {
  *memory = nullptr;
  if (bytes <= 0)
    return 0;
  return status(inContext(0, [&](const Driver &driver) {
    DevicePointer pointer = 0;
    Result result = driver.MemAllocAsync(&pointer, static_cast<size_t>(bytes),
                                         streamOr(stream));
    *memory = reinterpret_cast<void *>(pointer);
    return result;
  }));
}

int32_t kbcuFree(void *memory, void *stream) {
  if (!memory)
    return 0;
  return status(inContext(0, [&](const Driver &driver) {
    return driver.MemFreeAsync(reinterpret_cast<DevicePointer>(memory),
                               streamOr(stream));
  }));
}

int32_t kbcuCopy(void *to, const void *from, int64_t bytes, void *stream) {
  if (bytes <= 0)
    return 0;
  return status(inContext(0, [&](const Driver &driver) {
    return driver.MemcpyAsync(reinterpret_cast<DevicePointer>(to),
                              reinterpret_cast<DevicePointer>(from),
                              static_cast<size_t>(bytes), streamOr(stream));
  }));
}

int32_t kbcuSynchronize(void *stream) {
  return status(inContext(0, [&](const Driver &driver) {
    return driver.StreamSynchronize(streamOr(stream));
  }));
}

int32_t kbcuEncodeTensorMap(void *map, const void *memory,
                            const kbcuTensorMapShape *shape) {
  return status(withContext(0, [&](const Driver &driver) {
    return driver.TensorMapEncodeTiled(
        map, shape->dataType, shape->rank, const_cast<void *>(memory),
        shape->extents, shape->strides, shape->box, shape->elementStrides,
        shape->interleave, shape->swizzle, shape->promotion, shape->fill);
  }));
}

const char *kbcuMessage(int32_t status) {
  if (status == 0)
    return "success";
  if (status == 1)
    return "declined";
  if (status == ::status(NoDevice))
    return "no CUDA driver or no device";
  Result result;
  const Driver *api = driver(result);
  const char *text = nullptr;
  if (api && status > 1000 &&
      api->GetErrorString(status - 1000, &text) == Success && text)
    return text;
  return "unknown error";
}

} // extern "C"
