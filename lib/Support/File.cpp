//===- File.cpp - Files without exceptions --------------------------------===//

#include "kernelbrain/Support/File.h"

#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

using namespace kernelbrain;

Error kernelbrain::fileError(const std::string &action,
                             const std::string &path) {
  return Error{"cannot " + action + " '" + path +
               "': " + std::generic_category().message(errno)};
}

FileDescriptor::~FileDescriptor() {
  if (fd >= 0)
    ::close(fd);
}

Result<FileDescriptor> kernelbrain::openFile(const std::string &path, int flags,
                                             int mode) {
  int fd;
  do
    fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  while (fd < 0 && errno == EINTR);
  if (fd < 0)
    return fileError("open", path);
  return FileDescriptor(fd);
}

Result<std::string> kernelbrain::readFile(const std::string &path) {
  Result<FileDescriptor> file = openFile(path, O_RDONLY);
  if (!file)
    return file.error();
  std::string content;
  char buffer[1 << 16];
  while (true) {
    ssize_t count = ::read(file->get(), buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return fileError("read", path);
    if (count == 0)
      return content;
    content.append(buffer, count);
  }
}

Status kernelbrain::writeAll(int fd, std::string_view bytes,
                             const std::string &path) {
  while (!bytes.empty()) {
    ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return fileError("write to", path);
    bytes.remove_prefix(count);
  }
  return {};
}

/// A rename is durable once its folder is.
static void syncParent(const std::string &path) {
  std::string parent = std::filesystem::path(path).parent_path();
  Result<FileDescriptor> folder =
      openFile(parent.empty() ? "." : parent, O_RDONLY | O_DIRECTORY);
  if (folder)
    ::fsync(folder->get());
}

static Status writeAndSync(const std::string &path, std::string_view bytes,
                           int mode) {
  Result<FileDescriptor> file =
      openFile(path, O_WRONLY | O_CREAT | O_EXCL, mode);
  if (!file)
    return file.error();
  if (Status status = writeAll(file->get(), bytes, path); !status)
    return status;
  if (::fsync(file->get()) != 0)
    return fileError("write to", path);
  return {};
}

Status kernelbrain::writeFileAtomically(const std::string &path,
                                        std::string_view bytes, int mode) {
  static std::atomic<unsigned> counter{0};
  std::string temporary = path + ".tmp-" + std::to_string(::getpid()) + "-" +
                          std::to_string(counter++);
  Status status = writeAndSync(temporary, bytes, mode);
  if (status && ::rename(temporary.c_str(), path.c_str()) != 0)
    status = fileError("replace", path);
  if (!status) {
    ::unlink(temporary.c_str());
    return status;
  }
  syncParent(path);
  return {};
}

/// The link to nothing that `path` leads through, or "".
static std::string danglingLink(std::filesystem::path path) {
  std::error_code ignored;
  for (; path.has_relative_path(); path = path.parent_path())
    if (std::filesystem::is_symlink(path, ignored) &&
        !std::filesystem::exists(path, ignored))
      return path;
  return "";
}

Status kernelbrain::makeDirectories(const std::string &path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error && !std::filesystem::is_directory(path, error) && !error)
    error = std::make_error_code(std::errc::not_a_directory);
  std::string link = error ? danglingLink(path) : "";
  if (!link.empty())
    return Error{"cannot make the folder '" + path + "': '" + link +
                 "' is a link to what is not there"};
  if (error)
    return Error{"cannot make the folder '" + path + "': " + error.message()};
  return {};
}
