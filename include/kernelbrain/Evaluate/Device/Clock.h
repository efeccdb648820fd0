//===- Clock.h - Monotonic time ---------------------------------*- C++ -*-===//

#ifndef KERNELBRAIN_EVALUATE_DEVICE_CLOCK_H
#define KERNELBRAIN_EVALUATE_DEVICE_CLOCK_H

#include <chrono>
#include <cstdint>
#include <ctime>
#include <sys/types.h>

namespace kernelbrain::evaluate {

/// Nanoseconds of the monotonic clock.
inline int64_t nowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// CPU time of a process in nanoseconds; 0 if it is gone.
inline int64_t processCpuNs(pid_t pid) {
  clockid_t clock;
  timespec time;
  if (::clock_getcpuclockid(pid, &clock) != 0 ||
      ::clock_gettime(clock, &time) != 0)
    return 0;
  return int64_t(time.tv_sec) * 1000000000 + time.tv_nsec;
}

/// CPU time of this process in nanoseconds.
inline int64_t processCpuNs() { return processCpuNs(0); }

} // namespace kernelbrain::evaluate

#endif // KERNELBRAIN_EVALUATE_DEVICE_CLOCK_H
