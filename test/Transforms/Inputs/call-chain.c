/* Calls functions of splice-placement.mlir with buffers on the device, or
 * `chain` with ON_HOST on the host. */
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
void _mlir_ciface_carried(Buffer *result, int64_t turns, Buffer *start);
typedef struct {
  Buffer buffer;
  float second;
} Results;
void _mlir_ciface_constant(Results *results, Buffer *output);

static Buffer allocate(void) {
  Buffer buffer = {0, 0, 0, 3, 1};
  kbcuAllocate((void **)&buffer.data, 3 * sizeof(float), 0);
  buffer.base = buffer.data;
  return buffer;
}

static void print(Buffer result) {
  float values[3];
  kbcuCopy(values, result.data, sizeof values, 0);
  kbcuFree(result.base, 0);
  printf("result %g %g %g\n", values[0], values[1], values[2]);
}

static void callConstant(void) {
  Results results[2];
  Buffer output = allocate();
  printf("twice\n");
  for (int i = 0; i < 2; ++i)
    _mlir_ciface_constant(&results[i], &output);
  printf("read %g and %g\n", results[0].second, results[1].second);
  if (results[0].buffer.base != output.base)
    kbcuFree(results[0].buffer.base, 0);
  print(results[1].buffer);
}

static void callCarried(const float *values) {
  Buffer start = allocate(), result;
  kbcuCopy(start.data, values, 3 * sizeof *values, 0);
  printf("carried\n");
  _mlir_ciface_carried(&result, 4, &start);
  printf("returned\n");
  kbcuFree(start.base, 0);
  print(result);
}

static void call(float *values) {
  const int64_t bytes = 3 * sizeof *values;
  Buffer input = allocate(), result;
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
#ifndef ON_HOST
  callCarried(values);
  callConstant();
#endif
  return 0;
}
