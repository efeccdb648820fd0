//===- SharedBuffers.cpp - Buffers that checker and runner share ----------===//

#include "kernelbrain/Evaluate/Device/SharedBuffers.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace kernelbrain::evaluate {

static int64_t roundUp(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

int64_t availableBytes() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  int64_t kibibytes = 0;
  while (file >> word)
    if (word == "MemAvailable:")
      return file >> kibibytes ? kibibytes * 1024 : 0;
  return 0;
}

static std::string gibibytes(int64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GiB", double(bytes) / (1 << 30));
  return text;
}

/// Buffers that do not fit would not fail here but end some process later.
static Status checkMemory(int64_t bytes) {
  int64_t available = availableBytes();
  if (available == 0 || bytes <= available / 10 * 7)
    return {};
  return Error{"buffers of " + gibibytes(bytes) + " do not fit in memory, " +
               gibibytes(available) + " are available"};
}

Result<SharedBuffers>
SharedBuffers::create(const std::vector<SlotRequest> &requests) {
  SharedBuffers buffers;
  int64_t at = pageBytes;
  for (const SlotRequest &request : requests) {
    // No machine has an address space of this size; the sum cannot overflow.
    constexpr int64_t largest = int64_t(1) << 46;
    if (request.capacity > largest)
      return Error{"a buffer of more than 64 TiB does not fit in memory"};
    int64_t alignment = std::max<int64_t>(1, request.alignment);
    // Two pages of guard zone and up to one page of stagger.
    int64_t room = roundUp(request.capacity, pageBytes) + 3 * pageBytes +
                   (alignment > 64 ? roundUp(alignment, pageBytes) : 0);
    buffers.slots.push_back({at, at + room, alignment, request.misaligned,
                             std::max(alignment, request.centered)});
    at += room + pageBytes;
  }
  buffers.bytes = at;
  if (Status status = checkMemory(at); !status)
    return status.error();
  buffers.file = ::memfd_create("kb-buffers", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (buffers.file < 0 || ::ftruncate(buffers.file, at) != 0)
    return Error{std::string("cannot create shared buffers: ") +
                 std::strerror(errno)};
  // Else a runner could cut the file short and the checker would fault.
  ::fcntl(buffers.file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  void *mapped =
      ::mmap(nullptr, at, PROT_READ | PROT_WRITE, MAP_SHARED, buffers.file, 0);
  if (mapped == MAP_FAILED)
    return Error{std::string("cannot map shared buffers: ") +
                 std::strerror(errno)};
  buffers.base = static_cast<char *>(mapped);
  return buffers;
}

SharedBuffers::SharedBuffers(SharedBuffers &&other) noexcept
    : slots(std::move(other.slots)), base(std::exchange(other.base, nullptr)),
      bytes(std::exchange(other.bytes, 0)),
      file(std::exchange(other.file, -1)) {}

SharedBuffers &SharedBuffers::operator=(SharedBuffers &&other) noexcept {
  std::swap(slots, other.slots);
  std::swap(base, other.base);
  std::swap(bytes, other.bytes);
  std::swap(file, other.file);
  return *this;
}

SharedBuffers::~SharedBuffers() {
  if (base)
    ::munmap(base, bytes);
  if (file >= 0)
    ::close(file);
}

std::vector<int64_t> SharedBuffers::forbiddenPages() const {
  std::vector<int64_t> pages = {0};
  for (const Slot &slot : slots)
    pages.push_back(slot.end);
  return pages;
}

int64_t SharedBuffers::offsetOf(size_t index, int64_t count,
                                Placement placement) const {
  const Slot &slot = slots[index];
  if (placement == Placement::AtEnd) {
    int64_t at = (slot.end - count) / slot.alignment * slot.alignment;
    bool move = slot.misaligned && slot.alignment <= 16 && at % 64 == 0;
    return move ? at - 16 : at;
  }
  // Buffers that all start at the same offset in a page make loads and stores
  // of different buffers collide, which no allocator does: stagger them.
  int64_t stagger = int64_t(index * 13 + 1) * 64 % pageBytes;
  return roundUp(slot.begin + pageBytes + stagger, slot.centered);
}

void SharedBuffers::fillGuards(size_t index, int64_t count, Placement placement,
                               Poison poison) {
  int64_t at = offsetOf(index, count, placement), after = at + count;
  std::memset(base + at - pageBytes, int(poison), pageBytes);
  std::memset(base + after, int(poison),
              std::min(pageBytes, slots[index].end - after));
}

int64_t SharedBuffers::firstChangedGuard(size_t index, int64_t count,
                                         Placement placement,
                                         Poison poison) const {
  int64_t at = offsetOf(index, count, placement), after = at + count;
  auto changed = [&](int64_t offset) {
    return uint8_t(base[offset]) != uint8_t(poison);
  };
  for (int64_t k = 1; k <= pageBytes; ++k)
    if (changed(at - k))
      return -k;
  int64_t end = std::min(after + pageBytes, slots[index].end);
  for (int64_t k = after; k < end; ++k)
    if (changed(k))
      return k - at;
  return count - 1;
}

} // namespace kernelbrain::evaluate
