/* Calls every function of aot-header.mlir; compiled as C and as C++. */

#include <stdio.h>
#include <stdlib.h>

int main(void) {
  float data[] = {1.0f, 1.5f, 0.5f, 0.5f};
  kb_results_several results;
  kb_memref_2d_f32 x = kb_dense_2d_f32(data, 2, 2);
  int64_t words[] = {5, 6};
  kb_memref_1d_index index = kb_dense_1d_index(words, 2), same;
  uint16_t one[] = {0x3c00};
  kb_memref_2d_f16 half = kb_dense_2d_f16(one, 1, 1), copy;

  _mlir_ciface_several(&results, &x, 21);
  printf("%g %d %d %d\n", results.result0.aligned[results.result0.offset],
         results.result1.aligned[0], results.result1.aligned[1],
         (int)results.result2);
  free(results.result0.allocated);
  free(results.result1.allocated);

  printf("%d\n", (int)_mlir_ciface_scalar(true, 7.9));
  _mlir_ciface_nothing();
  _mlir_ciface_odd_name_1(&same, &index);
  printf("%d %d\n", (int)same.aligned[0], (int)same.aligned[1]);
  free(same.allocated);
  _mlir_ciface_half(&copy, &half);
  printf("%x\n", copy.aligned[0]);
  free(copy.allocated);
  return 0;
}
