//===- TestFolder.h - A folder for one test ---------------------*- C++ -*-===//

#ifndef KERNELBRAIN_UNITTESTS_STORE_TESTFOLDER_H
#define KERNELBRAIN_UNITTESTS_STORE_TESTFOLDER_H

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kernelbrain::store {

/// Tests with a temporary folder of their own, removed at the end.
class FolderTest : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "kb-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder = pattern;
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  std::string folder;
};

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

#endif // KERNELBRAIN_UNITTESTS_STORE_TESTFOLDER_H
