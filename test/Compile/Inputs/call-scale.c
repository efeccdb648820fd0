#include <stdio.h>
#include <stdlib.h>

int main(void) {
  float data[] = {1, 2, 3, 4};
  kb_memref_1d_f32 x = kb_dense_1d_f32(data, 4), y;
  _mlir_ciface_scale(&y, &x);
  for (int64_t i = 0; i < y.sizes[0]; ++i)
    printf("%g ", y.aligned[y.offset + i * y.strides[0]]);
  printf("\n");
  free(y.allocated);
  return 0;
}
