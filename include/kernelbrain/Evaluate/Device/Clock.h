//===- Clock.h - Monotonic time ---------------------------------*- C++ -*-===//

#ifndef KERNELBRAIN_EVALUATE_DEVICE_CLOCK_H
#define KERNELBRAIN_EVALUATE_DEVICE_CLOCK_H

#include <chrono>
#include <cstdint>
#include <ctime>

namespace kernelbrain::evaluate {

/// Nanoseconds of the monotonic clock.
inline int64_t nowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// CPU time of this process in nanoseconds.
inline int64_t processCpuNs() {
  timespec time;
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return int64_t(time.tv_sec) * 1000000000 + time.tv_nsec;
}

} // namespace kernelbrain::evaluate

#endif // KERNELBRAIN_EVALUATE_DEVICE_CLOCK_H
