/*===- Emulator.h - What device code for the emulated GPU calls --*- C -*-===*\
|*
|* The device image of the chip "emulated" is an ELF shared object for the
|* machine at hand. It exports
|* - `void <kernel>(void **parameters)` for each device function; parameters as
|*   cuLaunchKernel has them: one pointer a kernel parameter. It runs one
|*   thread of the launch from its start to its end.
|* - `const KbEmulator *kbemu_table`, which the loader sets before any call.
|* It needs nothing but the C and mathematics libraries.
|*
|* The emulator runs blocks one after another: static workgroup memory is a
|* plain global of the image. The threads of a block take turns, one at a time;
|* a turn ends only in barrier() and shuffle(), and with the thread. Functions
|* of the table are called by a thread for itself.
|*
\*===----------------------------------------------------------------------===*/

#ifndef KERNELBRAIN_RUNTIME_EMULATOR_H
#define KERNELBRAIN_RUNTIME_EMULATOR_H

#include <stdint.h>

enum KbEmulatorIndex {
  KBEMU_THREAD = 0,     /* + 0, 1, 2 for x, y, z */
  KBEMU_BLOCK = 3,      /* the number of the block */
  KBEMU_BLOCK_SIZE = 6, /* in threads */
  KBEMU_GRID_SIZE = 9   /* in blocks */
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
} KbEmulator;

#endif /* KERNELBRAIN_RUNTIME_EMULATOR_H */
