//===- Sandbox.h - What a runner gives up before it loads code --*- C++ -*-===//

#ifndef KERNELBRAIN_EVALUATE_DEVICE_SANDBOX_H
#define KERNELBRAIN_EVALUATE_DEVICE_SANDBOX_H

#include <cstdint>
#include <string>
#include <vector>

namespace kernelbrain::evaluate {

struct SandboxOptions {
  std::vector<std::string> readable; ///< files and folders it may read
  int64_t addressSpaceBytes = 0; ///< on top of what is mapped now; 0: no limit
  bool allowFork = false, allowThreads = false;
  bool allowMemoryFiles = false; ///< files without a name
  /// NVIDIA's devices, and what their driver reads of the system, stay open.
  bool useGpu = false;
};

/// Gives up, for ever: files other than `readable`, the network, programs,
/// threads and other processes unless allowed, core dumps, file growth. Returns
/// the measures that took hold, for instance {"landlock", "seccomp", "limits"}:
/// an old kernel lacks some, and then the rest still holds.
std::vector<std::string> enterSandbox(const SandboxOptions &options);

} // namespace kernelbrain::evaluate

#endif // KERNELBRAIN_EVALUATE_DEVICE_SANDBOX_H
