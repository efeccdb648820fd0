/* Calls `chain` of splice-placement.mlir with a buffer on the device, or with
 * ON_HOST on the host. */
#include "kernelbrain/Runtime/CudaRuntime.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct {
  float *base, *data;
  int64_t offset, size, stride;
} Buffer;

void _mlir_ciface_chain(Buffer *result, Buffer *input);

#ifdef ON_HOST
static void call(float *values) {
  Buffer input = {values, values, 0, 3, 1}, result;
  printf("call\n");
  _mlir_ciface_chain(&result, &input);
  printf("returned\n");
  for (int i = 0; i < 3; ++i)
    values[i] = result.data[i];
  free(result.base);
}
#else
static void call(float *values) {
  const int64_t bytes = 3 * sizeof *values;
  Buffer input = {0, 0, 0, 3, 1}, result;
  kbcuAllocate((void **)&input.data, bytes, 0);
  input.base = input.data;
  kbcuCopy(input.data, values, bytes, 0);
  printf("empty\n");
  Buffer nothing = input;
  nothing.size = 0;
  _mlir_ciface_chain(&result, &nothing);
  kbcuFree(result.base, 0);
  printf("call\n");
  _mlir_ciface_chain(&result, &input);
  printf("returned\n");
  kbcuCopy(values, result.data, bytes, 0);
  kbcuFree(result.base, 0);
  kbcuFree(input.base, 0);
}
#endif

int main() {
  float values[3] = {1001, 1002, 1003};
  call(values);
  printf("result %g %g %g\n", values[0], values[1], values[2]);
  return 0;
}
