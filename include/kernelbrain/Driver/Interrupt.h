//===- Interrupt.h - A request to stop --------------------------*- C++ -*-===//

#ifndef KERNELBRAIN_DRIVER_INTERRUPT_H
#define KERNELBRAIN_DRIVER_INTERRUPT_H

#include <atomic>
#include <chrono>
#include <memory>

namespace kernelbrain {

/// Shared between the owner of the signals (kb-opt's main) and the searches.
class Interrupt {
public:
  /// True for the first request.
  bool request() {
    Clock::rep never = 0;
    return since.compare_exchange_strong(never, now());
  }
  bool requested() const { return since != 0; }
  /// What is being measured gets a few seconds to come to its end, so that the
  /// best so far is accepted. True: they are over, break it off.
  bool isOverdue() const {
    constexpr std::chrono::seconds grace(5);
    return requested() && Clock::duration(now() - since) > grace;
  }

  /// A pipeline that searches has begun to run: it stops by itself, and what it
  /// has is written. Without one, the owner ends at once.
  std::atomic<bool> isHeeded{false};

private:
  using Clock = std::chrono::steady_clock;
  static Clock::rep now() { return Clock::now().time_since_epoch().count(); }

  std::atomic<Clock::rep> since{0}; ///< 0: not requested
};

} // namespace kernelbrain

#endif // KERNELBRAIN_DRIVER_INTERRUPT_H
