//===- Subprocess.h - Child processes ---------------------------*- C++ -*-===//
//
// Children are started with posix_spawn, most in their own process group, with
// only the descriptors they are given, and are always reaped. How a child ended
// is told by its pidfd, never by end of file.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_SUPPORT_SUBPROCESS_H
#define KERNELBRAIN_SUPPORT_SUBPROCESS_H

#include "kernelbrain/Support/Result.h"

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace kernelbrain {

struct SubprocessOptions {
  std::vector<std::string> arguments; ///< [0] is the program's path
  /// The whole environment, "NAME=value"; empty: scrubbedEnvironment().
  std::vector<std::string> environment;
  bool inheritStderr = true; ///< else standard error goes to /dev/null
  bool mergeStderr = false;  ///< into the pipe of its standard output, rather
  /// In the caller's process group, whose end is then the child's as well;
  /// what the child starts outlives it.
  bool sharesGroup = false;
  int inherited = -1; ///< if given, a descriptor that the child gets as 3
};

/// PATH, HOME, user, TMPDIR, LANG, LD_LIBRARY_PATH, what srun and ssh go by,
/// what chooses the CUDA toolkit, GPUs and their driver, and sanitizer options
/// of this process, and nothing else: no keys.
std::vector<std::string> scrubbedEnvironment();

/// One child with pipes on its standard input and output. The destructor kills
/// the process group and reaps.
class Subprocess {
public:
  static Result<Subprocess> start(const SubprocessOptions &options);
  Subprocess(Subprocess &&other) noexcept;
  Subprocess &operator=(Subprocess &&other) noexcept;
  ~Subprocess();

  pid_t pid() const { return child; }
  int input() const { return toChild; }    ///< write end of its standard input
  int output() const { return fromChild; } ///< read end of its standard output
  int pidFd() const { return pidfd; }      ///< readable once it has exited

  void closeInput();
  /// Sends `signal` to its process group, or to it alone if it shares one.
  void signalGroup(int signal);
  /// Waits up to `milliseconds` (-1: for ever). std::nullopt: still running.
  /// Else a text such as "exit status 3" or "signal 11 (Segmentation fault)",
  /// empty for exit status 0.
  std::optional<std::string> wait(int milliseconds);
  void kill();

private:
  Subprocess() = default;
  pid_t child = -1;
  pid_t signalled = -1; ///< as kill(2) takes it: the process, or -its group
  int toChild = -1, fromChild = -1, pidfd = -1;
  std::optional<std::string> ended;
};

/// Finds a program: `option` if not empty, else the environment variable
/// `variable` if set, else `name` beside this executable or shared object, in
/// its ../bin, or in PATH. The error lists where it was looked for.
Result<std::string> findProgram(const std::string &name,
                                const std::string &option,
                                const char *variable);

} // namespace kernelbrain

#endif // KERNELBRAIN_SUPPORT_SUBPROCESS_H
