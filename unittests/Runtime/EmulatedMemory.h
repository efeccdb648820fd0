//===- EmulatedMemory.h - Device memory of the emulated driver --*- C++ -*-===//

#ifndef KERNELBRAIN_UNITTESTS_RUNTIME_EMULATEDMEMORY_H
#define KERNELBRAIN_UNITTESTS_RUNTIME_EMULATEDMEMORY_H

#include <cstddef>
#include <cstdint>
#include <map>

namespace kernelbrain::emulator {

/// Allocations, each between pages that nobody may touch. Not for several
/// threads at once.
class DeviceMemory {
public:
  /// Memory aligned to 256 bytes that ends within them at a forbidden page, all
  /// bytes 0xff; 0: there is none.
  uint64_t allocate(size_t bytes);
  /// False for what is no allocation.
  bool release(uint64_t memory);
  /// Address space without memory, a multiple of the granularity; 0: there is
  /// none.
  uint64_t reserve(size_t bytes);
  bool unreserve(uint64_t memory, size_t bytes);
  bool map(uint64_t memory, size_t bytes);
  bool unmap(uint64_t memory, size_t bytes);

  static constexpr size_t granularity = 64 << 10;

private:
  struct Mapping {
    void *begin;
    size_t bytes;
  };
  std::map<uint64_t, Mapping> allocations;
};

/// A shared object for this machine that lies in memory, loaded with its table
/// set. Errors are CUresults: 200 (no image), 209 (of another machine).
int loadImage(const void *image, void *&library);

} // namespace kernelbrain::emulator

#endif // KERNELBRAIN_UNITTESTS_RUNTIME_EMULATEDMEMORY_H
