//===- JsonLog.h - Events as JSON lines -------------------------*- C++ -*-===//

#ifndef KERNELBRAIN_REPORT_JSONLOG_H
#define KERNELBRAIN_REPORT_JSONLOG_H

#include "kernelbrain/Search/Interfaces.h"
#include "kernelbrain/Support/File.h"

#include <memory>
#include <string>

namespace kernelbrain::report {

/// Writes every event as one line of JSON (docs/Protocols.md), for programs
/// that follow a run. A line is written as a whole, at once.
class JsonLog : public search::Observer {
public:
  /// Replaces the file.
  static Result<std::unique_ptr<JsonLog>> open(const std::string &path);
  Status notify(const search::Event &event) override;

private:
  JsonLog(std::string path, FileDescriptor fd)
      : path(std::move(path)), fd(std::move(fd)) {}
  std::string path;
  FileDescriptor fd;
};

} // namespace kernelbrain::report

#endif // KERNELBRAIN_REPORT_JSONLOG_H
