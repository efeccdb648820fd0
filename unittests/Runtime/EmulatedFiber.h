//===- EmulatedFiber.h - Stacks that take turns on one thread ---*- C++ -*-===//

#ifndef KERNELBRAIN_UNITTESTS_RUNTIME_EMULATEDFIBER_H
#define KERNELBRAIN_UNITTESTS_RUNTIME_EMULATEDFIBER_H

#include <cstddef>

namespace kernelbrain::emulator {

/// Memory between two pages that nobody may touch, ending at the second one.
class GuardedMemory {
public:
  GuardedMemory() = default;
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory &) = delete;
  GuardedMemory &operator=(const GuardedMemory &) = delete;

  /// Null if there is no memory. Once.
  char *allocate(size_t wanted);
  /// Whether the memory may be touched; at first it may.
  void allow(bool access);

private:
  char *mapped = nullptr;
  size_t bytes = 0;
};

/// A stack, and the stack pointer it was left at.
class Fiber {
public:
  Fiber() = default;
  ~Fiber() { release(); }
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;

  /// Takes a stack on which `entry`, which must not return, starts when the
  /// fiber is resumed next. False if there is no memory.
  bool prepare(void (*entry)());
  /// Runs it until it yields. By whoever is none, or another one.
  void resume();
  /// By itself: goes on where it was resumed last.
  void yield();
  /// Gives the stack, of which nothing is needed any more, to others.
  void release();
  /// An address on the stack at which a function may start.
  char *top() const;

private:
  char *stack = nullptr; ///< its lowest address
  void *left = nullptr;  ///< the stack pointer while it does not run
  void *resumer = nullptr;
};

} // namespace kernelbrain::emulator

#endif // KERNELBRAIN_UNITTESTS_RUNTIME_EMULATEDFIBER_H
