//===- EmulatedCuda.cpp - The driver's functions --------------------------===//

#include "EmulatedCuda.h"

#include "EmulatedLaunch.h"
#include "EmulatedMemory.h"
#include "kernelbrain/Core/Target.h"
#include "kernelbrain/Runtime/CudaDriver.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <mutex>
#include <sys/sysinfo.h>

using namespace kernelbrain::cuda;
namespace emulator = kernelbrain::emulator;
using kernelbrain::emulatedChip;
using kernelbrain::GpuLimits;
using kernelbrain::makeCudaTarget;

namespace {

EmulatedCuda state;
std::recursive_mutex mutex;
using Guard = std::lock_guard<std::recursive_mutex>;
emulator::DeviceMemory memory;
/// The device's clock in ps. It goes on by what work costs in a model, whatever
/// the machine does meanwhile: a search sees the same times whenever it runs.
/// As on a real device a launch is dear, and a thread that waits for others
/// costs more than one that does not.
using Time = int64_t;
Time clockPs = 0;
constexpr Time launchPs = 4000000, turnPs = 50;
/// A fault in device code, which every later call repeats.
Result sticky = Success;
thread_local int *context = nullptr; ///< of the thread: one of `contexts`
int contexts[64];
char handles[8];

struct Kernel {
  emulator::Kernel entry;
  KbEmulatorNeeds needs;
  size_t sharedBytes = DeviceDefaultSharedBytes; ///< that a launch may have
};

/// What a call returns unless it does more: an injected result, the sticky
/// error, or that the thread has no context.
Result note(const char *name, bool usesContext = true) {
  Guard guard(mutex);
  if (state.counts)
    state.calls.push_back(name);
  if (usesContext && state.needsContext && !context)
    return InvalidContext;
  auto found = state.results.find(name);
  if (found != state.results.end() && found->second)
    return found->second;
  return sticky;
}

GpuLimits limits() { return *makeCudaTarget(emulatedChip)->gpu; }

Result setSharedBytes(void *kernel, int attribute, int value) {
  state.attribute = attribute;
  state.attributeValue = value;
  if (attribute != FunctionMaxDynamicSharedSize || value < 0 ||
      value > limits().sharedBytesPerBlock)
    return InvalidValue;
  static_cast<Kernel *>(kernel)->sharedBytes =
      std::max<size_t>(size_t(value), DeviceDefaultSharedBytes);
  return Success;
}

Result launch(const char *name, const LaunchConfig &config, void *function,
              void **parameters) {
  Guard guard(mutex);
  Result result = note(name);
  std::copy_n(config.grid, 3, state.grid);
  std::fill_n(state.cluster, 3, 0);
  if (config.numAttributes == 1)
    std::copy_n(config.attributes->value.clusterDim, 3, state.cluster);
  state.sharedBytes = config.sharedBytes;
  state.stream = config.stream;
  if (result)
    return result;
  auto *kernel = static_cast<Kernel *>(function);
  emulator::Launch launch;
  launch.kernel = kernel->entry;
  launch.parameters = parameters;
  launch.staticBytes = size_t(kernel->needs.sharedBytes + 127) / 128 * 128;
  launch.sharedBytes = config.sharedBytes;
  std::copy_n(config.grid, 3, launch.grid);
  std::copy_n(config.block, 3, launch.block);
  if (config.numAttributes == 1)
    std::copy_n(state.cluster, 3, launch.cluster);
  else if (kernel->needs.cluster[0])
    std::copy_n(kernel->needs.cluster, 3, launch.cluster);
  result = emulator::checkLaunch(launch, kernel->needs, kernel->sharedBytes);
  if (result)
    return result;
  // As with a GPU, a fault shows in the calls that follow.
  emulator::LaunchResult ran = emulator::runLaunch(launch);
  clockPs += launchPs + ran.turns * turnPs;
  sticky = ran.code;
  return Success;
}

Result getKernel(const char *call, void **kernel, void *library,
                 const char *name, bool usesContext) {
  Guard guard(mutex);
  if (Result result = note(call, usesContext))
    return result;
  void *entry = ::dlsym(library, name);
  if (!entry)
    return NotFound;
  auto *needs = static_cast<const KbEmulatorNeeds *>(
      ::dlsym(library, ("kbemu_needs_" + std::string(name)).c_str()));
  *kernel = new Kernel{reinterpret_cast<emulator::Kernel>(entry),
                       needs ? *needs : KbEmulatorNeeds()};
  return Success;
}

Result load(const char *call, void **library, const void *image) {
  Guard guard(mutex);
  if (Result result = note(call, false))
    return result;
  return emulator::loadImage(image, *library);
}

Result allocate(const char *call, DevicePointer *to, size_t bytes) {
  Guard guard(mutex);
  if (Result result = note(call))
    return result;
  *to = memory.allocate(bytes);
  return *to ? Success : OutOfMemory;
}

Result release(const char *call, DevicePointer what) {
  Guard guard(mutex);
  if (Result result = note(call))
    return result;
  return memory.release(what) ? Success : InvalidValue;
}

template <typename T>
Result fill(const char *call, DevicePointer to, T value, size_t count) {
  if (Result result = note(call))
    return result;
  std::fill_n(reinterpret_cast<T *>(to), count, value);
  return Success;
}

Result change(const char *call,
              bool (emulator::DeviceMemory::*how)(uint64_t, size_t),
              DevicePointer at, size_t bytes) {
  Guard guard(mutex);
  if (Result result = note(call))
    return result;
  return (memory.*how)(at, bytes) ? Success : InvalidValue;
}

} // namespace

