// Two functions as a program exports them: results in a struct of descriptors
// through the first argument.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef USES_GPU
#include "kernelbrain/Runtime/CudaRuntime.h"
#endif

#define EXPORT __attribute__((visibility("default")))

#ifdef REFERENCE
typedef double Real;
#else
typedef float Real;
#endif

typedef struct {
  Real *allocated, *aligned;
  int64_t offset, sizes[2], strides[2];
} Matrix;

typedef struct {
  int64_t *allocated, *aligned;
  int64_t offset, sizes[1], strides[1];
} Indices;

static Matrix allocateMatrix(int64_t rows, int64_t columns) {
  Real *data = malloc((size_t)(rows * columns) * sizeof *data + 1);
  Matrix matrix = {data, data, 0, {rows, columns}, {columns, 1}};
  return matrix;
}

struct Both {
  Matrix scaled;
  Indices largest;
};

/// What a bf16 holds of `value`.
static Real narrow(Real value) {
#ifdef IMPRECISE
  uint32_t bits;
  memcpy(&bits, &value, 4);
  bits = (bits + 0x8000) & 0xffff0000;
  memcpy(&value, &bits, 4);
#endif
  return value;
}

// scale(x: [?, 33] f32, factor: f32) -> ([?, 33] f32, [?] i64)
EXPORT void _mlir_ciface_scale(struct Both *results, Matrix *x, Real factor) {
  int64_t rows = x->sizes[0], columns = x->sizes[1];
  results->scaled = allocateMatrix(rows, columns);
  int64_t *indices = malloc((size_t)rows * sizeof *indices + 1);
  Indices largest = {indices, indices, 0, {rows}, {1}};
  results->largest = largest;
#ifdef USES_GPU // the argument takes a way through the device
  void *device;
  Real *kept = malloc((size_t)(rows * columns) * sizeof *kept + 1);
  int64_t bytes = rows * columns * (int64_t)sizeof *kept;
  if (kbcuAllocate(&device, bytes, 0) ||
      kbcuCopy(device, x->aligned, bytes, 0) ||
      kbcuCopy(kept, device, bytes, 0) || kbcuSynchronize(0) ||
      kbcuFree(device, 0))
    abort();
  Matrix copy = *x;
  copy.aligned = kept;
  x = &copy;
#endif
  for (int64_t i = 0; i < rows; ++i) {
    int64_t best = 0;
    for (int64_t j = 0; j < columns; ++j) {
      Real value = x->aligned[x->offset + i * x->strides[0] + j];
      results->scaled.aligned[i * columns + j] = narrow(value * factor);
      if (value > x->aligned[x->offset + i * x->strides[0] + best])
        best = j;
    }
    indices[i] = best;
  }
#if defined(WRONG_VALUE)
  results->scaled.aligned[40] += 1;
#elif defined(WRONG_INDEX)
  indices[rows - 1] ^= 1;
#elif defined(MUTATES)
  x->aligned[3] = 0;
#elif defined(CRASHES)
  *(volatile int *)8 = 1;
#elif defined(IN_PLACE)
  x->aligned[3] = 2 * factor;
#elif defined(IN_PLACE_ROUNDED)
  x->aligned[3] = 2 * factor * (1 + 1e-6f);
#elif defined(IN_PLACE_WRONG)
  x->aligned[3] = 3 * factor;
#elif defined(ENDLESS)
  for (volatile int forever = 1; forever;)
    ;
#elif defined(SLOW)
  for (volatile int64_t k = 0; k < 200000; ++k)
    ;
#elif defined(TAKES_MS)
  for (clock_t begin = clock();
       clock() - begin < (clock_t)TAKES_MS * CLOCKS_PER_SEC / 1000;)
    ;
#endif
}

// first(x: [?, 33] f32) -> [?, 33] f32: gives its argument back.
EXPORT void _mlir_ciface_first(Matrix *result, Matrix *x) { *result = *x; }
