//===- KernelMemcheck.cpp - Variants under compute-sanitizer --------------===//

#include "kernelbrain/Evaluate/Device/KernelChecker.h"

#include "kernelbrain/Support/File.h"

#include <cstdlib>
#include <sstream>
#include <unistd.h>

namespace kernelbrain::evaluate {

/// KB_COMPUTE_SANITIZER, else what is beside kb-worker or in PATH, else where
/// the CUDA toolkit puts it.
static Result<std::string> findSanitizer() {
  constexpr char usual[] = "/usr/local/cuda/bin/compute-sanitizer";
  Result<std::string> found =
      findProgram("compute-sanitizer", "", "KB_COMPUTE_SANITIZER");
  return !found && ::access(usual, X_OK) == 0 ? Result<std::string>(usual)
                                              : found;
}

/// What the tool says of its first finding; empty if there is none. Its lines
/// begin with equals signs; the last one counts.
static std::string findingOf(const std::string &log) {
  std::istringstream lines(log);
  std::string line, finding;
  bool found = false;
  while (std::getline(lines, line)) {
    size_t begin = line.find_first_not_of("= ");
    if (line.rfind("===", 0) != 0 || begin == std::string::npos)
      continue;
    std::string text = line.substr(begin);
    if (size_t at = text.find("SUMMARY: "); at != std::string::npos)
      found |= std::atoi(text.c_str() + at + 9) > 0;
    else if (finding.empty() && text != "COMPUTE-SANITIZER")
      finding = text;
  }
  return found ? finding : "";
}

namespace {
/// A file for the tool's log, removed at the end.
class LogFile {
public:
  LogFile() {
    const char *folder = ::getenv("TMPDIR");
    path = std::string(folder && *folder ? folder : "/tmp") +
           "/kb-memcheck-XXXXXX";
    int file = ::mkstemp(path.data());
    if (file >= 0)
      ::close(file);
  }
  LogFile(const LogFile &) = delete;
  ~LogFile() { ::unlink(path.c_str()); }
  std::string path;
};
} // namespace

Outcome KernelChecker::memcheck(const std::string &artifact) {
  // Every access is looked at: calls take ten to a hundred times as long.
  constexpr int64_t slowdown = 100, mostMs = 120000;
  Result<std::string> tool = findSanitizer();
  if (!tool)
    return {Disposition::Passed, tool.error().message};
  LogFile log;
  RunnerSetup setup = options.runner;
  // Memory between allocations, so that one before an argument is no other's.
  setup.memcheck = {*tool, "--tool=memcheck", "--padding=256",
                    "--log-file=" + log.path};
  rest();
  KernelBuffers &buffers = bank->buffers();
  Result<RunnerProcess> runner =
      RunnerProcess::start(setup, buffers.memory(), {artifact}, false);
  // The tool may not fit the driver, or not be allowed to do its work.
  if (!runner)
    return {Disposition::Passed, *tool + ": " + runner.error().message};
  Manifest manifest;
  if (Outcome loaded = runner->load(0, artifact, manifest); !loaded)
    return loaded;
  Outcome outcome = forEachSize([&](const BankSet &set) {
    buffers.drawInputs(set.inputs, Placement::Centered);
    Json call = buffers.callOf(set.inputs, Placement::Centered,
                               manifest.workspaceBytes, 0);
    call["inputs"] = false;
    RunReply reply;
    return runner->run(
        call, std::min(mostMs, slowdown * bank->callDeadlineMs()), reply);
  });
  bool isAlive = runner->isAlive();
  runner->end(10000);
  Result<std::string> text = readFile(log.path);
  std::string finding = findingOf(text ? *text : "");
  if (!finding.empty())
    return {Disposition::Incorrect, "compute-sanitizer: " + finding};
  if (outcome)
    return {};
  // A fault of device code leaves the runner alive. What else goes wrong (it is
  // too slow, or the tool ends) is the tool's.
  bool isFault = outcome.disposition == Disposition::Crashed && isAlive;
  return {isFault ? outcome.disposition : Disposition::Passed,
          "under compute-sanitizer: " + outcome.reason};
}

} // namespace kernelbrain::evaluate
