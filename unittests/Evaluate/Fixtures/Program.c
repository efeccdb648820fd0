// Two functions as a program exports them: results in a struct of descriptors
// through the first argument.
#include <stdint.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

typedef struct {
  float *allocated, *aligned;
  int64_t offset, sizes[2], strides[2];
} Matrix;

typedef struct {
  int64_t *allocated, *aligned;
  int64_t offset, sizes[1], strides[1];
} Indices;

static Matrix allocateMatrix(int64_t rows, int64_t columns) {
  float *data = malloc((size_t)(rows * columns) * sizeof *data + 1);
  Matrix matrix = {data, data, 0, {rows, columns}, {columns, 1}};
  return matrix;
}

struct Both {
  Matrix scaled;
  Indices largest;
};

// scale(x: [?, 33] f32, factor: f32) -> ([?, 33] f32, [?] i64)
EXPORT void _mlir_ciface_scale(struct Both *results, Matrix *x, float factor) {
  int64_t rows = x->sizes[0], columns = x->sizes[1];
  results->scaled = allocateMatrix(rows, columns);
  int64_t *indices = malloc((size_t)rows * sizeof *indices + 1);
  Indices largest = {indices, indices, 0, {rows}, {1}};
  results->largest = largest;
  for (int64_t i = 0; i < rows; ++i) {
    int64_t best = 0;
    for (int64_t j = 0; j < columns; ++j) {
      float value = x->aligned[x->offset + i * x->strides[0] + j];
      results->scaled.aligned[i * columns + j] = value * factor;
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
#elif defined(SLOW)
  for (volatile int64_t k = 0; k < 200000; ++k)
    ;
#endif
}

// first(x: [?, 33] f32) -> [?, 33] f32: gives its argument back.
EXPORT void _mlir_ciface_first(Matrix *result, Matrix *x) { *result = *x; }
