//===- MemoryFile.cpp - Files without a path ------------------------------===//

#include "MemoryFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kernelbrain::compile {

static Error systemError(const char *what) {
  return Error{std::string(what) + ": " + std::strerror(errno)};
}

Result<MemoryFile> MemoryFile::create(const char *name, llvm::StringRef bytes) {
  MemoryFile file;
  file.descriptor = memfd_create(name, MFD_CLOEXEC);
  // Out of the way of a child's standard streams, which may be closed here.
  if (file && file.fd() < 3) {
    int raised = fcntl(file.fd(), F_DUPFD_CLOEXEC, 3);
    close(std::exchange(file.descriptor, raised));
  }
  if (!file)
    return systemError("cannot create a file in memory");
  while (!bytes.empty()) {
    ssize_t written = write(file.descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return systemError("cannot write a file in memory");
    bytes = bytes.drop_front(written);
  }
  return std::move(file);
}

MemoryFile::~MemoryFile() {
  if (descriptor >= 0)
    close(descriptor);
}

std::string MemoryFile::path() const {
  return "/proc/self/fd/" + std::to_string(descriptor);
}

std::string MemoryFile::readAll() const {
  struct stat status{};
  fstat(descriptor, &status);
  std::string bytes(status.st_size, 0);
  for (size_t at = 0; at < bytes.size();) {
    ssize_t count = pread(descriptor, bytes.data() + at, bytes.size() - at, at);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return std::string();
    at += count;
  }
  return bytes;
}

} // namespace kernelbrain::compile
