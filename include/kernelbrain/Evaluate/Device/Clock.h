//===- Clock.h - Monotonic time ---------------------------------*- C++ -*-===//

#ifndef KERNELBRAIN_EVALUATE_DEVICE_CLOCK_H
#define KERNELBRAIN_EVALUATE_DEVICE_CLOCK_H

#include <chrono>
#include <cstdint>

namespace kernelbrain::evaluate {

/// Nanoseconds of the monotonic clock.
inline int64_t nowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

} // namespace kernelbrain::evaluate

#endif // KERNELBRAIN_EVALUATE_DEVICE_CLOCK_H
