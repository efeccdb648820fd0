/*===- Emulator.h - What device code for the emulated GPU calls --*- C -*-===*\
|*
|* The device image of the chip "emulated" is an ELF shared object for the
|* machine at hand. It exports
|* - `void <kernel>(void **parameters)` for each device function; parameters as
|*   cuLaunchKernel has them: one pointer a kernel parameter. It runs one
|*   thread of the launch from its start to its end.
|* - `const KbEmulatorNeeds kbemu_needs_<kernel>` for those that need anything.
|* - `const KbEmulator *kbemu_table`, which the loader sets before any call.
|* It needs nothing but the C and mathematics libraries.
|*
|* Clusters run one after another, a cluster being one block unless kernel or
|* launch say more. All threads of a cluster take turns, one at a time; a turn
|* ends only in barrier(), shuffle() and clusterWait(), and with the thread. A
|* block goes on as long as any of its threads can, then another block of its
|* cluster does: between barriers they are as far apart as can be. Functions of
|* the table are called by a thread for itself.
|*
|* A block's shared memory holds bytes 0xff when its first thread starts. Other
|* blocks can touch it from then on until its last thread has ended.
|*
\*===----------------------------------------------------------------------===*/

#ifndef KERNELBRAIN_RUNTIME_EMULATOR_H
#define KERNELBRAIN_RUNTIME_EMULATOR_H

#include <stdint.h>

enum KbEmulatorIndex {
  KBEMU_THREAD = 0,         /* + 0, 1, 2 for x, y, z */
  KBEMU_BLOCK = 3,          /* the number of the block */
  KBEMU_BLOCK_SIZE = 6,     /* in threads */
  KBEMU_GRID_SIZE = 9,      /* in blocks */
  KBEMU_CLUSTER_BLOCK = 12, /* the number of the block in its cluster */
  KBEMU_CLUSTER_SIZE = 15   /* in blocks */
};

enum KbEmulatorShuffle {
  KBEMU_XOR = 0,  /* from lane ^ operand */
  KBEMU_DOWN = 1, /* from lane + operand */
  KBEMU_UP = 2,   /* from lane - operand */
  KBEMU_IDX = 3   /* from lane operand of the group */
};

typedef struct KbEmulator {
  /* A KbEmulatorIndex plus its axis. */
  int64_t (*index)(int32_t which);
  /* Returns when all threads of the block that have not ended are there. */
  void (*barrier)(void);
  /* `bits` of another lane among the `width` (a power of two, 32 at most)
   * lanes of the caller's group; lanes are numbered along x, then y, then z.
   * All threads of the group that have not ended call it with one mode and
   * width. `valid`: 1 if the lane is inside the group, else 0, and the result
   * is the caller's own bits. */
  int32_t (*shuffle)(int32_t mode, int32_t bits, int32_t operand, int32_t width,
                     int32_t *valid);
  /* The launch's dynamic shared memory, aligned to 1024 bytes. */
  void *(*dynamicShared)(void);
  /* Fails the launch; does not return. */
  void (*trap)(void);
  /* The kernel's static shared memory, aligned to 128 bytes. */
  void *(*staticShared)(void);
  /* The barrier of all threads of the cluster that have not ended, in two
   * halves, which each thread calls in turns: wait() returns when all have
   * arrived as often as the caller. */
  void (*clusterArrive)(void);
  void (*clusterWait)(void);
  /* What an address in shared memory of the own block is in the block of that
   * rank in the cluster; ranks are numbered along x, then y, then z. */
  void *(*clusterShared)(void *mine, int32_t rank);
} KbEmulator;

typedef struct KbEmulatorNeeds {
  int32_t sharedBytes; /* of static shared memory */
  int32_t cluster[3];  /* blocks of a cluster along x, y, z; 0: as launched */
} KbEmulatorNeeds;

#endif /* KERNELBRAIN_RUNTIME_EMULATOR_H */
