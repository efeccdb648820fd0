//===- SharedBuffers.h - Buffers that checker and runner share --*- C++ -*-===//
//
// One sealed memory file with a slot for each argument of a kernel. A slot lies
// between two pages that the runner cannot touch; inside it a buffer has a
// guard zone in front and one behind, except that a buffer placed at the end
// meets the forbidden page.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_EVALUATE_DEVICE_SHAREDBUFFERS_H
#define KERNELBRAIN_EVALUATE_DEVICE_SHAREDBUFFERS_H

#include "kernelbrain/Support/Result.h"

#include <cstdint>
#include <vector>

namespace kernelbrain::evaluate {

enum class Placement {
  Centered, ///< aligned as allocators do, guard zones on both sides
  AtEnd     ///< as little aligned as callers promise, ends at a forbidden page
};

/// What outputs and guard zones hold before a run. Both are far from results:
/// NaN (or -1) and large finite values (or NaN for 16-bit floats).
enum class Poison : uint8_t { First = 0xff, Second = 0x7f };

/// Memory of this machine that can be had without swapping; 0 if the system
/// does not tell.
int64_t availableBytes();

struct SlotRequest {
  int64_t capacity = 0;  ///< bytes of the largest buffer it has to hold
  int64_t alignment = 1; ///< what callers promise
  /// At the end of memory: not at 64 bytes, if less is promised, at the price
  /// of a gap of 16 bytes.
  bool misaligned = false;
  int64_t centered = 64; ///< alignment of a centered buffer, at least
};

class SharedBuffers {
public:
  static Result<SharedBuffers> create(const std::vector<SlotRequest> &slots);
  SharedBuffers(SharedBuffers &&other) noexcept;
  SharedBuffers &operator=(SharedBuffers &&other) noexcept;
  ~SharedBuffers();

  int fd() const { return file; }
  int64_t size() const { return bytes; }
  /// Offsets of the pages that the runner makes inaccessible.
  std::vector<int64_t> forbiddenPages() const;

  /// Offset in the file of a buffer of `count` bytes in slot `slot`.
  int64_t offsetOf(size_t slot, int64_t count, Placement placement) const;
  char *data(size_t slot, int64_t count, Placement placement) {
    return base + offsetOf(slot, count, placement);
  }

  /// Fills the guard zones around a buffer.
  void fillGuards(size_t slot, int64_t count, Placement placement,
                  Poison poison);
  /// Distance in bytes of the first changed guard byte: negative in front of
  /// the buffer, from `count` on behind it. `count` - 1 stands for "intact".
  int64_t firstChangedGuard(size_t slot, int64_t count, Placement placement,
                            Poison poison) const;

  static constexpr int64_t pageBytes = 4096;

private:
  SharedBuffers() = default;
  struct Slot {
    int64_t begin, end; ///< of what the runner may touch
    int64_t alignment;
    bool misaligned;
    int64_t centered;
  };
  std::vector<Slot> slots;
  char *base = nullptr;
  int64_t bytes = 0;
  int file = -1;
};

} // namespace kernelbrain::evaluate

#endif // KERNELBRAIN_EVALUATE_DEVICE_SHAREDBUFFERS_H
