/* Calls `chain` of splice-placement.mlir with a buffer on the device. */
#include "kernelbrain/Runtime/CudaRuntime.h"

#include <stdio.h>

typedef struct {
  float *base, *data;
  int64_t offset, size, stride;
} Buffer;

void _mlir_ciface_chain(Buffer *result, Buffer *input);

int main() {
  float values[3] = {1001, 1002, 1003};
  Buffer input = {0, 0, 0, 3, 1}, result;
  kbcuAllocate((void **)&input.data, sizeof values, 0);
  input.base = input.data;
  kbcuCopy(input.data, values, sizeof values, 0);
  printf("empty\n");
  Buffer nothing = input;
  nothing.size = 0;
  _mlir_ciface_chain(&result, &nothing);
  kbcuFree(result.base, 0);
  printf("call\n");
  _mlir_ciface_chain(&result, &input);
  printf("returned\n");
  kbcuCopy(values, result.data, sizeof values, 0);
  kbcuFree(result.base, 0);
  kbcuFree(input.base, 0);
  printf("result %g %g %g\n", values[0], values[1], values[2]);
  return 0;
}
