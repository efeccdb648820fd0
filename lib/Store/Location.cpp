//===- Location.cpp - Where the store is ----------------------------------===//

#include "kernelbrain/Store/Location.h"

#include "kernelbrain/Support/File.h"
#include "kernelbrain/Support/Hash.h"

#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

using namespace kernelbrain;

static std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

Result<std::string> store::findStore(const std::string &option) {
  if (!option.empty())
    return option;
  if (std::string folder = environment("KB_STORE"); !folder.empty())
    return folder;
  // The specification of XDG_CACHE_HOME says to ignore a relative path.
  if (std::string cache = environment("XDG_CACHE_HOME");
      !cache.empty() && cache[0] == '/')
    return cache + "/kernelbrain";
  if (std::string home = environment("HOME"); !home.empty())
    return home + "/.cache/kernelbrain";
  return Error{"no folder for the store is known; give 'store=', or set "
               "KB_STORE or HOME"};
}

Status store::prepareStore(const std::string &store) {
  const char *hint = "; choose another store with 'store=' or KB_STORE";
  if (Status status = makeDirectories(store); !status)
    return Error{"the store cannot be used: " + status.error().message + hint};
  std::string probe = store + "/.probe-" + std::to_string(::getpid());
  // A byte, because a full disk still makes empty files.
  Result<FileDescriptor> file =
      openFile(probe, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  Status status = file ? writeAll(file->get(), "x", probe) : file.error();
  if (file)
    ::unlink(probe.c_str());
  if (!status)
    return Error{"the store '" + store +
                 "' cannot be written: " + status.error().message + hint};
  return {};
}

std::string store::databasePath(const std::string &store) {
  return store + "/tuning.db";
}

std::string store::machinePath(const std::string &store,
                               const std::string &device) {
  return store + "/machines/" + contentHash(device) + ".json";
}
