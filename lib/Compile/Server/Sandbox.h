//===- Sandbox.h - What a fork may do ---------------------------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_COMPILE_SERVER_SANDBOX_H
#define KERNELBRAIN_LIB_COMPILE_SERVER_SANDBOX_H

#include <string>

namespace kernelbrain::compile {

/// Takes away from this process, for good: files by path (open descriptors and
/// memory files stay), sockets, starting programs or processes, signals to
/// others, tracing. Needs no privilege. What the system does not offer is left
/// out; returns what was done, such as "landlock, seccomp".
/// `program`, if not empty, may be started, and read what the system's loader
/// reads; it is confined like this process.
std::string enterSandbox(const std::string &program);

/// What enterSandbox() would do here.
std::string describeSandbox();

} // namespace kernelbrain::compile

#endif // KERNELBRAIN_LIB_COMPILE_SERVER_SANDBOX_H
