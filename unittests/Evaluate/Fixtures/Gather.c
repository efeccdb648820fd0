// y[i] = table[index[i]] with the check of the index that an embedding has.
// ABI v1: table [50], index [40] in [0, 50), y [40], workspace, stream.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef REFERENCE
typedef double Real;
#else
typedef float Real;
#endif

__attribute__((visibility("default"))) int32_t kb_invoke(void **words) {
  Real *table = words[0], *y = words[2];
  int64_t *index = words[1];
#if defined(SLOW)
  struct timespec start, now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
  do
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while ((now.tv_sec - start.tv_sec) * 1000 +
             (now.tv_nsec - start.tv_nsec) / 1000000 <
         SLOW);
#endif
  for (int k = 0; k < 40; ++k) {
#if defined(CLAMPS)
    int64_t at = index[k] < 0 ? 0 : index[k] > 49 ? 49 : index[k];
#else
    int64_t at = index[k];
    if (at < 0 || at >= 50) {
      puts("index out of bounds"); // as cf.assert does
      abort();
    }
#endif
    y[k] = table[at];
  }
  return 0;
}
