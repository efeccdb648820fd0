//===- Artifact.h - Built code and its manifest -----------------*- C++ -*-===//

#ifndef KERNELBRAIN_CORE_ARTIFACT_H
#define KERNELBRAIN_CORE_ARTIFACT_H

#include "kernelbrain/Core/Kernel.h"
#include "kernelbrain/Support/Json.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kernelbrain {

/// Version of the calling convention of kernels (docs/Protocols.md).
constexpr int kernelAbiVersion = 1;

/// The shared library that code with threads needs: LLVM's OpenMP runtime.
constexpr char openmpRuntime[] = "libomp.so.5";
/// The shared library that code for NVIDIA GPUs needs: Runtime/CudaRuntime.h.
constexpr char cudaRuntime[] = "libKernelBrainCudaRuntime.so";

/// A public function of a program, called as `_mlir_ciface_<name>`: results (a
/// struct of memref descriptors) first if there are any, then a descriptor a
/// tensor argument; scalars by value.
struct FunctionSignature {
  std::string name;
  std::vector<Argument> arguments;
  std::vector<Argument> results;
};

/// What a shared object says about itself, as the symbol `kb_manifest`.
struct Manifest {
  std::string kind; ///< "kernel" or "program"
  // A kernel: one function of ABI v1.
  std::string entry; ///< its symbol
  std::vector<Argument> arguments;
  int64_t dims = 0;           ///< distinct dynamic dimensions
  int64_t workspaceBytes = 0; ///< static size; 0: none
  // A program.
  std::vector<FunctionSignature> functions;
  // Both.
  /// Shared libraries that loading it loads, beyond those of C and mathematics.
  std::vector<std::string> libraries;
  Json target, recipe;
  /// Coarse features for the archive: strategy, vector_bytes, ...; strings or
  /// integers, read from the lowered IR and the code.
  Json features;
  /// Of a kernel for a GPU, its launches in order: function, grid (-1 where it
  /// depends on a size), block, dynamic_shared_bytes; of a cubin also
  /// registers, shared_bytes, spill_bytes and stack_bytes, as ptxas says.
  Json launches = Json::array();
  std::string irHash;   ///< lowered IR before code generation
  std::string codeHash; ///< text and constants of the object
};
Json toJson(const Manifest &manifest);
Result<Manifest> manifestFromJson(const Json &json);

/// An artifact on disk.
struct Artifact {
  std::string path; ///< of the shared object
  Manifest manifest;
  /// Of another one from the same recipe that aborts, with a message on
  /// standard output, where it would touch memory outside a buffer. May be
  /// empty.
  std::string verifiedPath{};
};

} // namespace kernelbrain

#endif // KERNELBRAIN_CORE_ARTIFACT_H
