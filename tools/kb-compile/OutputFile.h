//===- OutputFile.h - A file that is whole or not there ---------*- C++ -*-===//

#ifndef KERNELBRAIN_TOOLS_KBCOMPILE_OUTPUTFILE_H
#define KERNELBRAIN_TOOLS_KBCOMPILE_OUTPUTFILE_H

#include "kernelbrain/Support/Result.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"

#include <optional>
#include <string>

namespace kernelbrain::tool {

/// Written beside its place and moved there by keep(), so that a failure or a
/// signal leaves what was there before. "-" is standard output; what exists and
/// is no plain file (a pipe, /dev/null) is written in place; an empty path
/// swallows what is written.
class OutputFile {
public:
  static Result<OutputFile> open(const std::string &path, bool isExecutable);
  OutputFile(OutputFile &&other);
  ~OutputFile();

  Status write(llvm::StringRef bytes);
  Status keep();

private:
  explicit OutputFile(std::string path) : path(std::move(path)) {}
  Error error(const std::string &why) const;

  std::string path;
  std::optional<llvm::sys::fs::TempFile> temporary;
};

} // namespace kernelbrain::tool

#endif // KERNELBRAIN_TOOLS_KBCOMPILE_OUTPUTFILE_H
