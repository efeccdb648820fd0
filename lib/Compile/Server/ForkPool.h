//===- ForkPool.h - One fork a job ------------------------------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_COMPILE_SERVER_FORKPOOL_H
#define KERNELBRAIN_LIB_COMPILE_SERVER_FORKPOOL_H

#include "Child.h"

#include <chrono>
#include <deque>
#include <functional>
#include <poll.h>
#include <string>
#include <sys/types.h>
#include <vector>

namespace kernelbrain::compile {

struct ForkPoolOptions {
  unsigned width = 1;
  uint64_t memoryBytes = 0; ///< 0: no limit
  std::chrono::milliseconds deadline{30000};
  std::string program; ///< that forks may start; empty: none
};

/// What runs in a fork; returns the bytes of its answer.
using ForkJob = std::function<std::string(ForkStatus *)>;

struct ForkOutcome {
  uint64_t ticket = 0;
  std::string answer; ///< all bytes it wrote; only whole if `ended` is empty
  // How it failed:
  std::string ended; ///< empty: exited as it should
  bool timedOut = false, outOfMemory = false;
  std::string stage; ///< what it was doing
};

/// Runs jobs in forks of this process, `width` at a time, in order. Nothing
/// blocks: the owner polls the descriptors and calls step().
class ForkPool {
public:
  explicit ForkPool(const ForkPoolOptions &options) : options(options) {}
  ForkPool(const ForkPool &) = delete;
  /// Kills and reaps what runs.
  ~ForkPool();

  void submit(uint64_t ticket, ForkJob job);
  /// Adds the descriptors to wait for; returns the milliseconds after which
  /// step() has something to do in any case, or -1.
  int prepare(std::vector<pollfd> &descriptors) const;
  /// Starts forks, reads answers, kills what is over its deadline, and returns
  /// those that have exited.
  std::vector<ForkOutcome> step();
  /// While paused no fork runs or is started, and deadlines stand still.
  /// Returns when all have stopped.
  void setPaused(bool pause);
  /// Descriptors to close in a fork besides the pool's own.
  void closeInForks(int fd) { foreignFds.push_back(fd); }

private:
  using Clock = std::chrono::steady_clock;
  struct Fork;
  void start();
  void read(Fork &fork);
  bool reap(Fork &fork, ForkOutcome &outcome);
  [[noreturn]] void runChild(int writeEnd, ForkStatus *status,
                             const ForkJob &job);

  ForkPoolOptions options;
  std::deque<std::pair<uint64_t, ForkJob>> waiting;
  struct Fork {
    uint64_t ticket;
    pid_t pid;
    int output, pidfd;
    ForkStatus *status;
    Clock::time_point deadline;
    std::string answer;
    bool killed = false, closed = false;
  };
  std::vector<Fork> running;
  std::vector<int> foreignFds;
  bool paused = false;
  Clock::time_point pausedSince;
};

} // namespace kernelbrain::compile

#endif // KERNELBRAIN_LIB_COMPILE_SERVER_FORKPOOL_H
