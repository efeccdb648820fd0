/* Calls a compiled softmax: 4096 rows of 1024 floats. See README.md. */

#include "softmax.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  const int64_t rows = 4096, columns = 1024;
  float *data = malloc(sizeof(float) * rows * columns);
  if (!data)
    return 1;
  for (int64_t i = 0; i < rows * columns; ++i)
    data[i] = (float)(i % 1000) / 100.0f;

  /* The input is described; the result comes back described, and is ours. */
  kb_memref_2d_f32 input = kb_dense_2d_f32(data, rows, columns), result;
  _mlir_ciface_main(&result, &input);

  double worst = 0.0;
  for (int64_t i = 0; i < rows; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < columns; ++j)
      sum += result.aligned[result.offset + i * result.strides[0] + j];
    worst = fmax(worst, fabs(sum - 1.0));
  }
  free(result.allocated);
  free(data);
  if (worst > 1e-4) {
    printf("a row sums to 1 only within %.0e\n", worst);
    return 1;
  }
  printf("%d rows, each sums to 1 within 1e-04\n", (int)rows);
  return 0;
}
