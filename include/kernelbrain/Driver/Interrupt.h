//===- Interrupt.h - A request to stop --------------------------*- C++ -*-===//

#ifndef KERNELBRAIN_DRIVER_INTERRUPT_H
#define KERNELBRAIN_DRIVER_INTERRUPT_H

#include <atomic>
#include <memory>

namespace kernelbrain {

/// Shared between the owner of the signals (kb-opt's main) and the searches.
struct Interrupt {
  std::atomic<bool> requested{false};
  /// Searches that would stop by themselves; with none, the owner ends at once.
  std::atomic<int> searches{0};
};

} // namespace kernelbrain

#endif // KERNELBRAIN_DRIVER_INTERRUPT_H
