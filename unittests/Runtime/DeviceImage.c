/*===- DeviceImage.c - Device code for the tests of the emulator
-----------===*\
|*
|* What a device image of the chip "emulated" looks like, written by hand.
|*
\*===----------------------------------------------------------------------===*/

#include "kernelbrain/Runtime/Emulator.h"

#include <stddef.h>
#include <string.h>

const KbEmulator *kbemu_table;

static int thread(void) {
  const KbEmulator *gpu = kbemu_table;
  return (int)(gpu->index(0) +
               gpu->index(6) * (gpu->index(1) + gpu->index(7) * gpu->index(2)));
}
static int rank(void) {
  const KbEmulator *gpu = kbemu_table;
  return (int)(gpu->index(12) + gpu->index(15) * gpu->index(13));
}
static int clusterSize(void) {
  return (int)(kbemu_table->index(15) * kbemu_table->index(16));
}
static void clusterBarrier(void) {
  kbemu_table->clusterArrive();
  kbemu_table->clusterWait();
}
static int block(void) { return (int)kbemu_table->index(KBEMU_BLOCK); }
static int blockSize(void) { return (int)kbemu_table->index(KBEMU_BLOCK_SIZE); }

void k(void **parameters) {}
void l(void **parameters) {}

/* out[i] = i, over all threads of all blocks. */
void iota(void **parameters) {
  int i = block() * blockSize() + thread();
  (*(int **)parameters[0])[i] = i;
}

/* Each thread writes a word of dynamic shared memory and reads another one's.
 */
void reverse(void **parameters) {
  int *shared = kbemu_table->dynamicShared(), size = blockSize();
  shared[thread()] = thread() + 1000 * block();
  kbemu_table->barrier();
  (*(int **)parameters[0])[block() * size + thread()] =
      shared[size - 1 - thread()];
}

/* The sum over the warp by butterflies, in every lane. */
void warpSum(void **parameters) {
  int32_t valid, sum = thread();
  for (int mask = 16; mask; mask /= 2)
    sum += kbemu_table->shuffle(KBEMU_XOR, sum, mask, 32, &valid);
  (*(int **)parameters[0])[thread()] = sum;
}

/* A shuffle in groups of eight: value, or -valid where it is out of the group.
 */
void shuffle(void **parameters) {
  int32_t valid, mode = *(int *)parameters[1], operand = *(int *)parameters[2];
  int32_t got = kbemu_table->shuffle(mode, thread(), operand, 8, &valid);
  (*(int **)parameters[0])[thread()] = valid ? got : -got;
}

/* Odd threads end before the barrier: it does not wait for them. */
void leaves(void **parameters) {
  if (thread() % 2)
    return;
  kbemu_table->barrier();
  (*(int **)parameters[0])[thread()] = 1;
}

/* Half of the threads wait in a shuffle, half at a barrier. */
void deadlock(void **parameters) {
  int32_t valid;
  if (thread() % 2)
    kbemu_table->barrier();
  else
    kbemu_table->shuffle(KBEMU_XOR, 0, 1, 32, &valid);
}

void traps(void **parameters) {
  if (thread() == 3)
    kbemu_table->trap();
}

void writesBehind(void **parameters) {
  if (thread() == 0)
    (*(volatile char **)parameters[0])[*(int64_t *)parameters[1]] = 1;
}

static int recurse(volatile int *deeper) {
  volatile int frame[1000];
  memset((void *)frame, 0, sizeof frame);
  return *deeper ? recurse(deeper) + frame[7] : 0;
}
void overflowsStack(void **parameters) {
  volatile int deeper = 1;
  recurse(&deeper);
}

void overrunsShared(void **parameters) {
  char *shared = kbemu_table->dynamicShared();
  shared[*(int *)parameters[0]] = 1;
}

/* Static memory of its own for each block, in front of the dynamic one. */
const KbEmulatorNeeds kbemu_needs_staticMemory = {512, {0, 0, 0}};
void staticMemory(void **parameters) {
  int *mine = kbemu_table->staticShared(), *rest = kbemu_table->dynamicShared();
  int before = mine[thread()];
  mine[thread()] = block();
  kbemu_table->barrier();
  (*(int **)parameters[0])[block() * blockSize() + thread()] =
      before == -1 && rest - mine == 128 ? mine[blockSize() - 1 - thread()]
                                         : -2;
}
void overrunsStatic(void **parameters) {
  char *shared = kbemu_table->staticShared();
  shared[*(int *)parameters[0]] = 1;
}
const KbEmulatorNeeds kbemu_needs_overrunsStatic = {100, {0, 0, 0}};

/* Every thread writes to the next block of its cluster, and reads from the one
 * behind that what it was given: 100 times the rank of who wrote it, plus the
 * thread. One of the barriers, numbered from 1 on, may be left out. */
void passOn(void **parameters) {
  int *mine = kbemu_table->staticShared(), size = clusterSize();
  int without = *(int *)parameters[1], number = block() * blockSize();
  if (without != 1)
    clusterBarrier();
  int *next = kbemu_table->clusterShared(mine, (rank() + 1) % size);
  next[thread()] = 100 * rank() + thread();
  if (without != 2)
    clusterBarrier();
  int *behind = kbemu_table->clusterShared(mine, (rank() + 2) % size);
  (*(int **)parameters[0])[number + thread()] = behind[thread()];
  if (without != 3)
    clusterBarrier();
}
const KbEmulatorNeeds kbemu_needs_passOn = {256, {0, 0, 0}};

/* out[y][x] = the rank in clusters of 2 x 2, whatever the launch says. */
void ranks(void **parameters) {
  const KbEmulator *gpu = kbemu_table;
  int x = (int)gpu->index(3), y = (int)gpu->index(4);
  (*(int **)parameters[0])[x + gpu->index(9) * y] = rank();
}
const KbEmulatorNeeds kbemu_needs_ranks = {0, {2, 2, 1}};

/* Threads that end, having arrived or not, hold no one up; what is between the
 * halves of the barrier is done while others come. */
void leavesCluster(void **parameters) {
  int number = block() * blockSize() + thread();
  if (thread() == 1)
    return;
  kbemu_table->clusterArrive();
  if (thread() == 2)
    return;
  kbemu_table->barrier();
  kbemu_table->clusterWait();
  clusterBarrier();
  (*(int **)parameters[0])[number] = 1;
}

/* Mistakes in clusters of two. */
void misuse(void **parameters) {
  char *mine = kbemu_table->staticShared();
  switch (*(int *)parameters[0]) {
  case 0: /* one thread waits for its block, the others for the cluster */
    if (rank() == 1 && thread() == 0)
      kbemu_table->barrier();
    else
      clusterBarrier();
    break;
  case 1:
    kbemu_table->clusterWait();
    break;
  case 2:
    kbemu_table->clusterArrive();
    kbemu_table->clusterArrive();
    break;
  case 3:
    kbemu_table->clusterShared(mine, 2);
    break;
  case 4:
    kbemu_table->clusterShared(mine, -1);
    break;
  case 5:
    kbemu_table->clusterShared(mine + 256, 1);
    break;
  case 6: /* an address that is another block's already */
    mine = kbemu_table->clusterShared(mine, 1 - rank());
    kbemu_table->clusterShared(mine, rank());
    break;
  }
}
const KbEmulatorNeeds kbemu_needs_misuse = {256, {2, 1, 1}};
