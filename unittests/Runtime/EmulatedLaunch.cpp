//===- EmulatedLaunch.cpp - Device code on the host's CPU -----------------===//
//
// A thread of a block is a fiber: a stack, and the stack pointer it was left
// at. Fibers switch to the scheduler in barrier() and shuffle() alone; a fault
// in one ends the launch.
//
//===----------------------------------------------------------------------===//

#include "EmulatedLaunch.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <sys/mman.h>
#include <ucontext.h>
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
namespace {

constexpr size_t page = 4096, stackBytes = 256 << 10;
constexpr int illegalAddress = 700, launchFailed = 719;
constexpr unsigned warpSize = 32;

/// Memory between two pages that nobody may touch, ending at the second one.
class GuardedMemory {
public:
  ~GuardedMemory() {
    if (mapped)
      ::munmap(mapped, bytes);
  }
  /// Null if there is no memory.
  char *allocate(size_t wanted) {
    size_t room = (wanted + page - 1) / page * page;
    bytes = room + 2 * page;
    void *at = ::mmap(nullptr, bytes, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
      return nullptr;
    mapped = static_cast<char *>(at);
    ::mprotect(mapped + page, room, PROT_READ | PROT_WRITE);
    return mapped + page;
  }

private:
  char *mapped = nullptr;
  size_t bytes = 0;
};

struct Shuffle {
  int32_t mode, bits, operand, width;
  int32_t result, valid;
};

struct Thread {
  enum State { New, Ready, AtBarrier, AtShuffle, Ended };
  State state = New;
  char *stack = nullptr; ///< its lowest address
  void *left = nullptr;  ///< the stack pointer while it does not run
  int64_t index[3] = {};
  Shuffle shuffle = {};
};

class Block {
public:
  explicit Block(const Launch &launch);
  /// Runs one block; false if the launch is to end.
  bool run(const unsigned (&which)[3]);

  int64_t index(int32_t which) const;
  void barrier();
  int32_t shuffle(int32_t mode, int32_t bits, int32_t operand, int32_t width,
                  int32_t *valid);
  void *dynamicShared() const { return shared; }
  /// Ends the launch; does not return to the running thread.
  [[noreturn]] void fail(int error);
  /// As fail(), for a signal handler: an address on the running thread's stack
  /// at which a function may start.
  char *stackTop() const { return threads[running].stack + stackBytes; }
  LaunchResult result;

private:
  [[noreturn]] static void begin();
  void start(unsigned number);
  void wait(Thread::State state);
  void endThread();
  void releaseBarrier();
  void resolveShuffle(unsigned number);
  void explainDeadlock() const;
  /// The threads of a shuffle's group that exist: [first, last).
  unsigned firstOf(unsigned number) const {
    return number / unsigned(threads[number].shuffle.width) *
           unsigned(threads[number].shuffle.width);
  }
  unsigned lastOf(unsigned number) const {
    return std::min(unsigned(threads.size()),
                    firstOf(number) + unsigned(threads[number].shuffle.width));
  }
  void makeReady(unsigned number) {
    threads[number].state = Thread::Ready;
    queue[queueEnd++ % queue.size()] = number;
  }