extern "C" {

EmulatedCuda *emulatedCuda() { return &state; }

int cuInit(unsigned) {
  if (const char *text = ::getenv("KB_EMULATED_DEVICES"))
    state.numDevices = std::atoi(text);
  return note("Init", false);
}
int cuGetErrorString(int code, const char **text) {
  *text = code == IllegalAddress ? "an illegal memory access was encountered"
          : code == LaunchFailed ? "unspecified launch failure"
          : code == InvalidValue ? "invalid argument"
          : code == InvalidImage ? "device kernel image is invalid"
          : code == OutOfMemory  ? "out of memory"
          : code == InvalidClusterSize ? "cluster misconfiguration"
                                       : nullptr;
  return *text ? Success : InvalidValue;
}
int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  Result result = note("DeviceGet", false);
  bool exists = ordinal >= 0 && ordinal < state.numDevices;
  return result ? result : exists ? Success : InvalidDevice;
}
int cuDeviceGetCount(int *count) {
  *count = state.numDevices;
  return note("DeviceGetCount", false);
}
int cuDeviceGetName(char *name, int length, int) {
  std::snprintf(name, size_t(length), "KernelBrain emulator");
  return note("DeviceGetName", false);
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  kernelbrain::Target target = *makeCudaTarget(emulatedChip);
  const GpuLimits &gpu = *target.gpu;
  const std::map<int, int64_t> values = {
      {MaxThreadsPerBlock, 1024},
      {ClockKilohertz, int64_t(target.clockHz / 1000)},
      {MultiprocessorCount, gpu.multiprocessors},
      {PciBus, 1 + device},
      {L2Bytes, target.l2Bytes},
      {ThreadsPerMultiprocessor, gpu.threadsPerMultiprocessor},
      {SharedBytesPerMultiprocessor, gpu.sharedBytesPerMultiprocessor},
      {RegistersPerMultiprocessor, gpu.registersPerMultiprocessor},
      {SharedBytesPerBlockOptin, gpu.sharedBytesPerBlock},
      {VirtualMemorySupported, 1},
      {BlocksPerMultiprocessor, gpu.blocksPerMultiprocessor}};
  auto found = values.find(attribute);
  *value = found == values.end() ? 0 : int(found->second);
  return note("DeviceGetAttribute", false);
}
int cuDevicePrimaryCtxRetain(void **result, int device) {
  *result = contexts + device % std::size(contexts);
  return note("DevicePrimaryCtxRetain", false);
}
int cuCtxGetCurrent(void **result) {
  *result = context ? context : state.needsContext ? nullptr : contexts;
  return note("CtxGetCurrent", false);
}
int cuCtxSetCurrent(void *which) {
  context = static_cast<int *>(which);
  return note("CtxSetCurrent", false);
}
int cuCtxSynchronize() { return note("CtxSynchronize"); }

int cuLibraryLoadData(void **library, const void *image, int *, void **,
                      unsigned, int *, void **, unsigned) {
  return load("LibraryLoadData", library, image);
}
int cuLibraryGetKernel(void **kernel, void *library, const char *name) {
  return getKernel("LibraryGetKernel", kernel, library, name, false);
}
int cuKernelSetAttribute(int attribute, int value, void *kernel, int) {
  Result result = note("KernelSetAttribute", false);
  return result ? result : setSharedBytes(kernel, attribute, value);
}
int cuModuleLoadData(void **module, const void *image) {
  return load("ModuleLoadData", module, image);
}
int cuModuleUnload(void *) { return note("ModuleUnload"); }
int cuModuleGetFunction(void **function, void *module, const char *name) {
  return getKernel("ModuleGetFunction", function, module, name, true);
}
int cuFuncSetAttribute(void *function, int attribute, int value) {
  Result result = note("FuncSetAttribute");
  return result ? result : setSharedBytes(function, attribute, value);
}
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz,
                   unsigned bx, unsigned by, unsigned bz, unsigned sharedBytes,
                   void *stream, void **parameters, void **) {
  return launch("LaunchKernel",
                {{gx, gy, gz}, {bx, by, bz}, sharedBytes, stream, nullptr, 0},
                function, parameters);
}
int cuLaunchKernelEx(const LaunchConfig *config, void *function,
                     void **parameters, void **) {
  return launch("LaunchKernelEx", *config, function, parameters);
}

