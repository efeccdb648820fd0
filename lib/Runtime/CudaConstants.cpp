//===- CudaConstants.cpp - Constants of programs in device memory ---------===//

#include "kernelbrain/Runtime/CudaDriver.h"
#include "kernelbrain/Runtime/CudaRuntime.h"

#include <pthread.h>
#include <stdlib.h>

using namespace kernelbrain::cuda;

namespace {

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/// What a constant has in one context. It stays as long as the process, like a
/// kernel's module.
struct Copy {
  void *context;
  DevicePointer memory;
  const Copy *next;
};

const Copy *find(void *const *copies, void *context) {
  auto copy =
      static_cast<const Copy *>(__atomic_load_n(copies, __ATOMIC_ACQUIRE));
  while (copy && copy->context != context)
    copy = copy->next;
  return copy;
}

/// Complete when it returns, so that any stream may read the copy.
Result upload(const Driver &driver, DevicePointer &memory, const void *host,
              size_t bytes) {
  if (Result result = driver.MemAlloc(&memory, bytes))
    return result;
  Result result = driver.MemcpyAsync(
      memory, reinterpret_cast<DevicePointer>(host), bytes, nullptr);
  if (!result)
    result = driver.StreamSynchronize(nullptr);
  if (result)
    driver.MemFree(memory);
  return result;
}

Result add(const Driver &driver, void **copies, void *context, const void *host,
           size_t bytes) {
  auto copy = static_cast<Copy *>(malloc(sizeof(Copy)));
  if (!copy)
    return OutOfMemory;
  copy->context = context;
  copy->next = static_cast<const Copy *>(*copies);
  if (Result result = upload(driver, copy->memory, host, bytes)) {
    free(copy);
    return result;
  }
  __atomic_store_n(copies, copy, __ATOMIC_RELEASE);
  return Success;
}

} // namespace

extern "C" int32_t kbcuConstant(void **copies, const void *host, int64_t bytes,
                                void **memory) {
  *memory = nullptr;
  if (bytes <= 0)
    return 0;
  return status(withContext(0, [&](const Driver &driver) {
    void *context = nullptr;
    if (Result result = driver.CtxGetCurrent(&context))
      return result;
    if (!context)
      return Result(InvalidContext);
    Result result = Success;
    if (!find(copies, context)) {
      pthread_mutex_lock(&mutex);
      if (!find(copies, context))
        result = add(driver, copies, context, host, size_t(bytes));
      pthread_mutex_unlock(&mutex);
    }
    if (!result)
      *memory = reinterpret_cast<void *>(find(copies, context)->memory);
    return result;
  }));
}