  const Launch &launch;
  unsigned number[3] = {};
  std::vector<Thread> threads;
  std::vector<unsigned> queue; ///< a ring of threads that can go on
  size_t queueBegin = 0, queueEnd = 0;
  unsigned running = 0, live = 0, waiting = 0;
  std::vector<unsigned> shuffling; ///< by warp: threads that wait in one
  void *scheduler = nullptr;       ///< the stack pointer of run()
  GuardedMemory sharedMemory;
  char *shared = nullptr;
};

/// The launch that runs on this thread.
thread_local Block *current = nullptr;

/// Stacks are used again: in most kernels a thread runs from start to end
/// without waiting for another, and one stack serves all of them.
class StackPool {
public:
  char *take() {
    if (!unused.empty()) {
      char *stack = unused.back();
      unused.pop_back();
      return stack;
    }
    auto *memory = new GuardedMemory; // lives as long as the process
    return memory->allocate(stackBytes);
  }
  void put(char *stack) { unused.push_back(stack); }

private:
  std::vector<char *> unused;
} stacks;

} // namespace

Block::Block(const Launch &launch) : launch(launch) {
  size_t count = size_t(launch.block[0]) * launch.block[1] * launch.block[2];
  threads.resize(count);
  queue.resize(count);
  shuffling.resize((count + warpSize - 1) / warpSize);
  for (size_t k = 0; k < count; ++k) {
    threads[k].index[0] = int64_t(k % launch.block[0]);
    threads[k].index[1] = int64_t(k / launch.block[0] % launch.block[1]);
    threads[k].index[2] = int64_t(k / launch.block[0] / launch.block[1]);
  }
  constexpr size_t alignment = 1024;
  size_t bytes = (launch.sharedBytes + alignment - 1) / alignment * alignment;
  shared = sharedMemory.allocate(bytes);
  // Ends at the forbidden page.
  if (shared)
    shared += (page - bytes % page) % page;
}

bool Block::run(const unsigned (&which)[3]) {
  std::copy_n(which, 3, number);
  if (launch.sharedBytes)
    std::memset(shared, 0xff, launch.sharedBytes); // of no use to anyone
  live = unsigned(threads.size());
  waiting = 0;
  queueBegin = queueEnd = 0;
  std::fill(shuffling.begin(), shuffling.end(), 0);
  for (unsigned k = 0; k < threads.size(); ++k) {
    queue[queueEnd++] = k;
    threads[k].state = Thread::New;
  }
  while (queueBegin != queueEnd && result.code == 0) {
    running = queue[queueBegin++ % queue.size()];
    if (threads[running].state == Thread::New)
      start(running);
    ++result.turns;
    kbemuSwitch(&scheduler, threads[running].left);
    if (threads[running].state == Thread::Ended && result.code == 0)
      endThread();
  }
  if (result.code == 0 && live > 0) {
    explainDeadlock();
    result.code = launchFailed;
  }
  for (Thread &thread : threads)
    if (thread.stack)
      stacks.put(std::exchange(thread.stack, nullptr));
  return result.code == 0;
}

void Block::start(unsigned which) {
  Thread &thread = threads[which];
  thread.state = Thread::Ready;
  thread.stack = stacks.take();
  // As kbemuSwitch leaves a stack: six registers, then where to return to, at
  // which a function finds its stack eight bytes off sixteen.
  auto **top = reinterpret_cast<void **>(thread.stack + stackBytes) - 2;
  *top = reinterpret_cast<void *>(&Block::begin);
  std::fill_n(top - 6, 6, nullptr);
  thread.left = top - 6;
}

void Block::begin() {
  Block *block = current;
  block->launch.kernel(block->launch.parameters);
  block->wait(Thread::Ended);
  __builtin_unreachable();
}

/// Lets others run; returns when the thread is ready again.
void Block::wait(Thread::State state) {
  Thread &thread = threads[running];
  thread.state = state;
  kbemuSwitch(&thread.left, scheduler);
}

void Block::fail(int error) {
  result.code = error;
  wait(Thread::Ended);
  __builtin_unreachable();
}

void Block::endThread() {
  Thread &thread = threads[running];
  stacks.put(std::exchange(thread.stack, nullptr));
  --live;
  // The others may have waited for this one alone.
  if (live > 0 && waiting == live)
    releaseBarrier();
  unsigned warp = running / warpSize, first = warp * warpSize;
  for (unsigned k = first; shuffling[warp] && k < first + warpSize; ++k)
    if (k < threads.size() && threads[k].state == Thread::AtShuffle)
      resolveShuffle(k);
}

void Block::releaseBarrier() {
  waiting = 0;
  for (unsigned k = 0; k < threads.size(); ++k)
    if (threads[k].state == Thread::AtBarrier)
      makeReady(k);
}

void Block::barrier() {
  if (++waiting == live)
    return releaseBarrier();
  wait(Thread::AtBarrier);
}

/// Gives the shuffle of a thread's group its results if all threads are there.
void Block::resolveShuffle(unsigned member) {
  const Shuffle call = threads[member].shuffle;
  unsigned first = firstOf(member), last = lastOf(member);
  for (unsigned k = first; k < last; ++k) {
    if (threads[k].state == Thread::Ended)
      continue;
    if (threads[k].state != Thread::AtShuffle)
      return;
    if (threads[k].shuffle.mode != call.mode ||
        threads[k].shuffle.width != call.width) {
      std::fprintf(stderr, "emulated GPU: threads of a group shuffle in "
                           "different ways\n");
      result.code = launchFailed;
      return;
    }
  }
  for (unsigned k = first; k < last; ++k) {
    if (threads[k].state == Thread::Ended)
      continue;
    Shuffle &mine = threads[k].shuffle;
    int64_t lane = k - first, from = mine.operand;
    if (mine.mode == KBEMU_XOR)
      from = lane ^ from;
    else if (mine.mode == KBEMU_DOWN)
      from = lane + from;
    else if (mine.mode == KBEMU_UP)
      from = lane - from;
    mine.valid = from >= 0 && from < mine.width;
    mine.result = mine.bits;
    if (!mine.valid)
      continue;
    // A lane that is not there has no value; this one is conspicuous.
    bool exists = first + from < last &&
                  threads[size_t(first + from)].state != Thread::Ended;
    mine.result = exists ? threads[size_t(first + from)].shuffle.bits : -1;
  }
  for (unsigned k = first; k < last; ++k)
    if (threads[k].state == Thread::AtShuffle) {
      --shuffling[k / warpSize];
      makeReady(k);
    }
}

int32_t Block::shuffle(int32_t mode, int32_t bits, int32_t operand,
                       int32_t width, int32_t *valid) {
  if (width < 1 || width > int32_t(warpSize) || (width & (width - 1)))
    fail(launchFailed);
  Thread &thread = threads[running];
  thread.shuffle = {mode, bits, operand, width, 0, 0};
  thread.state = Thread::AtShuffle;
  ++shuffling[running / warpSize];
  resolveShuffle(running);
  // Even the last one to come takes its turn behind the others.
  wait(thread.state);
  *valid = thread.shuffle.valid;
  return thread.shuffle.result;
}

void Block::explainDeadlock() const {
  unsigned shuffles = 0;
  for (const Thread &thread : threads)
    shuffles += thread.state == Thread::AtShuffle;
  std::fprintf(stderr,
               "emulated GPU: threads wait for each other for ever: of %u, %u "
               "at a barrier and %u in a shuffle\n",
               live, waiting, shuffles);
}

int64_t Block::index(int32_t which) const {
  int axis = which % 3;
  switch (which - axis) {
  case KBEMU_THREAD:
    return threads[running].index[axis];
  case KBEMU_BLOCK:
    return number[axis];
  case KBEMU_BLOCK_SIZE:
    return launch.block[axis];
  default:
    return launch.grid[axis];
  }
}

const KbEmulator table = {
    [](int32_t which) { return current->index(which); },
    [] { current->barrier(); },
    [](int32_t mode, int32_t bits, int32_t operand, int32_t width,
       int32_t *valid) {
      return current->shuffle(mode, bits, operand, width, valid);
    },
    [] { return current->dynamicShared(); },
    [] { current->fail(launchFailed); },
};

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

namespace {

constexpr int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};

void failByAddress() { current->fail(illegalAddress); }
void failByTrap() { current->fail(launchFailed); }

/// Lets the faulting thread go on in a function that ends the launch.
void onFault(int signal, siginfo_t *, void *context) {
  if (!current) {
    ::signal(signal, SIG_DFL); // no device code: it faults again, and dies
    return;
  }
  bool isAddress = signal == SIGSEGV || signal == SIGBUS;
  greg_t *registers = static_cast<ucontext_t *>(context)->uc_mcontext.gregs;
  registers[REG_RSP] = reinterpret_cast<greg_t>(current->stackTop() - 8);
  registers[REG_RIP] =
      reinterpret_cast<greg_t>(isAddress ? &failByAddress : &failByTrap);
}

/// Catches faults on a stack of their own (a thread's may be used up) while it
/// lives.
class FaultHandlers {
public:
  FaultHandlers() {
    static char stack[64 << 10];
    stack_t own = {};
    own.ss_sp = stack;
    own.ss_size = sizeof stack;
    ::sigaltstack(&own, &stackBefore);
    struct sigaction action = {};
    action.sa_sigaction = onFault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (size_t k = 0; k < std::size(signals); ++k)
      ::sigaction(signals[k], &action, &before[k]);
  }
  ~FaultHandlers() {
    for (size_t k = 0; k < std::size(signals); ++k)
      ::sigaction(signals[k], &before[k], nullptr);
    ::sigaltstack(&stackBefore, nullptr);
  }

private:
  struct sigaction before[std::size(signals)] = {};
  stack_t stackBefore = {};
};

} // namespace

LaunchResult runLaunch(const Launch &launch) {
  FaultHandlers handlers;
  Block block(launch);
  if (!block.dynamicShared())
    return {launchFailed};
  current = &block;
  unsigned number[3];
  for (number[2] = 0; number[2] < launch.grid[2]; ++number[2])
    for (number[1] = 0; number[1] < launch.grid[1]; ++number[1])
      for (number[0] = 0; number[0] < launch.grid[0]; ++number[0])
        if (!block.run(number)) {
          current = nullptr;
          return block.result;
        }
  current = nullptr;
  return block.result;
}

} // namespace kernelbrain::emulator
