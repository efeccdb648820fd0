//===- CudaDevice.h - One GPU, through the CUDA driver ----------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_EVALUATE_DEVICE_CUDADEVICE_H
#define KERNELBRAIN_LIB_EVALUATE_DEVICE_CUDADEVICE_H

#include "kernelbrain/Core/Target.h"
#include "kernelbrain/Runtime/CudaDriver.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kernelbrain::evaluate {

/// How many GPUs the driver sees; an error where there is no driver or none.
Result<int> countCudaDevices();

struct CudaDescription {
  std::string name;
  /// Where it is in this machine, whatever its ordinal: "domain-bus-device".
  std::string place;
  Target target;
};
/// What the driver says of a GPU, completed from makeCudaTarget().
Result<CudaDescription> describeCuda(int ordinal);

/// A GPU in a runner: its context, which is current on the thread that opened
/// it, and a mirror of the shared buffers. Statuses are those of
/// CudaRuntime.h: 0, or 1000 and the driver's error.
class CudaDevice {
public:
  /// Makes a context: up to a second.
  static Result<std::unique_ptr<CudaDevice>> open(int ordinal);

  bool isEmulated() const { return emulated; }
  /// Folder of the driver's library.
  std::string driverFolder() const;

  /// Gives each stretch between two of the pages `forbidden` of the buffers at
  /// `base` its like on the device: at the same distance from an inaccessible
  /// end. Host memory is pinned where the system allows it.
  Status mirror(char *base, const std::vector<int64_t> &forbidden);
  /// Instead: each of the arguments of a call has an allocation of its own, as
  /// large as it is, so that a tool sees what is beside it.
  Status mirrorExactly(char *base, const std::vector<int64_t> &offsets,
                       const std::vector<int64_t> &bytes);
  /// Device address of an offset in the shared buffers.
  void *address(int64_t offset) const;
  /// Copies [offset, offset + bytes), as far as it is mirrored, in stream
  /// order.
  int32_t upload(int64_t offset, int64_t bytes);
  int32_t download(int64_t offset, int64_t bytes);
  /// Fills the same on the device.
  int32_t poison(int64_t offset, int64_t bytes, int value);

  /// Memory that ends, within 256 bytes, where nothing is accessible; null:
  /// there is not so much.
  void *allocate(int64_t bytes);
  void release(void *memory);
  /// Fills device memory in stream order.
  int32_t fill(void *memory, int value, int64_t bytes);
  int32_t synchronize();
  /// Writes over twice the second-level cache, in stream order, so that nothing
  /// else is left in it.
  int32_t flush();

  /// Times `work` by the device's clock: records events around each of its
  /// pieces of work.
  class Timer {
  public:
    explicit Timer(CudaDevice &device) : device(device) {}
    Timer(const Timer &) = delete;
    ~Timer();
    int32_t start();
    int32_t stop();
    /// Nanoseconds between start and stop of each piece, once synchronised.
    int32_t read(std::vector<int64_t> &ns);

  private:
    int32_t record();
    CudaDevice &device;
    std::vector<void *> events;
  };

  /// The driver's words for a status.
  std::string message(int32_t status) const;

private:
  explicit CudaDevice(const cuda::Driver &driver, int ordinal)
      : driver(driver), ordinal(ordinal) {}
  struct Mirror {
    int64_t begin, end; ///< offsets in the shared buffers
    uint64_t base;      ///< what offset 0 would be
  };
  /// Address space, with memory in all of it but a unit on each side.
  struct Allocation {
    uint64_t begin;
    size_t bytes, unit;
  };
  const Mirror *find(int64_t offset) const;
  /// Cuts [begin, end) to what is mirrored; null: nothing is.
  const Mirror *clip(int64_t &begin, int64_t &end) const;
  /// The end of fresh memory, behind which nothing is accessible; 0: none.
  uint64_t allocateEnd(int64_t bytes);

  const cuda::Driver &driver;
  int ordinal;
  bool emulated = false;
  char *host = nullptr;
  std::vector<Mirror> mirrors;
  std::vector<Allocation> allocations;
  uint64_t flushMemory = 0;
  size_t flushBytes = 0;
};

} // namespace kernelbrain::evaluate

#endif // KERNELBRAIN_LIB_EVALUATE_DEVICE_CUDADEVICE_H
