//===- CudaDevice.cpp - One GPU, through the CUDA driver ------------------===//

#include "CudaDevice.h"

#include <algorithm>
#include <dlfcn.h>

namespace kernelbrain::evaluate {

using cuda::Driver;

static int32_t asStatus(cuda::Result result) { return cuda::status(result); }

static Error driverError(const Driver *driver, const char *what,
                         cuda::Result result) {
  const char *text = nullptr;
  if (driver)
    driver->GetErrorString(result, &text);
  return Error{std::string(what) + ": " +
               (text ? text : "CUDA error " + std::to_string(result))};
}

static Result<const Driver *> findDriver() {
  cuda::Result result;
  const Driver *driver = cuda::driver(result);
  if (!driver)
    return driverError(nullptr, "there is no usable CUDA driver", result);
  return driver;
}

Result<int> countCudaDevices() {
  Result<const Driver *> driver = findDriver();
  if (!driver)
    return driver.error();
  int count = 0;
  if (cuda::Result result = (*driver)->DeviceGetCount(&count))
    return driverError(*driver, "cannot count the GPUs", result);
  if (count == 0)
    return Error{"the CUDA driver sees no GPU"};
  return count;
}

//===----------------------------------------------------------------------===//
// Description
//===----------------------------------------------------------------------===//

static const char emulatorName[] = "KernelBrain emulator";

static std::string nameOf(const Driver &driver, int device) {
  char name[256] = {};
  driver.DeviceGetName(name, sizeof name - 1, device);
  return name;
}

Result<CudaDescription> describeCuda(int ordinal) {
  Result<const Driver *> found = findDriver();
  if (!found)
    return found.error();
  const Driver &driver = **found;
  int device = 0;
  if (cuda::Result result = driver.DeviceGet(&device, ordinal))
    return driverError(&driver, "cannot find the GPU", result);
  auto ask = [&](cuda::DeviceAttribute attribute) {
    int value = 0;
    return driver.DeviceGetAttribute(&value, attribute, device) ? 0 : value;
  };
  std::string name = nameOf(driver, device);
  int major = ask(cuda::ComputeCapabilityMajor),
      minor = ask(cuda::ComputeCapabilityMinor);
  std::string chip =
      name == emulatorName ? emulatedChip : cudaChipOf(major, minor);
  Result<Target> target = makeCudaTarget(chip);
  if (!target)
    return Error{"'" + name + "' has compute capability " +
                 std::to_string(major) + "." + std::to_string(minor) +
                 ", which is not known"};
  auto take = [&](cuda::DeviceAttribute attribute, int64_t &into) {
    if (int64_t value = ask(attribute); value > 0)
      into = value;
  };
  GpuLimits &gpu = *target->gpu;
  take(cuda::MultiprocessorCount, gpu.multiprocessors);
  take(cuda::ThreadsPerMultiprocessor, gpu.threadsPerMultiprocessor);
  take(cuda::BlocksPerMultiprocessor, gpu.blocksPerMultiprocessor);
  take(cuda::RegistersPerMultiprocessor, gpu.registersPerMultiprocessor);
  take(cuda::SharedBytesPerMultiprocessor, gpu.sharedBytesPerMultiprocessor);
  take(cuda::SharedBytesPerBlockOptin, gpu.sharedBytesPerBlock);
  take(cuda::L2Bytes, target->l2Bytes);
  target->l1Bytes = gpu.sharedBytesPerMultiprocessor;
  if (int kilohertz = ask(cuda::ClockKilohertz))
    target->clockHz = 1e3 * kilohertz;
  // Two transfers a clock. A virtual GPU may hide these.
  double bandwidth =
      2e3 * ask(cuda::MemoryClockKilohertz) * (ask(cuda::MemoryBusBits) / 8.0);
  if (bandwidth > 0) {
    target->cacheBytesPerSecond *= bandwidth / target->dramBytesPerSecond;
    target->dramBytesPerSecond = bandwidth;
  }
  std::string place = std::to_string(ask(cuda::PciDomain)) + "-" +
                      std::to_string(ask(cuda::PciBus)) + "-" +
                      std::to_string(ask(cuda::PciDevice));
  return CudaDescription{name, place, *target};
}

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

Result<std::unique_ptr<CudaDevice>> CudaDevice::open(int ordinal) {
  Result<const Driver *> driver = findDriver();
  if (!driver)
    return driver.error();
  if (cuda::Result result = cuda::useContext(**driver, ordinal))
    return driverError(*driver, "cannot use the GPU", result);
  std::unique_ptr<CudaDevice> device(new CudaDevice(**driver, ordinal));
  int handle = 0, l2 = 0;
  device->driver.DeviceGet(&handle, ordinal);
  device->emulated = nameOf(device->driver, handle) == emulatorName;
  device->driver.DeviceGetAttribute(&l2, cuda::L2Bytes, handle);
  // It must also take the device longer than the host takes to enqueue a call:
  // some ten microseconds.
  constexpr size_t longEnough = size_t(64) << 20;
  device->flushBytes = std::max(2 * size_t(std::max(l2, 0)),
                                device->emulated ? 1 << 20 : longEnough);
  return device;
}

std::string CudaDevice::driverFolder() const {
  Dl_info info;
  if (!::dladdr(reinterpret_cast<void *>(driver.Init), &info) ||
      !info.dli_fname)
    return "";
  std::string path = info.dli_fname;
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

uint64_t CudaDevice::allocateEnd(int64_t bytes) {
  cuda::AllocationProperties properties;
  properties.location.id = ordinal;
  size_t unit = 0;
  if (driver.MemGetAllocationGranularity(&unit, &properties, 0) || unit == 0)
    return 0;
  size_t room = (size_t(std::max<int64_t>(bytes, 1)) + unit - 1) / unit * unit;
  uint64_t handle = 0;
  cuda::DevicePointer begin = 0;
  if (driver.MemCreate(&handle, room, &properties, 0))
    return 0;
  cuda::MemoryAccess access;
  access.device = ordinal;
  // Address space without memory on both sides.
  bool done = !driver.MemAddressReserve(&begin, room + 2 * unit, 0, 0, 0) &&
              !driver.MemMap(begin + unit, room, 0, handle, 0) &&
              !driver.MemSetAccess(begin + unit, room, &access, 1);
  driver.MemRelease(handle); // it lives as long as it is mapped
  if (done)
    allocations.push_back({begin, room + 2 * unit, unit});
  return done ? begin + unit + room : 0;
}

void CudaDevice::release(void *memory) {
  auto address = reinterpret_cast<uint64_t>(memory);
  auto found =
      std::find_if(allocations.begin(), allocations.end(),
                   [&](const Allocation &allocation) {
                     return address - allocation.begin < allocation.bytes;
                   });
  if (found == allocations.end())
    return;
  driver.MemUnmap(found->begin + found->unit, found->bytes - 2 * found->unit);
  driver.MemAddressFree(found->begin, found->bytes);
  allocations.erase(found);
}

Status CudaDevice::mirror(char *base, const std::vector<int64_t> &forbidden) {
  constexpr int64_t page = 4096;
  host = base;
  for (size_t k = 0; k + 1 < forbidden.size(); ++k) {
    int64_t begin = forbidden[k] + page, end = forbidden[k + 1];
    uint64_t memory = allocateEnd(end - begin);
    if (!memory)
      return Error{"the GPU has no memory for " + std::to_string(end - begin) +
                   " bytes"};
    mirrors.push_back({begin, end, memory - uint64_t(end)});
    // Only faster.
    (void)driver.MemHostRegister(base + begin, size_t(end - begin), 0);
  }
  return {};
}

Status CudaDevice::mirrorExactly(char *base,
                                 const std::vector<int64_t> &offsets,
                                 const std::vector<int64_t> &bytes) {
  for (const Mirror &mirror : mirrors)
    driver.MemFree(mirror.base + uint64_t(mirror.begin));
  mirrors.clear();
  host = base;
  for (size_t k = 0; k < offsets.size(); ++k) {
    uint64_t memory = 0;
    if (cuda::Result result =
            driver.MemAlloc(&memory, size_t(std::max<int64_t>(1, bytes[k]))))
      return driverError(&driver, "the GPU has no memory", result);
    mirrors.push_back(
        {offsets[k], offsets[k] + bytes[k], memory - uint64_t(offsets[k])});
  }
  return {};
}

const CudaDevice::Mirror *CudaDevice::find(int64_t offset) const {
  for (const Mirror &mirror : mirrors)
    if (offset >= mirror.begin && offset <= mirror.end)
      return &mirror;
  return nullptr;
}

void *CudaDevice::address(int64_t offset) const {
  const Mirror *mirror = find(offset);
  return mirror ? reinterpret_cast<void *>(mirror->base + uint64_t(offset))
                : nullptr;
}

const CudaDevice::Mirror *CudaDevice::clip(int64_t &begin, int64_t &end) const {
  const Mirror *mirror = find(begin + (end - begin) / 2);
  if (!mirror)
    return nullptr;
  begin = std::max(begin, mirror->begin);
  end = std::min(end, mirror->end);
  return begin < end ? mirror : nullptr;
}

int32_t CudaDevice::upload(int64_t begin, int64_t bytes) {
  int64_t end = begin + bytes;
  const Mirror *mirror = clip(begin, end);
  return mirror ? asStatus(driver.MemcpyAsync(
                      mirror->base + uint64_t(begin),
                      reinterpret_cast<uint64_t>(host + begin),
                      size_t(end - begin), nullptr))
                : 0;
}

int32_t CudaDevice::download(int64_t begin, int64_t bytes) {
  int64_t end = begin + bytes;
  const Mirror *mirror = clip(begin, end);
  return mirror ? asStatus(driver.MemcpyAsync(
                      reinterpret_cast<uint64_t>(host + begin),
                      mirror->base + uint64_t(begin), size_t(end - begin),
                      nullptr))
                : 0;
}

int32_t CudaDevice::poison(int64_t begin, int64_t bytes, int value) {
  int64_t end = begin + bytes;
  const Mirror *mirror = clip(begin, end);
  return mirror ? asStatus(driver.MemsetD8Async(mirror->base + uint64_t(begin),
                                                uint8_t(value),
                                                size_t(end - begin), nullptr))
                : 0;
}

void *CudaDevice::allocate(int64_t bytes) {
  constexpr uint64_t alignment = 256;
  uint64_t end = allocateEnd(bytes);
  return end ? reinterpret_cast<void *>((end - uint64_t(bytes)) / alignment *
                                        alignment)
             : nullptr;
}

int32_t CudaDevice::fill(void *memory, int value, int64_t bytes) {
  return asStatus(driver.MemsetD8Async(reinterpret_cast<uint64_t>(memory),
                                       uint8_t(value), size_t(bytes), nullptr));
}

int32_t CudaDevice::synchronize() {
  return asStatus(driver.StreamSynchronize(nullptr));
}

int32_t CudaDevice::flush() {
  if (!flushMemory)
    if (cuda::Result result = driver.MemAlloc(&flushMemory, flushBytes))
      return asStatus(result);
  return asStatus(
      driver.MemsetD32Async(flushMemory, 0, flushBytes / 4, nullptr));
}

std::string CudaDevice::message(int32_t status) const {
  const char *text = nullptr;
  if (status > 1000 && !driver.GetErrorString(status - 1000, &text) && text)
    return text;
  return "status " + std::to_string(status);
}

//===----------------------------------------------------------------------===//
// Timer
//===----------------------------------------------------------------------===//

CudaDevice::Timer::~Timer() {
  for (void *event : events)
    device.driver.EventDestroy(event);
}

int32_t CudaDevice::Timer::record() {
  void *event = nullptr;
  if (cuda::Result result = device.driver.EventCreate(&event, 0))
    return asStatus(result);
  events.push_back(event);
  return asStatus(device.driver.EventRecord(event, nullptr));
}

int32_t CudaDevice::Timer::start() { return record(); }
int32_t CudaDevice::Timer::stop() { return record(); }

int32_t CudaDevice::Timer::read(std::vector<int64_t> &ns) {
  for (size_t k = 0; k + 1 < events.size(); k += 2) {
    float milliseconds = 0;
    if (cuda::Result result = device.driver.EventElapsedTime(
            &milliseconds, events[k], events[k + 1]))
      return asStatus(result);
    ns.push_back(int64_t(double(milliseconds) * 1e6));
  }
  return 0;
}

} // namespace kernelbrain::evaluate
