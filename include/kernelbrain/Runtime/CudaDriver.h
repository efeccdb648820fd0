//===- CudaDriver.h - The CUDA driver, found at run time --------*- C++ -*-===//
//
// The part of the driver's interface that the runtime and kb-worker call,
// declared here so that no CUDA toolkit is needed to build them. Names and
// layouts are those of cuda.h 12 and later.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_RUNTIME_CUDADRIVER_H
#define KERNELBRAIN_RUNTIME_CUDADRIVER_H

#include <stddef.h>
#include <stdint.h>

namespace kernelbrain::cuda {

using Result = int; ///< CUresult
constexpr Result Success = 0, InvalidValue = 1, OutOfMemory = 2,
                 NotInitialized = 3, NoDevice = 100, InvalidDevice = 101,
                 InvalidImage = 200, InvalidContext = 201,
                 NoBinaryForDevice = 209, NotFound = 500, IllegalAddress = 700,
                 LaunchOutOfResources = 701, AssertFailed = 710,
                 LaunchFailed = 719, NotSupported = 801,
                 InvalidClusterSize = 912;
using DevicePointer = uint64_t;

/// CUdevice_attribute.
enum DeviceAttribute : int {
  MaxThreadsPerBlock = 1,
  ClockKilohertz = 13,
  MultiprocessorCount = 16,
  PciBus = 33,
  PciDevice = 34,
  MemoryClockKilohertz = 36,
  MemoryBusBits = 37,
  L2Bytes = 38,
  ThreadsPerMultiprocessor = 39,
  PciDomain = 50,
  ComputeCapabilityMajor = 75,
  ComputeCapabilityMinor = 76,
  SharedBytesPerMultiprocessor = 81,
  RegistersPerMultiprocessor = 82,
  SharedBytesPerBlockOptin = 97,
  VirtualMemorySupported = 102,
  BlocksPerMultiprocessor = 106
};

constexpr int FunctionMaxDynamicSharedSize = 8; ///< CUfunction_attribute
constexpr unsigned LaunchClusterDimension = 4;  ///< CUlaunchAttributeID
constexpr unsigned EventDisableTiming = 2;
constexpr int DeviceDefaultSharedBytes = 48 * 1024;

struct LaunchAttribute {
  unsigned id;
  unsigned padding;
  union {
    unsigned clusterDim[3];
    char bytes[64];
  } value;
};

/// CUmemAllocationProp.
struct AllocationProperties {
  int type = 1; ///< pinned, the only one there is
  int handleTypes = 0;
  struct {
    int type = 1; ///< a device
    int id = 0;
  } location;
  void *windowsHandles = nullptr;
  unsigned char flags[8] = {};
};

/// CUmemAccessDesc.
struct MemoryAccess {
  int locationType = 1; ///< a device
  int device = 0;
  int flags = 3; ///< read and write
};

struct LaunchConfig {
  unsigned grid[3], block[3], sharedBytes;
  void *stream;
  LaunchAttribute *attributes;
  unsigned numAttributes;
};

/// The driver's functions, by their names without `cu`. Later versions of a
/// function have their own symbol, given in the second column.
#define KB_CUDA_FUNCTIONS(F)                                                   \
  F(Init, "cuInit", (unsigned flags))                                          \
  F(GetErrorString, "cuGetErrorString", (Result, const char **text))           \
  F(DeviceGet, "cuDeviceGet", (int *device, int ordinal))                      \
  F(DeviceGetCount, "cuDeviceGetCount", (int *count))                          \
  F(DeviceGetName, "cuDeviceGetName", (char *name, int length, int device))    \
  F(DeviceGetAttribute, "cuDeviceGetAttribute",                                \
    (int *value, int attribute, int device))                                   \
  F(DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (void **, int device)) \
  F(CtxGetCurrent, "cuCtxGetCurrent", (void **context))                        \
  F(CtxSetCurrent, "cuCtxSetCurrent", (void *context))                         \
  F(CtxSynchronize, "cuCtxSynchronize", (void))                                \
  F(LibraryLoadData, "cuLibraryLoadData",                                      \
    (void **library, const void *image, int *, void **, unsigned, int *,       \
     void **, unsigned))                                                       \
  F(LibraryGetKernel, "cuLibraryGetKernel",                                    \
    (void **kernel, void *library, const char *name))                          \
  F(KernelSetAttribute, "cuKernelSetAttribute",                                \
    (int attribute, int value, void *kernel, int device))                      \
  F(LaunchKernel, "cuLaunchKernel",                                            \
    (void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,       \
     unsigned by, unsigned bz, unsigned sharedBytes, void *stream,             \
     void **parameters, void **extra))                                         \
  F(LaunchKernelEx, "cuLaunchKernelEx",                                        \
    (const LaunchConfig *config, void *function, void **parameters,            \
     void **extra))                                                            \
  F(ModuleLoadData, "cuModuleLoadData", (void **module, const void *image))    \
  F(ModuleUnload, "cuModuleUnload", (void *module))                            \
  F(ModuleGetFunction, "cuModuleGetFunction",                                  \
    (void **function, void *module, const char *name))                         \
  F(FuncSetAttribute, "cuFuncSetAttribute",                                    \
    (void *function, int attribute, int value))                                \
  F(StreamCreate, "cuStreamCreate", (void **stream, unsigned flags))           \
  F(StreamDestroy, "cuStreamDestroy_v2", (void *stream))                       \
  F(StreamSynchronize, "cuStreamSynchronize", (void *stream))                  \
  F(StreamWaitEvent, "cuStreamWaitEvent",                                      \
    (void *stream, void *event, unsigned flags))                               \
  F(EventCreate, "cuEventCreate", (void **event, unsigned flags))              \
  F(EventDestroy, "cuEventDestroy_v2", (void *event))                          \
  F(EventSynchronize, "cuEventSynchronize", (void *event))                     \
  F(EventRecord, "cuEventRecord", (void *event, void *stream))                 \
  F(EventElapsedTime, "cuEventElapsedTime",                                    \
    (float *milliseconds, void *start, void *end))                             \
  F(MemGetInfo, "cuMemGetInfo_v2", (size_t *available, size_t *all))           \
  F(MemAddressReserve, "cuMemAddressReserve",                                  \
    (DevicePointer *, size_t bytes, size_t alignment, DevicePointer wish,      \
     unsigned long long flags))                                                \
  F(MemAddressFree, "cuMemAddressFree", (DevicePointer, size_t bytes))         \
  F(MemCreate, "cuMemCreate",                                                  \
    (uint64_t *handle, size_t bytes, const AllocationProperties *,             \
     unsigned long long flags))                                                \
  F(MemRelease, "cuMemRelease", (uint64_t handle))                             \
  F(MemMap, "cuMemMap",                                                        \
    (DevicePointer, size_t bytes, size_t offset, uint64_t handle,              \
     unsigned long long flags))                                                \
  F(MemUnmap, "cuMemUnmap", (DevicePointer, size_t bytes))                     \
  F(MemSetAccess, "cuMemSetAccess",                                            \
    (DevicePointer, size_t bytes, const MemoryAccess *, size_t count))         \
  F(MemGetAllocationGranularity, "cuMemGetAllocationGranularity",              \
    (size_t *bytes, const AllocationProperties *, int option))                 \
  F(MemAlloc, "cuMemAlloc_v2", (DevicePointer *, size_t bytes))                \
  F(MemFree, "cuMemFree_v2", (DevicePointer))                                  \
  F(MemAllocManaged, "cuMemAllocManaged",                                      \
    (DevicePointer *, size_t bytes, unsigned flags))                           \
  F(MemAllocAsync, "cuMemAllocAsync",                                          \
    (DevicePointer *, size_t bytes, void *stream))                             \
  F(MemFreeAsync, "cuMemFreeAsync", (DevicePointer, void *stream))             \
  F(MemcpyAsync, "cuMemcpyAsync",                                              \
    (DevicePointer to, DevicePointer from, size_t bytes, void *stream))        \
  F(MemsetD8Async, "cuMemsetD8Async",                                          \
    (DevicePointer to, unsigned char value, size_t count, void *stream))       \
  F(MemsetD32Async, "cuMemsetD32Async",                                        \
    (DevicePointer to, unsigned value, size_t count, void *stream))            \
  F(MemsetD16Async, "cuMemsetD16Async",                                        \
    (DevicePointer to, unsigned short value, size_t count, void *stream))      \
  F(MemHostRegister, "cuMemHostRegister_v2",                                   \
    (void *memory, size_t bytes, unsigned flags))                              \
  F(MemHostUnregister, "cuMemHostUnregister", (void *memory))                  \
  F(TensorMapEncodeTiled, "cuTensorMapEncodeTiled",                            \
    (void *map, unsigned type, unsigned rank, void *memory,                    \
     const uint64_t *extents, const uint64_t *strides, const uint32_t *box,    \
     const uint32_t *elementStrides, unsigned interleave, unsigned swizzle,    \
     unsigned promotion, unsigned fill))

struct Driver {
#define KB_CUDA_MEMBER(name, symbol, parameters) Result(*name) parameters;
  KB_CUDA_FUNCTIONS(KB_CUDA_MEMBER)
#undef KB_CUDA_MEMBER
};

/// The driver, initialised; or null, and why in `result`. It is the file that
/// the environment variable KB_CUDA_DRIVER names, else libcuda.so.1 where the
/// dynamic loader finds it. A machine that had none is asked again the next
/// time.
const Driver *driver(Result &result);

/// Makes the primary context of a device current on this thread if it has no
/// context.
Result useContext(const Driver &driver, int device);

/// As a status of CudaRuntime.h.
constexpr int32_t status(Result result) {
  return result == Success ? 0 : 1000 + result;
}

/// Calls `work(driver)` with a context. Tools that watch the driver see no call
/// fail.
template <typename Work> Result inContext(int device, Work work) {
  Result result;
  const Driver *api = driver(result);
  if (!api)
    return result;
  if (Result failure = useContext(*api, device))
    return failure;
  return work(*api);
}

/// Calls `work(driver)`; where that fails for want of a context, once more with
/// one. The driver's calls are the only ones that it makes on the way to
/// success.
template <typename Work> Result withContext(int device, Work work) {
  Result result;
  const Driver *api = driver(result);
  if (!api)
    return result;
  result = work(*api);
  if (result != InvalidContext && result != NotInitialized)
    return result;
  return inContext(device, work);
}

} // namespace kernelbrain::cuda

#endif // KERNELBRAIN_RUNTIME_CUDADRIVER_H
