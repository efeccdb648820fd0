//===- OutputFile.cpp - A file that is whole or not there -----------------===//

#include "OutputFile.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace kernelbrain::tool {

Error OutputFile::error(const std::string &why) const {
  return {"cannot write '" + path + "': " + why};
}

Result<OutputFile> OutputFile::open(const std::string &path,
                                    bool isExecutable) {
  OutputFile file(path);
  if (path.empty() || path == "-")
    return std::move(file);
  sys::fs::file_status status;
  bool exists = !sys::fs::status(path, status);
  if (exists && sys::fs::is_directory(status))
    return file.error("it is a folder");
  if (exists && !sys::fs::is_regular_file(status))
    return std::move(file);
  if (exists && sys::fs::access(path, sys::fs::AccessMode::Write))
    return file.error("permission denied");
  unsigned mode = sys::fs::all_read | sys::fs::owner_write;
  if (isExecutable)
    mode |= sys::fs::all_exe;
  Expected<sys::fs::TempFile> temporary =
      sys::fs::TempFile::create(path + ".%%%%%%.tmp", mode);
  if (!temporary)
    return file.error(llvm::toString(temporary.takeError()));
  file.temporary = std::move(*temporary);
  return std::move(file);
}

OutputFile::OutputFile(OutputFile &&other)
    : path(std::move(other.path)), temporary(std::move(other.temporary)) {
  other.temporary.reset();
}

OutputFile::~OutputFile() {
  if (temporary)
    consumeError(temporary->discard());
}

Status OutputFile::write(StringRef bytes) {
  if (path.empty())
    return {};
  std::error_code failure;
  std::optional<raw_fd_ostream> out;
  if (temporary)
    out.emplace(temporary->FD, /*shouldClose=*/false);
  else
    out.emplace(path, failure);
  if (failure)
    return error(failure.message());
  *out << bytes;
  out->flush();
  failure = out->error();
  out->clear_error();
  if (failure)
    return error(failure.message());
  return {};
}

Status OutputFile::keep() {
  if (!temporary)
    return {};
  llvm::Error failure = temporary->keep(path);
  temporary.reset();
  if (failure)
    return error(llvm::toString(std::move(failure)));
  return {};
}

} // namespace kernelbrain::tool
