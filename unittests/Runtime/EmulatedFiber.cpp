//===- EmulatedFiber.cpp - Stacks that take turns on one thread -----------===//

#include "EmulatedFiber.h"

#include <algorithm>
#include <sys/mman.h>
#include <utility>
#include <vector>

#ifndef __x86_64__
#error "the emulated GPU switches fibers by hand, on x86-64 only"
#endif

// Leaves one stack for another: saves the registers that a call preserves, and
// where it was left in *from.
asm(R"(
  .text
  .type kbemuSwitch, @function
kbemuSwitch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size kbemuSwitch, . - kbemuSwitch
)");
extern "C" void kbemuSwitch(void **from, void *to);

namespace kernelbrain::emulator {

static constexpr size_t page = 4096, stackBytes = 256 << 10;

GuardedMemory::~GuardedMemory() {
  if (mapped)
    ::munmap(mapped, bytes);
}

char *GuardedMemory::allocate(size_t wanted) {
  size_t room = (wanted + page - 1) / page * page;
  bytes = room + 2 * page;
  void *at = ::mmap(nullptr, bytes, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    return nullptr;
  mapped = static_cast<char *>(at);
  allow(true);
  return mapped + page + room - wanted;
}

void GuardedMemory::allow(bool access) {
  ::mprotect(mapped + page, bytes - 2 * page,
             access ? PROT_READ | PROT_WRITE : PROT_NONE);
}

/// Stacks are used again: in most kernels a thread runs from start to end
/// without waiting for another, and one stack serves all of them.
static std::vector<char *> unusedStacks;

bool Fiber::prepare(void (*entry)()) {
  if (!unusedStacks.empty()) {
    stack = unusedStacks.back();
    unusedStacks.pop_back();
  } else {
    auto *memory = new GuardedMemory; // lives as long as the process
    stack = memory->allocate(stackBytes);
    if (!stack)
      return false;
  }
  // As kbemuSwitch leaves a stack: six registers, then where to return to, at
  // which a function finds its stack eight bytes off sixteen.
  auto **top = reinterpret_cast<void **>(stack + stackBytes) - 2;
  *top = reinterpret_cast<void *>(entry);
  std::fill_n(top - 6, 6, nullptr);
  left = top - 6;
  return true;
}

void Fiber::resume() { kbemuSwitch(&resumer, left); }

void Fiber::yield() { kbemuSwitch(&left, resumer); }

void Fiber::release() {
  if (stack)
    unusedStacks.push_back(std::exchange(stack, nullptr));
}

char *Fiber::top() const { return stack + stackBytes; }

} // namespace kernelbrain::emulator
