/*===- CudaRuntime.h - What kernels for NVIDIA GPUs call --------*- C -*-===*\
|*
|* libKernelBrainCudaRuntime.so: a layer over the CUDA driver, which is looked
|* for when the first call needs it, so that the library loads everywhere.
|* Kernels that KernelBrain builds call kbcuLaunch and nothing else; programs of
|* stock MLIR find its mgpu* functions here as well.
|*
|* Every function may be called from several threads. Statuses: 0 is success;
|* others are 1000 + the driver's CUresult (1100 where there is no driver), out
|* of the way of 1, by which a kernel declines. Success of a launch means that
|* it is in the stream: a fault of the kernel itself shows when the stream is
|* synchronised.
|*
\*===----------------------------------------------------------------------===*/

#ifndef KERNELBRAIN_RUNTIME_CUDARUNTIME_H
#define KERNELBRAIN_RUNTIME_CUDARUNTIME_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A device image (cubin, fatbin, or PTX that ends with a zero byte), as a
 * global of the program. Zero but for the image; the rest is the runtime's. */
typedef struct kbcuModule {
  const void *image;
  void *handle;
} kbcuModule;

/* One kernel of a module, as a global of the program. */
typedef struct kbcuKernel {
  kbcuModule *module;
  const char *name;
  void *handle;        /* the runtime's */
  int32_t sharedBytes; /* the largest dynamic shared memory of any launch */
} kbcuKernel;

/* Sizes of a launch; a cluster of all zeros is none. */
typedef struct kbcuShape {
  uint32_t grid[3], block[3], cluster[3];
  uint32_t sharedBytes; /* dynamic shared memory of this launch */
} kbcuShape;

/* Puts a launch into `stream` (NULL: the calling thread's, see kbcuSetStream).
 * `parameters` points to one pointer a kernel parameter. The first launch of a
 * kernel loads its module; every later one is a single call of the driver. A
 * thread without a context gets the primary one of device 0. A grid with an
 * empty dimension does nothing. */
int32_t kbcuLaunch(kbcuKernel *kernel, const kbcuShape *shape, void *stream,
                   void **parameters);

/* The stream of calls on this thread that name none; NULL, the default stream,
 * at first. */
void kbcuSetStream(void *stream);
void *kbcuGetStream(void);

/* Device memory in stream order, for the shims of host programs. */
int32_t kbcuAllocate(void **memory, int64_t bytes, void *stream);
int32_t kbcuFree(void *memory, void *stream);
/* Between any two of host and device. */
int32_t kbcuCopy(void *to, const void *from, int64_t bytes, void *stream);
int32_t kbcuSynchronize(void *stream);

/* A copy of `bytes` bytes of a program's constant in device memory, which the
 * first call in a context makes and waits for, and which stays. So call a
 * program once before its calls are captured in a graph. `copies`, NULL at
 * first, is the runtime's, one a constant. */
int32_t kbcuConstant(void **copies, const void *host, int64_t bytes,
                     void **memory);

/* A tile in global memory for the bulk copy engine. Extents are in elements,
 * the fastest first, as the driver has them; `strides` has rank - 1 entries, in
 * bytes. The enumerations are the driver's. */
typedef struct kbcuTensorMapShape {
  uint32_t rank, dataType, interleave, swizzle, promotion, fill;
  uint64_t extents[5], strides[4];
  uint32_t box[5], elementStrides[5];
} kbcuTensorMapShape;

/* Writes the 128 bytes of a CUtensorMap to `map` (64-byte aligned). */
int32_t kbcuEncodeTensorMap(void *map, const void *memory,
                            const kbcuTensorMapShape *shape);

/* The driver's words for a status; never NULL. */
const char *kbcuMessage(int32_t status);

/* The first failure of an mgpu* function since the last call of this one, or 0.
 * Those functions return no status; they print what failed. */
int32_t kbcuTakeFailure(void);

#ifdef __cplusplus
}
#endif

#endif /* KERNELBRAIN_RUNTIME_CUDARUNTIME_H */
