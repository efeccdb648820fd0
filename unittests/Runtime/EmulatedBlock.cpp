//===- EmulatedBlock.cpp - A block of an emulated launch ------------------===//

#include "EmulatedBlock.h"

#include "kernelbrain/Runtime/CudaDriver.h"

#include <cstdio>
#include <cstring>
#include <utility>

namespace kernelbrain::emulator {

static constexpr unsigned warpSize = 32;
static constexpr int64_t never = -1;

thread_local Block *Block::current = nullptr;

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

Block::Block(Cluster &cluster, unsigned rank)
    : cluster(cluster), launch(cluster.launch), rank(rank),
      threads(size_t(launch.block[0]) * launch.block[1] * launch.block[2]),
      queue(threads.size()),
      shuffling((threads.size() + warpSize - 1) / warpSize) {
  for (size_t k = 0; k < threads.size(); ++k) {
    threads[k].index[0] = int64_t(k % launch.block[0]);
    threads[k].index[1] = int64_t(k / launch.block[0] % launch.block[1]);
    threads[k].index[2] = int64_t(k / launch.block[0] / launch.block[1]);
  }
  // Dynamic memory begins at a multiple of that many bytes, and what there is
  // ends at a page that nobody may touch.
  constexpr size_t alignment = 1024;
  sharedBytes = launch.staticBytes +
                (launch.sharedBytes + alignment - 1) / alignment * alignment;
  shared = memory.allocate(sharedBytes);
}

bool Block::start(const unsigned (&firstOfCluster)[3]) {
  if (!shared)
    return false;
  const unsigned *size = launch.cluster;
  const unsigned inside[] = {rank % size[0], rank / size[0] % size[1],
                             rank / size[0] / size[1]};
  for (int axis = 0; axis < 3; ++axis)
    number[axis] = firstOfCluster[axis] + inside[axis];
  hasBegun = false;
  if (cluster.blocks.size() > 1)
    memory.allow(false);
  live = unsigned(threads.size());
  waiting = inCluster = 0;
  queueBegin = queueEnd = 0;
  std::fill(shuffling.begin(), shuffling.end(), 0);
  for (unsigned k = 0; k < threads.size(); ++k) {
    queue[queueEnd++] = k;
    threads[k].state = New;
    threads[k].arrival = never;
  }
  return true;
}

/// With bytes that are of no use to anyone.
void Block::fillShared() {
  if (cluster.blocks.size() > 1)
    memory.allow(true);
  std::memset(shared, 0xff, sharedBytes);
}

bool Block::run() {
  bool moved = false;
  current = this;
  if (!std::exchange(hasBegun, true))
    fillShared();
  while (cluster.result.code == 0) {
    if (queueBegin == queueEnd)
      releaseCluster();
    if (queueBegin == queueEnd)
      break;
    moved = true;
    takeTurn(queue[queueBegin++ % queue.size()]);
  }
  current = nullptr;
  return moved;
}

void Block::takeTurn(unsigned which) {
  running = which;
  Thread &thread = threads[which];
  if (thread.state == New && !thread.fiber.prepare(&Block::begin)) {
    cluster.result.code = cuda::OutOfMemory;
    return;
  }
  thread.state = Ready;
  ++cluster.result.turns;
  thread.fiber.resume();
  if (thread.state == Ended && cluster.result.code == 0)
    endThread();
}

void Block::begin() {
  Block *block = current;
  block->launch.kernel(block->launch.parameters);
  block->wait(Ended);
  __builtin_unreachable();
}

/// Lets others run; returns when the thread is ready again.
void Block::wait(State state) {
  Thread &thread = threads[running];
  thread.state = state;
  thread.fiber.yield();
}

void Block::fail(int error, const char *why) {
  if (why)
    std::fprintf(stderr, "emulated GPU: %s\n", why);
  cluster.result.code = error;
  wait(Ended);
  __builtin_unreachable();
}

void Block::endThread() {
  threads[running].fiber.release();
  --live;
  cluster.leave(threads[running].arrival == cluster.phase);
  // The others may have waited for this one alone.
  if (live > 0 && waiting == live)
    releaseBarrier();
  unsigned warp = running / warpSize, first = warp * warpSize;
  for (unsigned k = first; shuffling[warp] && k < first + warpSize; ++k)
    if (k < threads.size() && threads[k].state == AtShuffle)
      resolveShuffle(k);
  if (live == 0 && cluster.blocks.size() > 1)
    memory.allow(false);
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
  case KBEMU_GRID_SIZE:
    return launch.grid[axis];
  case KBEMU_CLUSTER_BLOCK:
    return number[axis] % launch.cluster[axis];
  default:
    return launch.cluster[axis];
  }
}

