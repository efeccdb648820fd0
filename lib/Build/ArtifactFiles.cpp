//===- ArtifactFiles.cpp - Artifacts in a folder --------------------------===//

#include "kernelbrain/Build/CompileServerBuilder.h"
#include "kernelbrain/Support/Hash.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace kernelbrain::build {

static Error fileError(const char *what, const std::string &path) {
  return Error{std::string(what) + " '" + path + "': " + std::strerror(errno)};
}

/// Readers see no file or a whole one.
static Status writeWhole(const std::string &path, const std::string &bytes) {
  std::string temporary = path + "." + std::to_string(getpid());
  std::FILE *file = std::fopen(temporary.c_str(), "wbe");
  if (!file)
    return fileError("cannot create", temporary);
  bool written =
      std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  written = std::fclose(file) == 0 && written;
  if (written && std::rename(temporary.c_str(), path.c_str()) == 0)
    return {};
  Error error = fileError("cannot write", path);
  std::remove(temporary.c_str());
  return error;
}

std::function<Result<std::string>(const std::string &)>
storeInDirectory(std::string directory) {
  return [directory = std::move(directory)](
             const std::string &bytes) -> Result<std::string> {
    std::string path = directory + "/" + contentHash(bytes) + ".so";
    if (access(path.c_str(), R_OK) == 0)
      return path;
    if (Status status = writeWhole(path, bytes); !status)
      return status.error();
    return path;
  };
}

} // namespace kernelbrain::build
