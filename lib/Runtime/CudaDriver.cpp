//===- CudaDriver.cpp -----------------------------------------------------===//

#include "kernelbrain/Runtime/CudaDriver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

namespace kernelbrain::cuda {
namespace {

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
Driver functions;
const Driver *loaded = nullptr; ///< &functions once they can be called

Result load() {
  const char *named = secure_getenv("KB_CUDA_DRIVER");
  void *library = dlopen(named && *named ? named : "libcuda.so.1", RTLD_NOW);
  if (!library)
    return NoDevice;
#define KB_CUDA_FIND(name, symbol, parameters)                                 \
  functions.name =                                                             \
      reinterpret_cast<decltype(functions.name)>(dlsym(library, symbol));      \
  if (!functions.name)                                                         \
    return NotFound;
  KB_CUDA_FUNCTIONS(KB_CUDA_FIND)
#undef KB_CUDA_FIND
  return functions.Init(0);
}

} // namespace

const Driver *driver(Result &result) {
  result = Success;
  if (const Driver *known = __atomic_load_n(&loaded, __ATOMIC_ACQUIRE))
    return known;
  pthread_mutex_lock(&mutex);
  if (!loaded && !(result = load()))
    __atomic_store_n(&loaded, &functions, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&mutex);
  return loaded;
}

Result useContext(const Driver &driver, int device) {
  void *context = nullptr;
  Result result = driver.CtxGetCurrent(&context);
  if (result || context)
    return result;
  int handle = 0;
  if ((result = driver.DeviceGet(&handle, device)) ||
      (result = driver.DevicePrimaryCtxRetain(&context, handle)))
    return result;
  return driver.CtxSetCurrent(context);
}

} // namespace kernelbrain::cuda
