//===- MemoryFile.h - Files without a path ----------------------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_COMPILE_MEMORYFILE_H
#define KERNELBRAIN_LIB_COMPILE_MEMORYFILE_H

#include "kernelbrain/Support/Result.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <utility>

namespace kernelbrain::compile {

/// A file that lives in memory as long as this does: what works on files can
/// be used where none may be opened.
class MemoryFile {
public:
  static Result<MemoryFile> create(const char *name, llvm::StringRef bytes);
  MemoryFile() = default;
  MemoryFile(MemoryFile &&other) noexcept
      : descriptor(std::exchange(other.descriptor, -1)) {}
  MemoryFile &operator=(MemoryFile &&other) noexcept {
    std::swap(descriptor, other.descriptor);
    return *this;
  }
  ~MemoryFile();

  explicit operator bool() const { return descriptor >= 0; }
  int fd() const { return descriptor; }
  /// By which this process can open it.
  std::string path() const;
  /// Empty if it cannot be read.
  std::string readAll() const;

private:
  int descriptor = -1;
};

} // namespace kernelbrain::compile

#endif // KERNELBRAIN_LIB_COMPILE_MEMORYFILE_H
