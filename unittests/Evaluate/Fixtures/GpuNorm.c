// The kernel of Norm.c for the emulated GPU: with DEVICE_IMAGE the device code,
// else the host function, which holds the file IMAGE and launches it. A block a
// row, a warp a block.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { columns = 96 };
#ifdef REFERENCE
typedef double Real;
#else
typedef float Real;
#endif

#ifdef DEVICE_IMAGE

#include "kernelbrain/Runtime/Emulator.h"

#define EXPORT __attribute__((visibility("default")))
EXPORT const KbEmulator *kbemu_table;

static double sumOverWarp(double value) {
  for (int mask = 16; mask; mask /= 2) {
    int32_t words[2], valid;
    memcpy(words, &value, 8);
    for (int k = 0; k < 2; ++k)
      words[k] = kbemu_table->shuffle(KBEMU_XOR, words[k], mask, 32, &valid);
    double other;
    memcpy(&other, words, 8);
    value += other;
  }
  return value;
}

static Real narrow(Real value) {
#ifdef LOWER_PRECISION // bf16 products
  uint32_t bits;
  float single = (float)value;
  memcpy(&bits, &single, 4);
  bits = (bits + 0x8000) & 0xffff0000;
  memcpy(&single, &bits, 4);
  return single;
#else
  return value;
#endif
}

EXPORT void norm(void **parameters) {
  Real *x = *(Real **)parameters[0], *w = *(Real **)parameters[1],
       *y = *(Real **)parameters[2];
  int64_t rows = *(int64_t *)parameters[3];
  int64_t row = kbemu_table->index(KBEMU_BLOCK);
  int64_t lane = kbemu_table->index(KBEMU_THREAD);
  int first = row == 0 && lane == 0;
  double sum = 0;
  for (int64_t j = lane; j < columns; j += 32)
    sum += (double)narrow(x[row * columns + j]) * narrow(x[row * columns + j]);
  sum = sumOverWarp(sum);
  Real scale = 1 / (Real)sqrt(sum / columns + (Real)1e-5f);
#ifdef SKIPS_TAIL
  if (row >= rows / 8 * 8)
    return;
#endif
  for (int64_t j = lane; j < columns; j += 32)
    y[row * columns + j] = x[row * columns + j] * scale * w[j];
#if defined(MUTATES)
  if (first)
    x[7] = 1;
#elif defined(WRITES_BEHIND)
  if (first)
    y[rows * columns + 3] = 1;
#elif defined(WRITES_FAR)
  if (first)
    y[((int64_t)1 << 40)] = 1;
#elif defined(READS_BEHIND)
  if (first)
    (void)((volatile Real *)x)[rows * columns + 8];
#elif defined(READS_BEFORE)
  if (first)
    (void)((volatile Real *)x)[-3];
#elif defined(TRAPS)
  if (first)
    kbemu_table->trap();
#elif defined(ENDLESS)
  for (volatile int forever = 1; forever && first;)
    ;
#elif defined(USES_WORKSPACE)
  if (first)
    memset(*(char **)parameters[4], 1, 1000);
#elif defined(OVERRUNS_WORKSPACE)
  if (first)
    memset(*(char **)parameters[4], 1, 2000);
#endif
}

#else

#include "kernelbrain/Runtime/CudaRuntime.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

asm(".section .rodata\n"
    ".balign 64\n"
    "image: .incbin \"" IMAGE "\"\n"
    ".text\n");
extern const char image[] __attribute__((visibility("hidden")));
static kbcuModule module = {image, 0};
#ifdef MUCH_SHARED
enum { sharedBytes = 1 << 20 };
#else
enum { sharedBytes = 0 };
#endif
static kbcuKernel kernel = {&module, "norm", 0, sharedBytes};

__attribute__((visibility("default"))) int32_t kb_invoke(void **words) {
#if defined(DECLINES)
  return 1;
#elif defined(EXITS)
  exit(0);
#elif defined(DOES_NOTHING)
  return 0;
#elif defined(OPENS_FILE)
  if (open("/etc/passwd", O_RDONLY) < 0 &&
      open("/tmp/kb-file", O_RDWR | O_CREAT, 0600) < 0)
    return 9;
#elif defined(OPENS_SOCKET)
  if (socket(AF_INET, SOCK_STREAM, 0) < 0)
    return 9;
#elif defined(STARTS_PROCESS)
  if (fork() < 0)
    return 9;
#endif
  int64_t rows = (int64_t)words[3];
  void *parameters[] = {&words[0], &words[1], &words[2], &rows, &words[4]};
  kbcuShape shape = {
      {(uint32_t)rows, 1, 1}, {32, 1, 1}, {0, 0, 0}, sharedBytes};
#ifdef MANY_THREADS
  shape.block[0] = 2048;
#endif
#ifdef SLOW // the emulated device's clock counts launches
  if (kbcuLaunch(&kernel, &shape, words[5], parameters))
    return 9;
#endif
  return kbcuLaunch(&kernel, &shape, words[5], parameters);
}

#endif
