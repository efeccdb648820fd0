//===- ForkPool.cpp - One fork a job --------------------------------------===//

#include "ForkPool.h"

#include "Sandbox.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kernelbrain::compile {

static void killGroup(pid_t pid, int signal) {
  // The group exists once either side has called setpgid.
  if (kill(-pid, signal) != 0)
    kill(pid, signal);
}

ForkPool::~ForkPool() {
  for (Fork &fork : running) {
    killGroup(fork.pid, SIGKILL);
    waitpid(fork.pid, nullptr, 0);
    close(fork.output);
    close(fork.pidfd);
    munmap(fork.status, sizeof(ForkStatus));
  }
}

void ForkPool::submit(uint64_t ticket, ForkJob job) {
  waiting.emplace_back(ticket, std::move(job));
}

//===----------------------------------------------------------------------===//
// Starting
//===----------------------------------------------------------------------===//

void ForkPool::runChild(int writeEnd, ForkStatus *status, const ForkJob &job) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setpgid(0, 0);
  for (const Fork &other : running) {
    close(other.output);
    close(other.pidfd);
  }
  for (int fd : foreignFds)
    close(fd);
  int64_t seconds = options.deadline.count() / 1000;
  superviseChild({options.memoryBytes, seconds + 2}, status);
  enterSandbox(options.program);
  std::string answer = job(status);
  for (size_t at = 0; at < answer.size();) {
    ssize_t count = write(writeEnd, answer.data() + at, answer.size() - at);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      _exit(85);
    at += count;
  }
  _exit(0); // exit() would run LLVM's destructors: 5 ms and 16 MB touched.
}

void ForkPool::start() {
  while (!paused && running.size() < options.width && !waiting.empty()) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      return; // Tried again when a fork ends.
    void *shared = mmap(nullptr, sizeof(ForkStatus), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pid = -1;
    if (shared != MAP_FAILED) {
      auto *status = new (shared) ForkStatus;
      pid = fork();
      if (pid == 0) {
        close(ends[0]);
        runChild(ends[1], status, waiting.front().second);
      }
    }
    close(ends[1]);
    if (pid < 0) {
      close(ends[0]);
      if (shared != MAP_FAILED)
        munmap(shared, sizeof(ForkStatus));
      return;
    }
    setpgid(pid, pid);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    int pidfd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
    running.push_back({waiting.front().first, pid, ends[0], pidfd,
                       static_cast<ForkStatus *>(shared),
                       Clock::now() + options.deadline, ""});
    waiting.pop_front();
  }
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

int ForkPool::prepare(std::vector<pollfd> &descriptors) const {
  using std::chrono::milliseconds;
  auto now = Clock::now();
  milliseconds wait{-1};
  for (const Fork &fork : running) {
    if (!fork.closed)
      descriptors.push_back({fork.output, POLLIN, 0});
    descriptors.push_back({fork.pidfd, POLLIN, 0});
    if (paused || fork.killed)
      continue;
    auto left =
        std::max(milliseconds(0),
                 std::chrono::duration_cast<milliseconds>(fork.deadline - now) +
                     milliseconds(1));
    if (wait < milliseconds(0) || left < wait)
      wait = left;
  }
  if (!paused && running.size() < options.width && !waiting.empty())
    // A fork could not be started: memory or processes were short.
    return running.empty() ? 50 : static_cast<int>(wait.count());
  return static_cast<int>(wait.count());
}

void ForkPool::read(Fork &fork) {
  char buffer[64 << 10];
  while (!fork.closed) {
    ssize_t count = ::read(fork.output, buffer, sizeof buffer);
    if (count > 0)
      fork.answer.append(buffer, count);
    else if (count == 0)
      fork.closed = true; // Not its end: a fork may close its pipe and go on.
    else if (errno != EINTR)
      return;
  }
}

static const char *describe(EndCause cause) {
  switch (cause) {
  case EndCause::None:
    return "";
  case EndCause::OutOfMemory:
    return "out of memory";
  case EndCause::StackOverflow:
    return "stack overflow";
  case EndCause::Fault:
    return "memory fault";
  case EndCause::Abort:
    return "abort";
  case EndCause::FatalError:
    return "fatal error";
  }
  return "";
}

/// Takes a fork's exit if it has exited. The pidfd tells, never end of file.
bool ForkPool::reap(Fork &fork, ForkOutcome &outcome) {
  siginfo_t info = {};
  if (waitid(P_PID, fork.pid, &info, WEXITED | WNOHANG) != 0 ||
      info.si_pid == 0)
    return false;
  read(fork);
  ForkStatus &status = *fork.status;
  status.stage[sizeof status.stage - 1] = 0;
  status.text[sizeof status.text - 1] = 0;
  outcome.ticket = fork.ticket;
  outcome.stage = status.stage;
  outcome.answer = std::move(fork.answer);
  outcome.outOfMemory = status.cause == EndCause::OutOfMemory;
  if (fork.killed ||
      (info.si_code != CLD_EXITED && info.si_status == SIGXCPU)) {
    outcome.timedOut = true;
    outcome.ended = "over the deadline";
  } else if (status.cause != EndCause::None) {
    outcome.ended = describe(status.cause);
    if (status.text[0])
      outcome.ended += std::string(": ") + status.text;
  } else if (info.si_code != CLD_EXITED) {
    outcome.ended = "signal " + std::to_string(info.si_status) + " (" +
                    strsignal(info.si_status) + ")";
  } else if (info.si_status != 0) {
    outcome.ended = "exit status " + std::to_string(info.si_status);
  }
  close(fork.output);
  close(fork.pidfd);
  munmap(fork.status, sizeof(ForkStatus));
  return true;
}

std::vector<ForkOutcome> ForkPool::step() {
  std::vector<ForkOutcome> outcomes;
  auto now = Clock::now();
  for (size_t index = 0; index < running.size();) {
    Fork &fork = running[index];
    read(fork);
    ForkOutcome outcome;
    if (reap(fork, outcome)) {
      outcomes.push_back(std::move(outcome));
      running.erase(running.begin() + index);
      continue;
    }
    if (!paused && !fork.killed && now >= fork.deadline) {
      killGroup(fork.pid, SIGKILL);
      fork.killed = true;
    }
    ++index;
  }
  start();
  return outcomes;
}

void ForkPool::setPaused(bool pause) {
  if (pause == paused)
    return;
  paused = pause;
  if (pause) {
    pausedSince = Clock::now();
    for (Fork &fork : running)
      killGroup(fork.pid, SIGSTOP);
    for (Fork &fork : running) {
      siginfo_t info = {};
      while (waitid(P_PID, fork.pid, &info, WSTOPPED | WEXITED | WNOWAIT) !=
                 0 &&
             errno == EINTR)
        continue;
    }
    return;
  }
  auto stood = Clock::now() - pausedSince;
  for (Fork &fork : running) {
    fork.deadline += stood;
    killGroup(fork.pid, SIGCONT);
  }
}

} // namespace kernelbrain::compile
