//===- File.h - Files without exceptions ------------------------*- C++ -*-===//

#ifndef KERNELBRAIN_SUPPORT_FILE_H
#define KERNELBRAIN_SUPPORT_FILE_H

#include "kernelbrain/Support/Result.h"

#include <string>
#include <string_view>
#include <utility>

namespace kernelbrain {

/// "cannot <action> '<path>': <the system's words for errno>".
Error fileError(const std::string &action, const std::string &path);

/// Owns one file descriptor.
class FileDescriptor {
public:
  explicit FileDescriptor(int fd = -1) : fd(fd) {}
  FileDescriptor(FileDescriptor &&other) noexcept
      : fd(std::exchange(other.fd, -1)) {}
  FileDescriptor &operator=(FileDescriptor &&other) noexcept {
    std::swap(fd, other.fd);
    return *this;
  }
  ~FileDescriptor();

  int get() const { return fd; }
  explicit operator bool() const { return fd >= 0; }

private:
  int fd;
};

/// Opens `path` close-on-exec with the flags of open(2).
Result<FileDescriptor> openFile(const std::string &path, int flags,
                                int mode = 0644);

/// The whole content of a file.
Result<std::string> readFile(const std::string &path);

/// Writes all of `bytes`; retries on EINTR and partial writes. `path` is for
/// the error.
Status writeAll(int fd, std::string_view bytes, const std::string &path);

/// Replaces `path` as a whole: readers see the old or the new content, also
/// after a power failure. Leaves no temporary file behind.
Status writeFileAtomically(const std::string &path, std::string_view bytes,
                           int mode = 0644);

/// Makes a folder and its parents; it is no error if it is there.
Status makeDirectories(const std::string &path);

} // namespace kernelbrain

#endif // KERNELBRAIN_SUPPORT_FILE_H
