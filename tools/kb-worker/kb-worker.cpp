//===- kb-worker.cpp - Checks and times built kernels on this host --------===//
//
// Without --run: the checker, which speaks the protocol of docs/Protocols.md
// on standard input and output. With --run: the runner it starts.
//
//===----------------------------------------------------------------------===//

#include "kernelbrain/Evaluate/Device/Lease.h"
#include "kernelbrain/Evaluate/Device/Runner.h"
#include "kernelbrain/Evaluate/Device/WorkerServer.h"

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <unistd.h>

using namespace kernelbrain;
using namespace kernelbrain::evaluate;

static const char usage[] =
    R"(usage: kb-worker [options]

Checks and times kernels on this machine: requests on standard input, replies on
standard output (docs/Protocols.md).

  --device=host|cuda[:N]   what kernels are for: this host, GPU N, or the first
                           GPU, with all others for checks [host]
  --lease-file=FILE        lock that keeps timings apart
                           [/tmp/kernelbrain-timing.lock]
  --memory-bytes=N         what a kernel may allocate [4294967296]
  --call-deadline-ms=N     of one call [1000 and 20 times the baseline's time]
  --peak-bandwidth=BYTES   a second, of the memory bus [460.8e9]
  --threads=N              that a kernel may use [1]
  --cache-bytes=N          of the last cache level [as the system says]
  --help
)";

namespace {
struct Options {
  CheckerOptions checker;
  RunnerOptions runner;
  bool run = false, help = false, allGpus = false;
};
} // namespace

/// Returns true and the rest of `argument` if it starts with `name` and "=".
static bool takes(const std::string &argument, const std::string &name,
                  std::string &value) {
  if (argument.rfind(name + "=", 0) != 0)
    return false;
  value = argument.substr(name.size() + 1);
  return true;
}

static bool parseNumber(const std::string &text, double &number) {
  char *end = nullptr;
  number = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == 0 && number >= 0;
}

/// "host" is -1, "cuda" the first GPU.
static bool parseDevice(const std::string &text, int &device) {
  double number = 0;
  if (text.rfind("cuda:", 0) == 0 && !parseNumber(text.substr(5), number))
    return false;
  device = text == "host" ? -1 : int(number);
  return text == "host" || text == "cuda" || text.rfind("cuda:", 0) == 0;
}

static bool parse(int argc, char **argv, Options &options) {
  for (int k = 1; k < argc; ++k) {
    std::string argument = argv[k], value;
    double number = 0;
    bool good = true;
    if (argument == "--run")
      options.run = true;
    else if (argument == "--help")
      options.help = true;
    else if (argument == "--profile")
      options.runner.profile = true;
    else if (argument == "--memcheck")
      options.runner.memcheck = true;
    else if (argument == "--allow-fork")
      options.runner.allowFork = true;
    else if (takes(argument, "--readable", value))
      options.runner.readable.push_back(value);
    else if (takes(argument, "--lease-file", value))
      options.checker.leaseFile = value;
    else if (takes(argument, "--memory-bytes", value)) {
      good = parseNumber(value, number);
      options.runner.addressSpaceBytes = int64_t(number);
      options.checker.runner.memoryBytes = int64_t(number);
    } else if (takes(argument, "--device", value)) {
      good = parseDevice(value, options.runner.device);
      options.allGpus = value == "cuda";
    } else if (takes(argument, "--call-deadline-ms", value)) {
      good = parseNumber(value, number);
      options.checker.callDeadlineMs = int64_t(number);
    } else if (takes(argument, "--threads", value)) {
      good = parseNumber(value, number) && number >= 1 && number <= 1024;
      options.runner.threads = int64_t(number);
      options.checker.runner.threads = int64_t(number);
    } else if (takes(argument, "--peak-bandwidth", value)) {
      good = parseNumber(value, number) && number > 0;
      options.checker.peakBytesPerSecond = number;
    } else if (takes(argument, "--cache-bytes", value)) {
      good = parseNumber(value, number);
      options.checker.cacheBytes = number;
    } else
      good = false;
    if (!good) {
      std::cerr << "kb-worker: bad argument '" << argument
                << "' (see --help)\n";
      return false;
    }
  }
  return true;
}

int main(int argc, char **argv) {
  Options options;
  if (!parse(argc, argv, options))
    return 1;
  if (options.help) {
    std::cout << usage;
    return 0;
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  if (options.run) {
    // What libraries of a kernel may need; nothing here is secret.
    for (const char *path : {"/lib", "/lib64", "/usr/lib", "/etc/ld.so.cache"})
      options.runner.readable.push_back(path);
    return serveRunner(options.runner);
  }
  char self[PATH_MAX];
  ssize_t length = ::readlink("/proc/self/exe", self, sizeof self - 1);
  if (length < 0) {
    std::cerr << "kb-worker: cannot find its own executable\n";
    return 1;
  }
  options.checker.runner.program.assign(self, size_t(length));
  if (options.runner.device < 0 && options.checker.leaseFile.empty())
    options.checker.leaseFile = defaultLeaseFile();
  if (options.runner.device >= 0)
    if (Status status =
            chooseGpu(options.checker, options.runner.device, options.allGpus);
        !status) {
      std::cerr << "kb-worker: " << status.error().message << "\n";
      return 1;
    }
  return serveWorker(options.checker, STDIN_FILENO, STDOUT_FILENO);
}
