//===- Ptxas.cpp - PTX to a cubin -----------------------------------------===//

#include "MemoryFile.h"
#include "kernelbrain/Compile/DeviceCode.h"
#include "kernelbrain/Support/Subprocess.h"
#include "llvm/ADT/StringExtras.h"

#include <cerrno>
#include <chrono>
#include <poll.h>
#include <unistd.h>

using namespace llvm;

namespace kernelbrain::compile {

/// Warnings by which ptxas says that it dropped what the code is about:
/// setmaxnreg, asynchronous matrix products that it made wait, register limits.
static const char *const fatalWarnings[] = {"C7508", "C7510", "C7511",
                                            "C7517", "C7519", "C7602"};

static std::string firstLineWith(StringRef report, StringRef text) {
  SmallVector<StringRef> lines;
  report.split(lines, '\n');
  for (StringRef line : lines)
    if (line.contains(text))
      return line.trim().str();
  return "";
}

std::string findLoss(StringRef report) {
  for (const char *code : fatalWarnings)
    if (std::string line = firstLineWith(report, code); !line.empty())
      return line;
  return "";
}

Json parsePtxasReport(StringRef report) {
  Json functions = Json::object();
  std::string current;
  SmallVector<StringRef> lines;
  report.split(lines, '\n');
  // "N what": the number before the words.
  auto number = [](StringRef line, StringRef words) -> int64_t {
    size_t at = line.find(words);
    int64_t value = 0;
    if (at == StringRef::npos)
      return 0;
    StringRef before = line.take_front(at).rtrim();
    size_t start = before.find_last_not_of("0123456789");
    before.drop_front(start == StringRef::npos ? 0 : start + 1)
        .getAsInteger(10, value);
    return value;
  };
  for (StringRef line : lines) {
    if (line.contains("Compiling entry function '")) {
      current = line.split('\'').second.split('\'').first.str();
      functions[current] = Json{{"registers", 0},
                                {"shared_bytes", 0},
                                {"spill_bytes", 0},
                                {"stack_bytes", 0}};
    }
    if (current.empty())
      continue;
    Json &facts = functions[current];
    if (line.contains("bytes stack frame")) {
      facts["stack_bytes"] = number(line, " bytes stack frame");
      facts["spill_bytes"] = number(line, " bytes spill stores") +
                             number(line, " bytes spill loads");
    } else if (line.contains("Used ")) {
      facts["registers"] = number(line, " registers");
      facts["shared_bytes"] = number(line, " bytes smem");
      current.clear();
    }
  }
  return functions;
}

namespace {
struct Finished {
  bool inTime = false;
  std::string ended, output;
};
} // namespace

/// Reads what a child prints until it ends or the time is over.
static Finished finish(Subprocess &process, int deadlineMs) {
  using Clock = std::chrono::steady_clock;
  auto end = Clock::now() + std::chrono::milliseconds(deadlineMs);
  Finished result;
  while (true) {
    auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) {
      process.kill();
      return result;
    }
    pollfd entry{process.output(), POLLIN, 0};
    int count = poll(&entry, 1, static_cast<int>(left.count()));
    if (count == 0 || (count < 0 && errno == EINTR))
      continue;
    char buffer[16 << 10];
    ssize_t length = read(process.output(), buffer, sizeof buffer);
    if (length > 0) {
      result.output.append(buffer, length);
      continue;
    }
    auto rest =
        std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    std::optional<std::string> ended =
        process.wait(std::max<int>(0, static_cast<int>(rest.count())));
    if (!ended)
      continue;
    result.inTime = true;
    result.ended = *ended;
    return result;
  }
}

static DeviceImage judge(const Finished &run, std::string bytes,
                         int deadlineMs) {
  DeviceImage image;
  image.report = run.output;
  auto fail = [&](Disposition disposition, std::string reason) {
    image.disposition = disposition;
    image.reason = std::move(reason);
    return image;
  };
  if (!run.inTime)
    return fail(Disposition::TimedOut,
                "ptxas took longer than " + std::to_string(deadlineMs) + " ms");
  if (!run.ended.empty()) {
    std::string line = firstLineWith(run.output, "error   :");
    if (line.empty())
      line = firstLineWith(run.output, "fatal   :");
    if (line.empty())
      line = "ptxas: " + run.ended;
    bool tooMuch = StringRef(line).contains("uses too much");
    return fail(
        tooMuch ? Disposition::OutOfResources : Disposition::BuildFailed, line);
  }
  if (std::string loss = findLoss(run.output); !loss.empty())
    return fail(Disposition::BuildFailed, loss);
  image.disposition = Disposition::Passed;
  image.bytes = std::move(bytes);
  image.functions = parsePtxasReport(run.output);
  return image;
}

DeviceImage DeviceCodeGenerator::assemble(StringRef ptx, int deadlineMs) const {
  DeviceImage image;
  if (ptxas.empty()) {
    image.disposition = Disposition::Passed;
    image.bytes = (ptx + StringRef("\0", 1)).str();
    return image;
  }
  // One file for both: ptxas has read all before it writes.
  Result<MemoryFile> file = MemoryFile::create("image", ptx);
  if (!file) {
    image.reason = file.error().message;
    return image;
  }
  SubprocessOptions options;
  std::string path = "/proc/self/fd/3";
  options.arguments = {ptxas, "-v", "-arch=" + chip, path, "-o", path};
  options.mergeStderr = true;
  options.sharesGroup = true;
  options.inherited = file->fd();
  Result<Subprocess> process = Subprocess::start(options);
  if (!process) {
    image.disposition = Disposition::HarnessFault;
    image.reason = process.error().message;
    return image;
  }
  process->closeInput();
  Finished run = finish(*process, deadlineMs);
  return judge(run, file->readAll(), deadlineMs);
}

} // namespace kernelbrain::compile
