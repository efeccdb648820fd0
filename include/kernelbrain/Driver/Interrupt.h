//===- Interrupt.h - A request to stop --------------------------*- C++ -*-===//

#ifndef KERNELBRAIN_DRIVER_INTERRUPT_H
#define KERNELBRAIN_DRIVER_INTERRUPT_H

#include <atomic>
#include <memory>

namespace kernelbrain {

/// Shared between the owner of the signals (kb-opt's main) and the searches.
struct Interrupt {
  std::atomic<bool> requested{false};
  /// A pipeline that searches has begun to run: it stops by itself, and what it
  /// has is written. Without one, the owner ends at once.
  std::atomic<bool> isHeeded{false};
};

} // namespace kernelbrain

#endif // KERNELBRAIN_DRIVER_INTERRUPT_H
