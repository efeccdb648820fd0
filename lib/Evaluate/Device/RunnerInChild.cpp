//===- RunnerInChild.cpp - Calls that may abort ---------------------------===//

#include "RunnerCalls.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kernelbrain::evaluate {

/// The beginning of what a child left in its pipe, which is closed; what is no
/// text is left out.
static std::string readPrinted(const int (&pipe)[2]) {
  char buffer[1000];
  ssize_t count = ::read(pipe[0], buffer, sizeof buffer);
  std::string text;
  for (ssize_t k = 0; k < count; ++k)
    if ((buffer[k] >= ' ' && buffer[k] < 127) || buffer[k] == '\n')
      text += buffer[k] == '\n' ? ' ' : buffer[k];
  while (!text.empty() && text.back() == ' ')
    text.pop_back();
  ::close(pipe[0]);
  ::close(pipe[1]);
  return text;
}

Json runInChild(const Call &call) {
  void *page = ::mmap(nullptr, sizeof(Sample), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED)
    return failed("cannot map a page");
  auto *sample = new (page) Sample;
  int printed[2];
  if (::pipe2(printed, O_CLOEXEC | O_NONBLOCK) != 0)
    return failed("cannot open a pipe");
  pid_t child = ::fork();
  if (child < 0)
    return failed("cannot fork");
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // What a failing check prints must be out before it aborts.
    ::dup2(printed[1], 1);
    std::setvbuf(stdout, nullptr, _IONBF, 0);
    *sample = measure(call, 1);
    ::_exit(0);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  // Code that exits did not return.
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
    signal = SIGTERM;
  Json reply = ran(*sample, signal);
  reply["output"] = readPrinted(printed);
  ::munmap(page, sizeof(Sample));
  return reply;
}

} // namespace kernelbrain::evaluate
