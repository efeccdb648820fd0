//===- RunDirectoryTest.cpp -----------------------------------------------===//

#include "kernelbrain/Store/RunDirectory.h"

#include "ChildProcess.h"
#include "Testing/TemporaryFolder.h"

#include <chrono>
#include <thread>

using namespace kernelbrain;
using namespace kernelbrain::store;

namespace {

class RunDirectoryTest : public FolderTest {
protected:
  Result<RunDirectory> open(bool fresh = false, int wait = 0) {
    return RunDirectory::open(folder, "abc", {fresh, wait});
  }
  std::string name(Result<RunDirectory> &run) {
    return std::filesystem::path(run->journal()->path()).filename();
  }
  search::Event finished(bool complete) {
    return {"run_finished", Json{{"complete", complete}}};
  }
};

TEST_F(RunDirectoryTest, AnUnfinishedRunIsResumed) {
  {
    auto run = open();
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_FALSE(run->isResumed());
    EXPECT_EQ(run->path(), folder + "/runs/abc");
    ASSERT_TRUE(run->journal()->notify({"run_started"}));
    ASSERT_TRUE(run->journal()->notify(finished(false)));
  }
  auto run = open();
  ASSERT_TRUE(run);
  EXPECT_TRUE(run->isResumed());
  EXPECT_EQ(name(run), "journal-0001.log");
  EXPECT_EQ(run->recorded().events.size(), 2u);
}

TEST_F(RunDirectoryTest, ARunThatSearchedNothingIsNotResumed) {
  {
    auto run = open();
    ASSERT_TRUE(run->journal()->notify({"warning", Json{{"text", "w"}}}));
    ASSERT_TRUE(run->journal()->close());
  }
  auto run = open();
  ASSERT_TRUE(run);
  EXPECT_FALSE(run->isResumed());
}

TEST_F(RunDirectoryTest, AFinishedRunIsNotReused) {
  {
    auto run = open();
    ASSERT_TRUE(run->journal()->notify(finished(true)));
    ASSERT_TRUE(run->journal()->close());
  }
  auto run = open();
  ASSERT_TRUE(run);
  EXPECT_FALSE(run->isResumed());
  EXPECT_TRUE(run->recorded().events.empty());
  EXPECT_EQ(name(run), "journal-0002.log");
}

TEST_F(RunDirectoryTest, FreshStartsOverAndKeepsTheOldJournal) {
  {
    auto run = open();
  }
  auto run = open(/*fresh=*/true);
  ASSERT_TRUE(run);
  EXPECT_EQ(name(run), "journal-0002.log");
  EXPECT_TRUE(std::filesystem::exists(folder + "/runs/abc/journal-0001.log"));
}

TEST_F(RunDirectoryTest, ASecondProcessIsToldWhoHasTheRun) {
  auto run = open();
  ASSERT_TRUE(run->isLocked());
  pid_t owner = ::getpid();
  int status = runInChild([&] {
    auto second = open(false, /*wait=*/30);
    if (!second || second->isLocked() || second->journal())
      return 1;
    return second->holder() == owner ? 0 : 2;
  });
  EXPECT_EQ(status, 0);
}

TEST_F(RunDirectoryTest, AWaitingProcessGetsTheRunWhenItIsFree) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  pid_t child = ::fork();
  if (child == 0) {
    auto run = open();
    char byte = 'x';
    if (!run || !run->journal()->notify({"run_started"}) ||
        ::write(ready[1], &byte, 1) != 1)
      ::_exit(1);
    ::usleep(50000);
    ::_exit(0); // the lock goes with the process, however it ends
  }
  char byte;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  auto run = open(false, /*wait=*/5000);
  ASSERT_TRUE(run);
  EXPECT_TRUE(run->isLocked());
  EXPECT_TRUE(run->isResumed());
  ::waitpid(child, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(RunDirectoryTest, AStoreThatCannotBeWrittenIsNamed) {
  ASSERT_TRUE(writeFileAtomically(folder + "/file", "x"));
  auto run = RunDirectory::open(folder + "/file", "abc", {});
  ASSERT_FALSE(run);
  EXPECT_NE(run.error().message.find(folder + "/file/runs/abc"),
            std::string::npos)
      << run.error().message;
  EXPECT_NE(run.error().message.find("Not a directory"), std::string::npos);
}

TEST_F(RunDirectoryTest, AFullDiskLeavesNoHalfJournal) {
  int status = runInChild([&] {
    limitFileSize(20); // the lock fits, the first line does not
    auto run = open();
    if (run)
      return 1;
    return run.error().message.find("File too large") != std::string::npos ? 0
                                                                           : 2;
  });
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(std::filesystem::exists(folder + "/runs/abc/journal-0001.log"));
}

} // namespace
