//===- Child.h - Inside a fork ----------------------------------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_COMPILE_SERVER_CHILD_H
#define KERNELBRAIN_LIB_COMPILE_SERVER_CHILD_H

#include <cstdint>

namespace kernelbrain::compile {

/// Why a fork ended without an answer.
enum class EndCause : uint8_t {
  None,
  OutOfMemory,
  StackOverflow,
  Fault,
  Abort,
  FatalError
};

/// A page that a fork shares with the server: what it does, and its last words.
struct ForkStatus {
  char stage[32] = "start";
  volatile EndCause cause = EndCause::None;
  char text[256] = ""; ///< of FatalError
};

struct ChildLimits {
  uint64_t memoryBytes; ///< beyond what the server itself has mapped
  int64_t cpuSeconds;   ///< backstop; the server keeps the deadline
};

/// Limits this process and makes it leave its last words in `status` when it
/// runs out of memory or stack, faults, or meets a fatal error of LLVM.
void superviseChild(const ChildLimits &limits, ForkStatus *status);

/// Notes what this process does.
void noteStage(ForkStatus *status, const char *stage);

} // namespace kernelbrain::compile

#endif // KERNELBRAIN_LIB_COMPILE_SERVER_CHILD_H
