//===- Child.cpp - Inside a fork ------------------------------------------===//

#include "Child.h"

#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

namespace kernelbrain::compile {

// Handlers get no argument of ours; a fork has one status page.
static ForkStatus *page;
static int statmFd = -1;
static uint64_t memoryLimit, mappedAtStart;

// Everything below runs in handlers: no allocation, no locks.

[[noreturn]] static void leave(EndCause cause, const char *text = "") {
  size_t length = std::min(strlen(text), sizeof page->text - 1);
  memcpy(page->text, text, length);
  page->text[length] = 0;
  page->cause = cause;
  _exit(86);
}

static uint64_t mappedBytes() {
  char text[64];
  ssize_t length = pread(statmFd, text, sizeof text - 1, 0);
  if (length <= 0)
    return 0;
  uint64_t pages = 0;
  for (ssize_t at = 0; at < length && text[at] >= '0' && text[at] <= '9'; ++at)
    pages = pages * 10 + (text[at] - '0');
  return pages * 4096;
}

/// Code that does not check for a null allocation faults instead: near the
/// limit, a fault is taken for that.
static bool isNearLimit() {
  return memoryLimit &&
         mappedBytes() - mappedAtStart > memoryLimit - (memoryLimit >> 4);
}

static void onFault(int signal, siginfo_t *info, void *context) {
#ifdef __x86_64__
  auto stack = static_cast<uintptr_t>(
      static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_RSP]);
  auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  constexpr uintptr_t margin = 64 << 10;
  if (signal == SIGSEGV && address + margin > stack && address < stack + margin)
    leave(EndCause::StackOverflow);
#endif
  if (isNearLimit())
    leave(EndCause::OutOfMemory);
  leave(signal == SIGABRT ? EndCause::Abort : EndCause::Fault);
}

static void installHandlers() {
  static char alternate[64 << 10];
  stack_t stack = {};
  stack.ss_sp = alternate;
  stack.ss_size = sizeof alternate;
  sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = onFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
  for (int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE})
    sigaction(signal, &action, nullptr);
  for (int signal : {SIGTERM, SIGINT, SIGPIPE, SIGHUP})
    ::signal(signal, SIG_DFL);
  std::set_new_handler([] { leave(EndCause::OutOfMemory); });
  llvm::install_bad_alloc_error_handler(
      [](void *, const char *, bool) { leave(EndCause::OutOfMemory); });
  llvm::install_fatal_error_handler(
      [](void *, const char *why, bool) { leave(EndCause::FatalError, why); });
}

void superviseChild(const ChildLimits &limits, ForkStatus *status) {
  page = status;
  statmFd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  rlimit cpu = {static_cast<rlim_t>(limits.cpuSeconds),
                static_cast<rlim_t>(limits.cpuSeconds + 1)};
  setrlimit(RLIMIT_CPU, &cpu);
  if (limits.memoryBytes) {
    memoryLimit = limits.memoryBytes;
    mappedAtStart = mappedBytes();
    rlimit memory = {mappedAtStart + memoryLimit, mappedAtStart + memoryLimit};
    setrlimit(RLIMIT_AS, &memory);
  }
  installHandlers();
}

void noteStage(ForkStatus *status, const char *stage) {
  size_t length = std::min(strlen(stage), sizeof status->stage - 1);
  memcpy(status->stage, stage, length);
  status->stage[length] = 0;
}

} // namespace kernelbrain::compile
