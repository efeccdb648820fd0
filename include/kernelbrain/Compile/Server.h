//===- Server.h - kb-compile --serve ----------------------------*- C++ -*-===//

#ifndef KERNELBRAIN_COMPILE_SERVER_H
#define KERNELBRAIN_COMPILE_SERVER_H

#include "kernelbrain/Compile/VariantBuilder.h"

namespace kernelbrain::compile {

struct ServerOptions {
  unsigned jobs = 1;                             ///< forks side by side
  uint64_t memoryLimitBytes = uint64_t(4) << 30; ///< of one fork
  int64_t deadlineMs = 30000; ///< of one fork, pauses excluded
};

/// Speaks the protocol of docs/Protocols.md on `in` and `out` until end of
/// file, with one fork a build. `context` has threading disabled; the calling
/// process has one thread. Returns the exit status.
int serve(int in, int out, const ServerOptions &options,
          const Toolchain &toolchain, const std::string &strategyLibraryHash,
          mlir::MLIRContext &context);

} // namespace kernelbrain::compile

#endif // KERNELBRAIN_COMPILE_SERVER_H
