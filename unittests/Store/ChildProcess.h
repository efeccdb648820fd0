//===- ChildProcess.h - Parts of tests in processes of their own *- C++ -*-===//

#ifndef KERNELBRAIN_UNITTESTS_STORE_CHILDPROCESS_H
#define KERNELBRAIN_UNITTESTS_STORE_CHILDPROCESS_H

#include <csignal>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kernelbrain::store {

/// Runs `body` in a child process; its exit status is returned. Threads and
/// limits of the test process stay as they are.
template <typename Body> int runInChild(Body body) {
  pid_t child = ::fork();
  if (child == 0)
    ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// In a child process: files cannot grow beyond `bytes`, as on a full disk.
inline void limitFileSize(rlim_t bytes) {
  std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit limit = {bytes, bytes};
  ::setrlimit(RLIMIT_FSIZE, &limit);
}

} // namespace kernelbrain::store

#endif // KERNELBRAIN_UNITTESTS_STORE_CHILDPROCESS_H
