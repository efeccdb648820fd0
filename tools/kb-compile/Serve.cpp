//===- Serve.cpp - kb-compile --serve -------------------------------------===//

#include "Options.h"
#include "kernelbrain/Compile/HostTarget.h"
#include "kernelbrain/Compile/Server.h"
#include "kernelbrain/Strategy/Strategy.h"

#include <fcntl.h>
#include <unistd.h>

using namespace kernelbrain;
using namespace kernelbrain::compile;

/// The protocol gets descriptors of its own: what a library prints must not end
/// up between two frames.
static int takeDescriptor(int fd, int replacement) {
  int taken = fcntl(fd, F_DUPFD_CLOEXEC, 10);
  dup2(replacement, fd);
  return taken;
}

int tool::serveMain(int argc, char **argv) {
  auto options =
      Options::parse(argc, argv,
                     {"serve", "jobs", "memory-limit", "deadline-seconds",
                      "target", "chip", "gpu", "target-cpu", "threads"});
  if (!options)
    return reportError(options.error().message);
  ServerOptions server;
  auto jobs = options->getInteger("jobs", server.jobs, 1);
  auto memory = options->getBytes("memory-limit", server.memoryLimitBytes);
  auto seconds =
      options->getInteger("deadline-seconds", server.deadlineMs / 1000, 1);
  auto threads = options->getInteger("threads", 1, 1);
  if (!jobs || !memory || !seconds || !threads)
    return reportError((!jobs      ? jobs.error()
                        : !memory  ? memory.error()
                        : !seconds ? seconds.error()
                                   : threads.error())
                           .message);
  server.jobs = static_cast<unsigned>(*jobs);
  server.memoryLimitBytes = *memory;
  server.deadlineMs = *seconds * 1000;

  int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  int in = takeDescriptor(STDIN_FILENO, null);
  int out = takeDescriptor(STDOUT_FILENO, STDERR_FILENO);
  close(null);

  strategy::StrategyLibrary library;
  auto target = readTarget(*options);
  if (!target)
    return reportError(target.error().message);
  target->threads = *threads;
  auto toolchain = Toolchain::create(*target, library.all());
  if (!toolchain)
    return reportError(toolchain.error().message);
  mlir::DialectRegistry registry;
  registerCompileDialects(registry);
  // Forks must not inherit a pool without its threads.
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  preloadDialects(context);
  int status = serve(in, out, server, *toolchain, library.hash(), context);
  _exit(status); // Nothing is left to do but LLVM's destructors.
}
