//===- FakeCuda.cpp -------------------------------------------------------===//

#include "FakeCuda.h"
#include "../../lib/Runtime/CudaDriver.h"

#include <cstring>
#include <mutex>

using kernelbrain::cuda::InvalidContext;
using kernelbrain::cuda::LaunchConfig;

namespace {

FakeCuda state;
std::mutex mutex;
thread_local bool hasContext = false;
char handles[8];

int note(const char *name, bool usesContext = true) {
  std::lock_guard<std::mutex> guard(mutex);
  state.calls.push_back(name);
  if (usesContext && state.needsContext && !hasContext)
    return InvalidContext;
  auto found = state.results.find(name);
  return found == state.results.end() ? 0 : found->second;
}

} // namespace

extern "C" {

FakeCuda *fakeCuda() { return &state; }

int cuInit(unsigned) { return note("Init", false); }
int cuGetErrorString(int code, const char **text) {
  *text = code == 700 ? "an illegal memory access was encountered" : nullptr;
  return code == 700 ? 0 : 1;
}
int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  return note("DeviceGet", false);
}
int cuDeviceGetCount(int *count) {
  *count = state.numDevices;
  return note("DeviceGetCount", false);
}
int cuDevicePrimaryCtxRetain(void **context, int) {
  *context = handles;
  return note("DevicePrimaryCtxRetain", false);
}
int cuCtxGetCurrent(void **context) {
  *context = !state.needsContext || hasContext ? handles : nullptr;
  return note("CtxGetCurrent", false);
}
int cuCtxSetCurrent(void *) {
  hasContext = true;
  return note("CtxSetCurrent", false);
}
int cuLibraryLoadData(void **library, const void *, int *, void **, unsigned,
                      int *, void **, unsigned) {
  int result = note("LibraryLoadData", false);
  *library = result ? nullptr : handles + 1;
  return result;
}
int cuLibraryGetKernel(void **kernel, void *, const char *name) {
  *kernel = handles + 2;
  return !strcmp(name, "missing") ? 500 : note("LibraryGetKernel", false);
}
int cuKernelSetAttribute(int attribute, int value, void *, int) {
  state.attribute = attribute;
  state.attributeValue = value;
  return note("KernelSetAttribute", false);
}
int cuLaunchKernel(void *, unsigned gx, unsigned gy, unsigned gz, unsigned,
                   unsigned, unsigned, unsigned sharedBytes, void *stream,
                   void **, void **) {
  int result = note("LaunchKernel");
  std::lock_guard<std::mutex> guard(mutex);
  const unsigned grid[] = {gx, gy, gz};
  memcpy(state.grid, grid, sizeof(grid));
  state.sharedBytes = sharedBytes;
  state.stream = stream;
  return result;
}
int cuLaunchKernelEx(const LaunchConfig *config, void *, void **, void **) {
  memcpy(state.grid, config->grid, sizeof(state.grid));
  memset(state.cluster, 0, sizeof(state.cluster));
  if (config->numAttributes == 1)
    memcpy(state.cluster, config->attributes->value.clusterDim,
           sizeof(state.cluster));
  state.sharedBytes = config->sharedBytes;
  state.stream = config->stream;
  return note("LaunchKernelEx");
}
int cuModuleLoadData(void **module, const void *) {
  *module = handles + 3;
  return note("ModuleLoadData");
}
int cuModuleUnload(void *) { return note("ModuleUnload"); }
int cuModuleGetFunction(void **function, void *, const char *) {
  *function = handles + 4;
  return note("ModuleGetFunction");
}
int cuFuncSetAttribute(void *, int attribute, int value) {
  state.attribute = attribute;
  state.attributeValue = value;
  return note("FuncSetAttribute");
}
int cuStreamCreate(void **stream, unsigned) {
  *stream = handles + 5;
  return note("StreamCreate");
}
int cuStreamDestroy_v2(void *) { return note("StreamDestroy"); }
int cuStreamSynchronize(void *stream) {
  state.stream = stream;
  return note("StreamSynchronize");
}
int cuStreamWaitEvent(void *, void *, unsigned) {
  return note("StreamWaitEvent");
}
int cuEventCreate(void **event, unsigned) {
  *event = handles + 6;
  return note("EventCreate");
}
int cuEventDestroy_v2(void *) { return note("EventDestroy"); }
int cuEventSynchronize(void *) { return note("EventSynchronize"); }
int cuEventRecord(void *, void *) { return note("EventRecord"); }
int cuMemAlloc_v2(uint64_t *memory, size_t) {
  *memory = 0x1000;
  return note("MemAlloc");
}
int cuMemFree_v2(uint64_t) { return note("MemFree"); }
int cuMemAllocManaged(uint64_t *memory, size_t, unsigned) {
  *memory = 0x2000;
  return note("MemAllocManaged");
}
int cuMemAllocAsync(uint64_t *memory, size_t, void *stream) {
  *memory = 0x3000;
  state.stream = stream;
  return note("MemAllocAsync");
}
int cuMemFreeAsync(uint64_t, void *) { return note("MemFreeAsync"); }
int cuMemcpyAsync(uint64_t, uint64_t, size_t, void *stream) {
  state.stream = stream;
  return note("MemcpyAsync");
}
int cuMemsetD32Async(uint64_t, unsigned, size_t, void *) {
  return note("MemsetD32Async");
}
int cuMemsetD16Async(uint64_t, unsigned short, size_t, void *) {
  return note("MemsetD16Async");
}
int cuMemHostRegister_v2(void *, size_t, unsigned) {
  return note("MemHostRegister");
}
int cuMemHostUnregister(void *) { return note("MemHostUnregister"); }
int cuTensorMapEncodeTiled(void *, unsigned, unsigned rank, void *,
                           const uint64_t *extents, const uint64_t *strides,
                           const uint32_t *, const uint32_t *, unsigned,
                           unsigned, unsigned, unsigned) {
  state.extents.assign(extents, extents + rank);
  state.strides.assign(strides, strides + rank - 1);
  return note("TensorMapEncodeTiled", false);
}

} // extern "C"
