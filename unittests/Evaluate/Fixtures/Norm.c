// A kernel in many versions, right and wrong: rows of 96 are divided by their
// root mean square and multiplied by a weight.
//   y[i, j] = x[i, j] / sqrt(mean(x[i, :]^2) + 1e-5) * w[j]
// ABI v1: x [?, 96], w [96], y [?, 96], rows, workspace, stream.
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { columns = 96 };
#ifdef REFERENCE
typedef double Real;
#else
typedef float Real;
#endif

#ifdef LOWER_PRECISION // bf16 products
static Real narrow(Real value) {
  uint32_t bits;
  float single = value;
  memcpy(&bits, &single, 4);
  bits = (bits + 0x8000) & 0xffff0000;
  memcpy(&single, &bits, 4);
  return single;
}
#else
static Real narrow(Real value) { return value; }
#endif

static void normalize(const Real *x, const Real *w, Real *y) {
#if defined(FAST)
  double sums[16] = {0}, sum = 0;
  for (int j = 0; j < columns; j += 16)
    for (int k = 0; k < 16; ++k)
      sums[k] += (double)x[j + k] * x[j + k];
  for (int k = 0; k < 16; ++k)
    sum += sums[k];
#elif defined(LOSES_RANGE) // above 2^64 the squares are infinite
  float sum = 0;
  for (int j = 0; j < columns; ++j)
    sum += (float)x[j] * (float)x[j];
#else
  volatile double sum = 0; // no vectors: as slow as a stock lowering
  for (int j = 0; j < columns; ++j)
    sum += (double)narrow(x[j]) * narrow(x[j]);
#endif
  Real scale = 1 / (Real)sqrt(sum / columns + (Real)1e-5f);
  for (int j = 0; j < columns; ++j)
    y[j] = x[j] * scale * w[j];
}

static void *inThread(void *words) {
  (void)words;
  return 0;
}

__attribute__((visibility("default"))) int32_t kb_invoke(void **words) {
  Real *x = words[0], *w = words[1], *y = words[2];
  int64_t rows = (int64_t)words[3], count = rows * columns;
  (void)count;
#if defined(CRASHES)
  *(volatile int *)8 = 1;
#elif defined(ENDLESS)
  for (volatile int forever = 1; forever;)
    ;
#elif defined(MEMORY_BOMB)
  for (;;) {
    static char *volatile more;
    more = malloc(64 << 20);
    memset(more, 1, 64 << 20);
  }
#elif defined(CHECK_FAILS) // as an assertion in front of a load does
  if (rows == 37) {
    puts("out-of-bounds access: %0 = memref.load");
    abort();
  }
#elif defined(DECLINES)
  return 1;
#elif defined(FAILS)
  return 7;
#elif defined(EXITS)
  exit(0);
#elif defined(STARTS_THREAD)
  pthread_t thread;
  if (pthread_create(&thread, 0, inThread, words) != 0)
    return 9;
#elif defined(OPENS_FILE)
  if (open("/etc/passwd", O_RDONLY) < 0 && open("/proc/self/mem", O_RDWR) < 0)
    return 9;
#elif defined(OPENS_SOCKET)
  if (socket(AF_INET, SOCK_STREAM, 0) < 0)
    return 9;
#elif defined(STARTS_PROCESS)
  if (fork() < 0)
    return 9;
#elif defined(FORGES_REPLY) // the verdict is not made here
  static const char reply[] = "30 0\n{\"type\":\"ran\",\"status\":0     }";
  for (int file = 1; file < 64; ++file)
    if (write(file, reply, sizeof reply - 1) < 0)
      continue;
  return 0;
#elif defined(SKIPS_TAIL)
  rows = rows / 8 * 8;
#elif defined(ONLY_TIMED_SIZE)
  rows = 64;
#elif defined(DOES_NOTHING)
  return 0;
#elif defined(STALE)    // counts on an output that already holds the answer
  static int calls;
  if (calls++ % 2)
    return 0;
#elif defined(CACHES)   // remembers the result by pointer and size
  static const void *key;
  static int64_t size;
  static Real *kept;
  if (key == x && size == rows) {
    memcpy(y, kept, count * sizeof(Real));
    return 0;
  }
#elif defined(IDENTITY) // normal data has a root mean square of nearly 1
  for (int64_t i = 0; i < count; ++i)
    y[i] = x[i] * w[i % columns];
  return 0;
#elif defined(ALL_NAN)
  for (int64_t i = 0; i < count; ++i)
    y[i] = NAN;
  return 0;
#elif defined(DECLINES_UNALIGNED)
  if ((uintptr_t)y % 64)
    return 1;
#elif defined(FAULTS_UNALIGNED) // as an aligned vector store does
  if ((uintptr_t)y % 64)
    *(volatile int *)8 = 1;
#elif defined(DECLINES_TOO_LATE)
  if ((uintptr_t)y % 64) {
    y[0] = 0;
    return 1;
  }
#elif defined(OVERRUNS_WORKSPACE)
  memset(words[4], 0, 1000 + 25); // its end is rounded up to 64 bytes
#elif defined(USES_WORKSPACE)
  memset(words[4], 0, 1000);
#elif defined(PARTIAL) // one element stays as it was
  Real before = rows > 5 ? y[5 * columns + 7] : 0;
#endif

  for (int64_t i = 0; i < rows; ++i)
    normalize(x + i * columns, w, y + i * columns);

#if defined(CACHES)
  key = x;
  size = rows;
  free(kept);
  kept = malloc(count * sizeof(Real) + 1);
  memcpy(kept, y, count * sizeof(Real));
#elif defined(PARTIAL)
  if (rows > 5)
    y[5 * columns + 7] = before;
#elif defined(MUTATES)
  if (rows)
    x[0] += 1;
#elif defined(WRITES_BEHIND)
  y[count] = 1;
#elif defined(WRITES_BEFORE)
  y[-1] = 1;
#elif defined(READS_BEHIND) // and does not even use it
  *(volatile Real *)&x[count];
#elif defined(RACES)        // the last bit depends on luck
  static uint32_t luck;
  if (rows && luck++ % 2)
    y[0] = nextafterf(y[0], 1e30f);
#elif defined(ZERO_TILE)
  for (int64_t i = 32; i < rows; ++i)
    for (int j = 64; j < columns; ++j)
      y[i * columns + j] = 0;
#elif defined(NAN_TO_ZERO)
  for (int64_t i = 0; i < count; ++i)
    y[i] = y[i] == y[i] ? y[i] : 0;
#elif defined(SLOW)
  for (volatile int64_t k = 0; k < 300 * rows; ++k)
    ;
#elif defined(TURNS_WRONG) // once it is being timed
  static int runs;
  if (++runs > 60 && rows)
    y[0] = 0;
#endif
  return 0;
}
