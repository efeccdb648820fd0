//===- SubprocessTest.cpp - Child processes -------------------------------===//

#include "kernelbrain/Support/Subprocess.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

using namespace kernelbrain;

static Subprocess shell(const std::string &script) {
  SubprocessOptions options;
  options.arguments = {"/bin/sh", "-c", script};
  Result<Subprocess> process = Subprocess::start(options);
  EXPECT_TRUE(process) << process.error().message;
  return std::move(*process);
}

static std::string readAll(int fd) {
  std::string text;
  char buffer[256];
  for (ssize_t count; (count = ::read(fd, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(count));
  return text;
}

TEST(Subprocess, TalksOverPipes) {
  Subprocess process = shell("tr a-z A-Z");
  ASSERT_EQ(::write(process.input(), "hello", 5), 5);
  process.closeInput();
  EXPECT_EQ(readAll(process.output()), "HELLO");
  EXPECT_EQ(process.wait(-1), "");
  EXPECT_EQ(process.wait(-1), ""); // as often as one likes
}

TEST(Subprocess, TellsHowTheChildEnded) {
  EXPECT_EQ(shell("exit 3").wait(-1), "exit status 3");
  EXPECT_EQ(shell("kill -SEGV $$").wait(-1), "signal 11 (Segmentation fault)");
}

TEST(Subprocess, WaitsWithADeadline) {
  Subprocess process = shell("sleep 100");
  EXPECT_EQ(process.wait(0), std::nullopt);
  auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(process.wait(20), std::nullopt);
  EXPECT_GE(std::chrono::steady_clock::now() - start,
            std::chrono::milliseconds(19));
  process.kill();
  EXPECT_EQ(process.wait(-1), "signal 9 (Killed)");
}

TEST(Subprocess, ThePidFdTellsTheEnd) {
  Subprocess process = shell("exit 0");
  pollfd entry{process.pidFd(), POLLIN, 0};
  EXPECT_EQ(::poll(&entry, 1, 10000), 1);
  EXPECT_EQ(process.wait(0), "");
}

TEST(Subprocess, GrandchildrenDieWithTheChild) {
  Subprocess process = shell("sleep 100 & echo $!");
  char buffer[32] = {};
  ASSERT_GT(::read(process.output(), buffer, sizeof buffer - 1), 0);
  pid_t grandchild = std::atoi(buffer);
  ASSERT_GT(grandchild, 0);
  EXPECT_EQ(process.wait(-1), "");
  // Its write end of the pipe closes when it is gone.
  EXPECT_EQ(readAll(process.output()), "");
}

TEST(Subprocess, TheDestructorKillsAndReaps) {
  pid_t pid = 0;
  {
    Subprocess process = shell("sleep 100");
    pid = process.pid();
    Subprocess moved = std::move(process);
    EXPECT_EQ(process.pid(), -1);
    EXPECT_EQ(moved.pid(), pid);
  }
  EXPECT_EQ(::kill(pid, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST(Subprocess, InheritsNothingButItsPipes) {
  int leak = ::open("/dev/null", O_RDONLY); // without close-on-exec
  ASSERT_GT(leak, 2);
  Subprocess process =
      shell("[ -e /dev/fd/" + std::to_string(leak) + " ] && echo open");
  EXPECT_EQ(readAll(process.output()), "");
  ::close(leak);
}

TEST(Subprocess, SignalsHaveTheirDefaults) {
  std::signal(SIGPIPE, SIG_IGN);
  EXPECT_EQ(shell("kill -PIPE $$; exit 0").wait(-1), "signal 13 (Broken pipe)");
}

TEST(Subprocess, TheEnvironmentIsScrubbed) {
  ::setenv("KB_LLM_API_KEY", "secret", 1);
  ::setenv("SLURM_JOB_ID", "17", 1);
  ::setenv("CUDA_HOME", "/toolkit", 1);
  Subprocess process = shell("env");
  std::string text = readAll(process.output());
  EXPECT_EQ(text.find("secret"), std::string::npos);
  EXPECT_NE(text.find("PATH="), std::string::npos);
  EXPECT_NE(text.find("SLURM_JOB_ID=17\n"), std::string::npos);
  EXPECT_NE(text.find("CUDA_HOME=/toolkit\n"), std::string::npos);
  ::unsetenv("SLURM_JOB_ID");
  ::unsetenv("CUDA_HOME");
  ::unsetenv("KB_LLM_API_KEY");
}

TEST(Subprocess, AMissingProgramIsAnError) {
  SubprocessOptions options;
  options.arguments = {"/nowhere/program"};
  Result<Subprocess> process = Subprocess::start(options);
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().message,
            "cannot start '/nowhere/program': No such file or directory");
  EXPECT_FALSE(Subprocess::start({}));
}

TEST(Subprocess, FindsPrograms) {
  EXPECT_EQ(*findProgram("sh", "/bin/sh", nullptr), "/bin/sh");
  Result<std::string> wrong = findProgram("sh", "/nowhere/sh", nullptr);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message,
            "cannot find 'sh': '/nowhere/sh', given by an option, is not an "
            "executable file");
  ::setenv("KB_TEST_PROGRAM", "/bin/cat", 1);
  EXPECT_EQ(*findProgram("sh", "", "KB_TEST_PROGRAM"), "/bin/cat");
  ::unsetenv("KB_TEST_PROGRAM");
  EXPECT_TRUE(findProgram("sh", "", "KB_TEST_PROGRAM"));   // from PATH
  EXPECT_TRUE(findProgram("KBSupportTests", "", nullptr)); // beside itself
  Result<std::string> missing = findProgram("kb-no-such", "", nullptr);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("looked in "), std::string::npos);
}
