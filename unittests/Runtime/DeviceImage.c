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