int cuStreamCreate(void **stream, unsigned) {
  *stream = handles;
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
  *event = new Time(0);
  return note("EventCreate");
}
int cuEventDestroy_v2(void *event) {
  delete static_cast<Time *>(event);
  return note("EventDestroy");
}
int cuEventSynchronize(void *) { return note("EventSynchronize"); }
int cuEventRecord(void *event, void *) {
  *static_cast<Time *>(event) = clockPs;
  return note("EventRecord");
}
int cuEventElapsedTime(float *milliseconds, void *start, void *end) {
  *milliseconds =
      float(*static_cast<Time *>(end) - *static_cast<Time *>(start)) / 1e9f;
  return note("EventElapsedTime");
}

int cuMemGetInfo_v2(size_t *available, size_t *all) {
  struct sysinfo info = {};
  ::sysinfo(&info);
  *available = size_t(info.freeram) * info.mem_unit;
  *all = size_t(info.totalram) * info.mem_unit;
  return note("MemGetInfo");
}
int cuMemAlloc_v2(DevicePointer *to, size_t bytes) {
  return allocate("MemAlloc", to, bytes);
}
int cuMemAllocManaged(DevicePointer *to, size_t bytes, unsigned) {
  return allocate("MemAllocManaged", to, bytes);
}
int cuMemAllocAsync(DevicePointer *to, size_t bytes, void *stream) {
  state.stream = stream;
  return allocate("MemAllocAsync", to, bytes);
}
int cuMemFree_v2(DevicePointer what) { return release("MemFree", what); }
int cuMemFreeAsync(DevicePointer what, void *) {
  return release("MemFreeAsync", what);
}
int cuMemAddressReserve(DevicePointer *to, size_t bytes, size_t, DevicePointer,
                        unsigned long long) {
  *to = memory.reserve(bytes);
  Result result = note("MemAddressReserve");
  return result ? result : *to ? Success : OutOfMemory;
}
int cuMemAddressFree(DevicePointer at, size_t bytes) {
  return change("MemAddressFree", &emulator::DeviceMemory::unreserve, at,
                bytes);
}
int cuMemCreate(uint64_t *handle, size_t bytes, const AllocationProperties *,
                unsigned long long) {
  *handle = bytes;
  Result result = note("MemCreate");
  return result                                        ? result
         : bytes % emulator::DeviceMemory::granularity ? InvalidValue
                                                       : Success;
}
int cuMemRelease(uint64_t) { return note("MemRelease"); }
int cuMemMap(DevicePointer at, size_t bytes, size_t, uint64_t,
             unsigned long long) {
  return change("MemMap", &emulator::DeviceMemory::map, at, bytes);
}
int cuMemUnmap(DevicePointer at, size_t bytes) {
  return change("MemUnmap", &emulator::DeviceMemory::unmap, at, bytes);
}
int cuMemSetAccess(DevicePointer, size_t, const MemoryAccess *, size_t) {
  return note("MemSetAccess");
}
int cuMemGetAllocationGranularity(size_t *bytes, const AllocationProperties *,
                                  int) {
  *bytes = emulator::DeviceMemory::granularity;
  return note("MemGetAllocationGranularity");
}
int cuMemcpyAsync(DevicePointer to, DevicePointer from, size_t bytes,
                  void *stream) {
  state.stream = stream;
  if (Result result = note("MemcpyAsync"))
    return result;
  std::memmove(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from),
               bytes);
  return Success;
}
int cuMemsetD8Async(DevicePointer to, unsigned char value, size_t count,
                    void *) {
  return fill("MemsetD8Async", to, value, count);
}
int cuMemsetD16Async(DevicePointer to, unsigned short value, size_t count,
                     void *) {
  return fill("MemsetD16Async", to, value, count);
}
int cuMemsetD32Async(DevicePointer to, unsigned value, size_t count, void *) {
  return fill("MemsetD32Async", to, value, count);
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
