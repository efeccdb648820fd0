//===- Link.h - Objects to a shared object, in this process -----*- C++ -*-===//

#ifndef KERNELBRAIN_COMPILE_LINK_H
#define KERNELBRAIN_COMPILE_LINK_H

#include "kernelbrain/Support/Result.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <memory>
#include <string>

namespace kernelbrain::compile {

class CodeGenerator;

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
  /// From then on code may call kbcu* of the CUDA runtime, which need not be
  /// here: a library of its name with the same symbols stands for it.
  Status addCudaRuntime(const CodeGenerator &generator);
  Linker(Linker &&other) noexcept;
  Linker &operator=(Linker &&other) = delete;
  ~Linker();

  /// The bytes of a shared object that needs the C and mathematics libraries
  /// only where it uses them, the OpenMP runtime where it has threads, and the
  /// CUDA runtime where it launches. Equal inputs give equal bytes. The error
  /// is what lld says.
  Result<std::string> link(llvm::ArrayRef<llvm::StringRef> objects,
                           const LinkOptions &options) const;

private:
  Linker();
  struct Libraries;
  std::unique_ptr<Libraries> libraries;
};

} // namespace kernelbrain::compile

#endif // KERNELBRAIN_COMPILE_LINK_H
