//===- Link.h - Objects to a shared object, in this process -----*- C++ -*-===//

#ifndef KERNELBRAIN_COMPILE_LINK_H
#define KERNELBRAIN_COMPILE_LINK_H

#include "kernelbrain/Support/Result.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace kernelbrain::compile {

struct LinkOptions {
  std::string soname = "kernel.so";
  /// Undefined symbols are left to whoever loads the result; else an error.
  bool allowUndefined = false;
};

/// Links with lld as a library. Objects, system libraries and the result live
/// in memory, so that linking needs no file, no folder and no other process.
/// Not for processes with several threads: standard output is borrowed while
/// lld runs.
class Linker {
public:
  /// Takes the C and mathematics libraries that this process has loaded, and
  /// compiler-rt's builtins and LLVM's OpenMP runtime where they are installed.
  static Result<Linker> create();
  Linker(Linker &&other) noexcept;
  Linker &operator=(Linker &&other) = delete;
  ~Linker();

  /// The bytes of a shared object that needs the C and mathematics libraries
  /// only where it uses them, and the OpenMP runtime where it has threads.
  /// Equal inputs give equal bytes. The error is what lld says.
  Result<std::string> link(llvm::ArrayRef<llvm::StringRef> objects,
                           const LinkOptions &options) const;

private:
  Linker() = default;
  int libm = -1, libc = -1, builtins = -1, openmp = -1; ///< memory files
};

} // namespace kernelbrain::compile

#endif // KERNELBRAIN_COMPILE_LINK_H