//===----------------------------------------------------------------------===//
// Between the threads of a block
//===----------------------------------------------------------------------===//

void Block::releaseBarrier() {
  waiting = 0;
  for (unsigned k = 0; k < threads.size(); ++k)
    if (threads[k].state == AtBarrier)
      makeReady(k);
}

void Block::barrier() {
  if (++waiting == live)
    return releaseBarrier();
  wait(AtBarrier);
}

/// Gives the shuffle of a thread's group its results if all threads are there.
void Block::resolveShuffle(unsigned member) {
  const Shuffle call = threads[member].shuffle;
  unsigned first = firstOf(member), last = lastOf(member);
  for (unsigned k = first; k < last; ++k) {
    if (threads[k].state == Ended)
      continue;
    if (threads[k].state != AtShuffle)
      return;
    if (threads[k].shuffle.mode != call.mode ||
        threads[k].shuffle.width != call.width) {
      std::fprintf(stderr, "emulated GPU: threads of a group shuffle in "
                           "different ways\n");
      cluster.result.code = cuda::LaunchFailed;
      return;
    }
  }
  for (unsigned k = first; k < last; ++k) {
    if (threads[k].state == Ended)
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
    bool exists =
        first + from < last && threads[size_t(first + from)].state != Ended;
    mine.result = exists ? threads[size_t(first + from)].shuffle.bits : -1;
  }
  for (unsigned k = first; k < last; ++k)
    if (threads[k].state == AtShuffle) {
      --shuffling[k / warpSize];
      makeReady(k);
    }
}

int32_t Block::shuffle(int32_t mode, int32_t bits, int32_t operand,
                       int32_t width, int32_t *valid) {
  if (width < 1 || width > int32_t(warpSize) || (width & (width - 1)))
    fail(cuda::LaunchFailed, "a shuffle's width is no power of two up to 32");
  Thread &thread = threads[running];
  thread.shuffle = {mode, bits, operand, width, 0, 0};
  thread.state = AtShuffle;
  ++shuffling[running / warpSize];
  resolveShuffle(running);
  // Even the last one to come takes its turn behind the others.
  wait(thread.state);
  *valid = thread.shuffle.valid;
  return thread.shuffle.result;
}

//===----------------------------------------------------------------------===//
// Between the blocks of a cluster
//===----------------------------------------------------------------------===//

void Cluster::arrive() {
  if (++arrived < live)
    return;
  arrived = 0;
  ++phase;
}

void Cluster::leave(bool hasArrived) {
  --live;
  arrived -= hasArrived;
  // The others may have waited for this one alone.
  if (live > 0 && arrived == live) {
    arrived = 0;
    ++phase;
  }
}

void Block::clusterArrive() {
  Thread &thread = threads[running];
  if (thread.arrival != never)
    fail(cuda::LaunchFailed, "a thread arrives at the cluster's barrier again "
                             "without having waited there");
  thread.arrival = cluster.phase;
  cluster.arrive();
}

void Block::clusterWait() {
  Thread &thread = threads[running];
  if (thread.arrival == never)
    fail(cuda::LaunchFailed, "a thread waits at the cluster's barrier without "
                             "having arrived there");
  if (thread.arrival == cluster.phase) {
    ++inCluster;
    wait(AtCluster);
  }
  thread.arrival = never;
}

/// Wakes the threads that wait for a phase that is over.
void Block::releaseCluster() {
  for (unsigned k = 0; inCluster && k < threads.size(); ++k)
    if (threads[k].state == AtCluster && threads[k].arrival != cluster.phase) {
      --inCluster;
      makeReady(k);
    }
}

void *Block::clusterShared(void *mine, int32_t of) {
  auto *address = static_cast<char *>(mine);
  if (address < shared || address >= shared + sharedBytes)
    fail(cuda::IllegalAddress,
         "an address to map is not in the block's shared memory");
  if (of < 0 || size_t(of) >= cluster.blocks.size())
    fail(cuda::IllegalAddress, "a cluster has no block of that rank");
  return cluster.blocks[size_t(of)].shared + (address - shared);
}

void Block::countWaiting(unsigned (&count)[3]) const {
  count[0] += waiting;
  count[2] += inCluster;
  for (const Thread &thread : threads)
    count[1] += thread.state == AtShuffle;
}

} // namespace kernelbrain::emulator
