/* The CUDA runtime of spliced kernels, in host memory: tells every call. What
 * touches its device pointers on the host dies. */
#include "kernelbrain/Runtime/CudaRuntime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char memory[1 << 16];
static size_t used = 64;
static int live;

/* A device address is 2^40 above the one of the host. */
static const intptr_t away = (intptr_t)1 << 40;
static int isDevice(const void *p) {
  intptr_t at = (intptr_t)p - away - (intptr_t)memory;
  return at >= 0 && at < (intptr_t)sizeof memory;
}
static void *onHost(const void *p) {
  return (void *)(isDevice(p) ? (intptr_t)p - away : (intptr_t)p);
}

static int32_t failure(const char *call) {
  const char *chosen = getenv("FAIL");
  return chosen && !strcmp(chosen, call) ? 1700 : 0;
}

int32_t kbcuAllocate(void **result, int64_t bytes, void *stream) {
  printf("allocate %ld\n", (long)bytes);
  if (failure("allocate"))
    return 1002;
  *result = (void *)((intptr_t)memory + (intptr_t)used + away);
  used += (size_t)(bytes + 255) / 256 * 256;
  ++live;
  return 0;
}

int32_t kbcuFree(void *freed, void *stream) {
  printf("free, %d left\n", --live);
  return isDevice(freed) ? 0 : 1001;
}

int32_t kbcuCopy(void *to, const void *from, int64_t bytes, void *stream) {
  printf("copy %ld %s to %s\n", (long)bytes, isDevice(from) ? "device" : "host",
         isDevice(to) ? "device" : "host");
  memcpy(onHost(to), onHost(from), (size_t)bytes);
  return failure("copy");
}

int32_t kbcuConstant(void **copies, const void *host, int64_t bytes,
                     void **result) {
  if (!*copies) {
    if (kbcuAllocate(copies, bytes, 0) || kbcuCopy(*copies, host, bytes, 0))
      return 1002;
    --live;
  }
  *result = *copies;
  return failure("constant");
}

int32_t kbcuSynchronize(void *stream) {
  printf("synchronize\n");
  return failure("synchronize");
}

/* Kernels take (input, output, elements) and add 100. */
int32_t kbcuLaunch(kbcuKernel *kernel, const kbcuShape *shape, void *stream,
                   void **parameters) {
  const float *input = *(const float **)parameters[0];
  float *output = *(float **)parameters[1];
  int64_t count = *(int64_t *)parameters[2];
  printf("launch %s of %ld\n", kernel->name, (long)count);
  if (!isDevice(input) || !isDevice(output))
    return 1001;
  input = onHost(input);
  output = onHost(output);
  for (int64_t i = 0; i < count; ++i)
    output[i] = input[i] + 100;
  return failure("launch");
}
