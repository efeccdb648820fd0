//===- Parallel.h - Loops on several cores ----------------------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_EVALUATE_DEVICE_PARALLEL_H
#define KERNELBRAIN_LIB_EVALUATE_DEVICE_PARALLEL_H

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace kernelbrain::evaluate {

/// Calls work(begin, end) for pieces of [0, count) of `grain`, the last one
/// smaller, on up to `threads` threads; returns when all are done.
template <typename Work>
void forEachPiece(int threads, int64_t count, int64_t grain, Work work) {
  int64_t pieces = (count + grain - 1) / grain;
  std::atomic<int64_t> next{0};
  auto take = [&] {
    for (int64_t piece; (piece = next++) < pieces;)
      work(piece * grain, std::min(count, (piece + 1) * grain));
  };
  std::vector<std::thread> helpers;
  for (int64_t k = 1; k < std::min<int64_t>(threads, pieces); ++k)
    helpers.emplace_back(take);
  take();
  for (std::thread &helper : helpers)
    helper.join();
}

/// Bytes that are worth a piece of their own.
constexpr int64_t pieceBytes = 1 << 20;

inline void fillBytes(int threads, char *to, int value, int64_t bytes) {
  forEachPiece(threads, bytes, pieceBytes, [&](int64_t begin, int64_t end) {
    std::memset(to + begin, value, size_t(end - begin));
  });
}

inline void copyBytes(int threads, char *to, const char *from, int64_t bytes) {
  forEachPiece(threads, bytes, pieceBytes, [&](int64_t begin, int64_t end) {
    std::memcpy(to + begin, from + begin, size_t(end - begin));
  });
}

inline bool equalBytes(int threads, const char *a, const char *b,
                       int64_t bytes) {
  std::atomic<bool> equal{true};
  forEachPiece(threads, bytes, pieceBytes, [&](int64_t begin, int64_t end) {
    if (equal && std::memcmp(a + begin, b + begin, size_t(end - begin)) != 0)
      equal = false;
  });
  return equal;
}

} // namespace kernelbrain::evaluate

#endif // KERNELBRAIN_LIB_EVALUATE_DEVICE_PARALLEL_H
