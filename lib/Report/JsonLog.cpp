//===- JsonLog.cpp - Events as JSON lines ---------------------------------===//

#include "kernelbrain/Report/JsonLog.h"

#include "kernelbrain/Store/Journal.h"

#include <fcntl.h>

using namespace kernelbrain;
using namespace kernelbrain::report;

Result<std::unique_ptr<JsonLog>> JsonLog::open(const std::string &path) {
  Result<FileDescriptor> fd =
      openFile(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND);
  if (!fd)
    return fd.error().withContext("log");
  return std::unique_ptr<JsonLog>(new JsonLog(path, std::move(*fd)));
}

Status JsonLog::notify(const search::Event &event) {
  Status status =
      writeAll(fd.get(), dumpJson(search::toJson(event)) + "\n", path);
  if (!status)
    return status.error().withContext("log");
  return {};
}
