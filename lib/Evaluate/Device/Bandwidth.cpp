//===- Bandwidth.cpp - What one core can move -----------------------------===//

#include "kernelbrain/Evaluate/Device/Bandwidth.h"

#include "kernelbrain/Evaluate/Device/Clock.h"

#include <algorithm>
#include <atomic>
#include <sys/mman.h>

namespace kernelbrain::evaluate {

namespace {

#ifdef __x86_64__
#define KB_WIDEST __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define KB_WIDEST
#endif

typedef long long Block __attribute__((vector_size(64)));
constexpr size_t unroll = 8, step = unroll * sizeof(Block);

/// Where sums go, so that they are made.
volatile long long sink;

KB_WIDEST void readAll(const char *from, char *, size_t bytes) {
  Block sums[unroll] = {};
  for (size_t at = 0; at < bytes; at += step)
#pragma clang loop unroll(full)
    for (size_t k = 0; k < unroll; ++k)
      sums[k] ^= *reinterpret_cast<const Block *>(from + at + 64 * k);
  Block all = {};
  for (const Block &sum : sums)
    all ^= sum;
  sink = all[0];
}

KB_WIDEST void copyHalf(const char *from, char *to, size_t bytes) {
  for (size_t at = 0; at < bytes / 2; at += step)
#pragma clang loop unroll(full)
    for (size_t k = 0; k < unroll; ++k)
      *reinterpret_cast<Block *>(to + at + 64 * k) =
          *reinterpret_cast<const Block *>(from + at + 64 * k);
}

/// Past the caches.
KB_WIDEST void streamHalf(const char *from, char *to, size_t bytes) {
  for (size_t at = 0; at < bytes / 2; at += step)
#pragma clang loop unroll(full)
    for (size_t k = 0; k < unroll; ++k)
      __builtin_nontemporal_store(
          *reinterpret_cast<const Block *>(from + at + 64 * k),
          reinterpret_cast<Block *>(to + at + 64 * k));
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

/// Memory in large pages, where the system has them.
class Pages {
public:
  explicit Pages(size_t bytes) : bytes(bytes) {
    void *mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
      return;
    start = static_cast<char *>(mapped);
    (void)::madvise(start, bytes, MADV_HUGEPAGE); // Only faster.
    std::fill_n(start, bytes, 1);
  }
  Pages(const Pages &) = delete;
  Pages &operator=(const Pages &) = delete;
  ~Pages() {
    if (start)
      ::munmap(start, bytes);
  }
  char *start = nullptr;
  const size_t bytes;
};

/// The best that `bytes` of the buffer were moved at, in bytes a second.
double bestOf(const Pages &pages, size_t bytes) {
  constexpr int64_t allowanceNs = 10000000;
  constexpr int leastPasses = 3;
  bytes = std::min(bytes, pages.bytes) / (2 * step) * (2 * step);
  double best = 0;
  for (auto move : {readAll, copyHalf, streamHalf}) {
    int64_t begin = nowNs(), before = begin;
    for (int pass = 0; pass < leastPasses || before - begin < allowanceNs;
         ++pass) {
      move(pages.start, pages.start + bytes / 2, bytes);
      int64_t now = nowNs();
      // The first pass warms up.
      if (pass && now > before)
        best = std::max(best, double(bytes) * 1e9 / double(now - before));
      before = now;
    }
  }
  return best;
}

} // namespace

PeakBandwidth measureBandwidth(const Target &target) {
  constexpr size_t least = 64 << 20, most = 256 << 20;
  Pages pages(std::clamp(size_t(std::max<int64_t>(0, target.l3Bytes)) * 2,
                         least, most));
  if (!pages.start)
    return {};
  PeakBandwidth peak;
  peak.dram = bestOf(pages, pages.bytes);
  peak.l3 = bestOf(pages, size_t(target.l3Bytes) / 2);
  peak.l2 = bestOf(pages, size_t(target.l2Bytes) / 2);
  // A farther level is no faster; noise may say so.
  peak.l3 = std::max(peak.l3, peak.dram);
  peak.l2 = std::max(peak.l2, peak.l3);
  return peak;
}

} // namespace kernelbrain::evaluate
