//===- EmulatedBlock.h - A block of an emulated launch ----------*- C++ -*-===//
//
// A thread of a block is a fiber, which leaves off in barrier(), shuffle() and
// clusterWait() alone; a fault in one ends the launch.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_UNITTESTS_RUNTIME_EMULATEDBLOCK_H
#define KERNELBRAIN_UNITTESTS_RUNTIME_EMULATEDBLOCK_H

#include "EmulatedFiber.h"
#include "EmulatedLaunch.h"

#include <algorithm>
#include <deque>
#include <vector>

namespace kernelbrain::emulator {

struct Cluster;

class Block {
public:
  Block(Cluster &cluster, unsigned rank);
  /// Makes all threads new. False if there is no shared memory.
  bool start(const unsigned (&firstOfCluster)[3]);
  /// Lets threads take turns until none can go on or the launch is to end;
  /// false if none could.
  bool run();

  // Of the thread that runs.
  int64_t index(int32_t which) const;
  void barrier();
  int32_t shuffle(int32_t mode, int32_t bits, int32_t operand, int32_t width,
                  int32_t *valid);
  void *staticShared() const { return shared; }
  void *dynamicShared() const { return shared + launch.staticBytes; }
  void clusterArrive();
  void clusterWait();
  void *clusterShared(void *mine, int32_t rank);
  /// Ends the launch; does not return to the running thread.
  [[noreturn]] void fail(int error, const char *why = nullptr);
  /// As fail(), for a signal handler: an address on the running thread's stack
  /// at which a function may start.
  char *stackTop() const { return threads[running].fiber.top(); }

  /// Adds the threads that wait at a barrier, in a shuffle, for the cluster.
  void countWaiting(unsigned (&count)[3]) const;

  /// The one that runs on this thread; null: none does.
  static thread_local Block *current;

private:
  struct Shuffle {
    int32_t mode, bits, operand, width;
    int32_t result, valid;
  };
  enum State { New, Ready, AtBarrier, AtShuffle, AtCluster, Ended };
  struct Thread {
    State state = New;
    Fiber fiber;
    int64_t index[3] = {};
    Shuffle shuffle = {};
    int64_t arrival = 0; ///< the cluster's phase it is in; -1: none
  };

  [[noreturn]] static void begin();
  void fillShared();
  void takeTurn(unsigned which);
  void wait(State state);
  void endThread();
  void releaseBarrier();
  void releaseCluster();
  void resolveShuffle(unsigned number);
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
    threads[number].state = Ready;
    queue[queueEnd++ % queue.size()] = number;
  }

  Cluster &cluster;
  const Launch &launch;
  unsigned rank, number[3] = {}; ///< in the cluster, in the grid
  std::vector<Thread> threads;
  std::vector<unsigned> queue; ///< a ring of threads that can go on
  size_t queueBegin = 0, queueEnd = 0;
  unsigned running = 0, live = 0, waiting = 0, inCluster = 0;
  std::vector<unsigned> shuffling; ///< by warp: threads that wait in one
  /// While its threads run, blocks of a cluster may touch it.
  GuardedMemory memory;
  char *shared = nullptr; ///< static memory, then dynamic memory
  size_t sharedBytes = 0;
  bool hasBegun = false;
};

/// What the blocks of a cluster share.
struct Cluster {
  explicit Cluster(const Launch &launch) : launch(launch) {}

  /// A thread that has not ended; it arrives in each phase of the barrier.
  void arrive();
  /// One that ends; `arrived`: in this phase.
  void leave(bool arrived);

  const Launch &launch;
  LaunchResult result;
  std::deque<Block> blocks; ///< by their rank
  unsigned live = 0, arrived = 0;
  int64_t phase = 0;
};

} // namespace kernelbrain::emulator

#endif // KERNELBRAIN_UNITTESTS_RUNTIME_EMULATEDBLOCK_H
