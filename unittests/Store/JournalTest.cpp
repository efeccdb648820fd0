//===- JournalTest.cpp ----------------------------------------------------===//

#include "kernelbrain/Store/Journal.h"

#include "ChildProcess.h"
#include "Testing/TemporaryFolder.h"
#include "kernelbrain/Support/Hash.h"

#include <fstream>

using namespace kernelbrain;
using namespace kernelbrain::store;

namespace {

search::Event trial(const std::string &kernel, int64_t ticket) {
  return {"trial", Json{{"kernel", kernel},
                        {"ticket", ticket},
                        {"rationale", "line\nbreak \"quoted\" \xc3\xa9"}}};
}

class JournalTest : public FolderTest {
protected:
  /// A journal of a start and two trials.
  void writeThree() {
    auto journal = Journal::create(path);
    ASSERT_TRUE(journal) << journal.error().message;
    ASSERT_TRUE((*journal)->notify({"run_started", Json{{"module", "m"}}}));
    ASSERT_TRUE((*journal)->notify(trial("k", 1)));
    ASSERT_TRUE((*journal)->notify(trial("k", 2)));
  }
  void overwrite(const std::string &text) {
    std::ofstream(path, std::ios::trunc) << text;
  }
  std::string path = folder + "/journal";
};

TEST_F(JournalTest, EventsComeBackAsWritten) {
  writeThree();
  auto contents = readJournal(path);
  ASSERT_TRUE(contents) << contents.error().message;
  ASSERT_EQ(contents->events.size(), 3u);
  EXPECT_EQ(contents->events[0].type, "run_started");
  EXPECT_EQ(contents->events[1].data, trial("k", 1).data);
  EXPECT_EQ(contents->ignoredBytes, 0u);
  EXPECT_EQ(contents->damage, "");
  EXPECT_FALSE(contents->finished());
}

TEST_F(JournalTest, LinesHaveTheDocumentedForm) {
  writeThree();
  std::string text = *readFile(path);
  std::string first = text.substr(0, text.find('\n'));
  EXPECT_EQ(first.substr(17), R"({"type":"journal","version":1})");
  EXPECT_EQ(first.substr(0, 16), contentHash(first.substr(17)).substr(0, 16));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
}

TEST_F(JournalTest, TruncationAtEveryByteOfTheLastLineLosesOnlyThatLine) {
  writeThree();
  std::string text = *readFile(path);
  size_t last = text.rfind('\n', text.size() - 2) + 1;
  for (size_t end = last; end < text.size(); ++end) {
    overwrite(text.substr(0, end));
    auto contents = readJournal(path);
    ASSERT_TRUE(contents);
    EXPECT_EQ(contents->events.size(), 2u) << end;
    EXPECT_EQ(contents->ignoredBytes, end - last);
    EXPECT_EQ(contents->damage, end == last ? "" : "line 4 is cut short");
    auto journal = Journal::resume(path, *contents);
    ASSERT_TRUE(journal);
    ASSERT_TRUE((*journal)->notify(trial("k", 2)));
    EXPECT_EQ(*readFile(path), text) << end;
  }
  EXPECT_FALSE(std::filesystem::exists(path + ".damaged"));
}

TEST_F(JournalTest, ACorruptByteAnywhereInTheLastLineIsNoticed) {
  writeThree();
  std::string text = *readFile(path);
  size_t last = text.rfind('\n', text.size() - 2) + 1;
  for (size_t at = last; at < text.size(); ++at) {
    std::string damaged = text;
    damaged[at] ^= 1;
    overwrite(damaged);
    auto contents = readJournal(path);
    ASSERT_TRUE(contents);
    EXPECT_EQ(contents->events.size(), 2u) << at;
    EXPECT_EQ(contents->ignoredBytes, text.size() - last) << at;
  }
}

TEST_F(JournalTest, NothingAfterADamagedLineIsUsedAndTheFileIsKept) {
  writeThree();
  std::string text = *readFile(path);
  size_t third = text.find('\n', text.find('\n') + 1) + 1;
  std::string damaged = text;
  damaged[third + 20] ^= 1;
  overwrite(damaged);
  auto contents = readJournal(path);
  ASSERT_TRUE(contents);
  EXPECT_EQ(contents->events.size(), 1u);
  EXPECT_EQ(contents->damage, "line 3 does not match its checksum");
  EXPECT_EQ(contents->ignoredBytes, text.size() - third);
  ASSERT_TRUE(Journal::resume(path, *contents));
  EXPECT_EQ(*readFile(path), text.substr(0, third));
  EXPECT_EQ(*readFile(path + ".damaged"), damaged);
}

TEST_F(JournalTest, AnEmptyFileIsResumedAsANewOne) {
  overwrite("");
  auto contents = readJournal(path);
  ASSERT_TRUE(contents);
  {
    auto journal = Journal::resume(path, *contents);
    ASSERT_TRUE(journal);
    ASSERT_TRUE((*journal)->notify(trial("k", 1)));
  }
  EXPECT_EQ(readJournal(path)->events.size(), 1u);
}

TEST_F(JournalTest, ANewerVersionIsRefused) {
  std::string text = R"({"type":"journal","version":2})";
  overwrite(contentHash(text).substr(0, 16) + " " + text + "\n");
  auto contents = readJournal(path);
  ASSERT_FALSE(contents);
  EXPECT_EQ(contents.error().message, "the journal '" + path +
                                          "' has version 2, expected at most "
                                          "1 (option 'fresh' begins another "
                                          "one)");
}

TEST_F(JournalTest, AResumedRunDoesNotRepeatWhatIsRecorded) {
  writeThree();
  auto contents = readJournal(path);
  std::string before = *readFile(path);
  auto journal = Journal::resume(path, *contents);
  ASSERT_TRUE((*journal)->notify({"run_started", Json{{"module", "m"}}}));
  ASSERT_TRUE((*journal)->notify(trial("k", 1)));
  ASSERT_TRUE((*journal)->notify(trial("k", 2)));
  EXPECT_EQ(*readFile(path), before);
  // The same ticket with another outcome is news, and so is another kernel.
  search::Event again = trial("k", 2);
  again.data["rationale"] = "tried again";
  ASSERT_TRUE((*journal)->notify(again));
  ASSERT_TRUE((*journal)->notify(trial("other", 2)));
  EXPECT_EQ(readJournal(path)->events.size(), 5u);
}

TEST_F(JournalTest, OnlyACompleteRunThatWasClosedIsFinished) {
  auto finishedAfter = [&](std::optional<bool> complete, bool close) {
    ::unlink(path.c_str());
    auto journal = Journal::create(path);
    EXPECT_TRUE((*journal)->notify({"run_started"}));
    if (complete)
      EXPECT_TRUE(
          (*journal)->notify({"run_finished", Json{{"complete", *complete}}}));
    if (close)
      EXPECT_TRUE((*journal)->close());
    return readJournal(path)->finished();
  };
  EXPECT_TRUE(finishedAfter(true, true));
  EXPECT_FALSE(finishedAfter(true, false)); // its results were not safe yet
  EXPECT_FALSE(finishedAfter(false, true));
  EXPECT_FALSE(finishedAfter(std::nullopt, true));
}

TEST_F(JournalTest, AResumedRunIsClosedThoughItsEndIsRecordedAlready) {
  search::Event end = {"run_finished", Json{{"complete", true}}};
  ASSERT_TRUE((*Journal::create(path))->notify(end));
  auto journal = Journal::resume(path, *readJournal(path));
  ASSERT_TRUE((*journal)->notify(end));
  ASSERT_TRUE((*journal)->close());
  auto contents = readJournal(path);
  EXPECT_EQ(contents->events.size(), 2u);
  EXPECT_TRUE(contents->finished());
}

TEST_F(JournalTest, AKillAtAnyMomentLosesNoWrittenEvent) {
  for (int round = 0; round < 10; ++round) {
    path = folder + "/journal" + std::to_string(round);
    int acknowledged[2];
    ASSERT_EQ(::pipe(acknowledged), 0);
    pid_t child = ::fork();
    if (child == 0) {
      auto journal = Journal::create(path);
      for (int64_t ticket = 1;; ++ticket)
        if (!journal || !(*journal)->notify(trial("k", ticket)) ||
            ::write(acknowledged[1], "x", 1) != 1)
          ::_exit(1);
    }
    ::close(acknowledged[1]);
    char byte;
    ASSERT_EQ(::read(acknowledged[0], &byte, 1), 1);
    ::usleep(useconds_t(137 * round));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    size_t count = 1;
    while (::read(acknowledged[0], &byte, 1) == 1)
      ++count;
    ::close(acknowledged[0]);
    auto contents = readJournal(path);
    ASSERT_TRUE(contents);
    EXPECT_GE(contents->events.size(), count);
    EXPECT_LE(contents->events.size(), count + 1);
    // And the run goes on from there.
    ASSERT_TRUE(Journal::resume(path, *contents));
  }
}

TEST_F(JournalTest, AFullDiskIsAnErrorAndLosesNoEarlierLine) {
  writeThree();
  std::string before = *readFile(path);
  int status = runInChild([&] {
    auto journal = Journal::resume(path, *readJournal(path));
    if (!journal)
      return 1;
    limitFileSize(before.size() + 30); // a part of the line still fits
    Status full = (*journal)->notify(trial("k", 3));
    if (full || full.error().message !=
                    "cannot continue the journal: cannot write to '" + path +
                        "': File too large")
      return 2;
    return *readFile(path) == before ? 0 : 3;
  });
  EXPECT_EQ(status, 0);
}

TEST_F(JournalTest, AFileThatCannotBeMadeIsNamed) {
  std::string file = folder + "/file";
  ASSERT_TRUE(writeFileAtomically(file, "x"));
  auto journal = Journal::create(file + "/journal");
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().message,
            "cannot open '" + file + "/journal': Not a directory");
  EXPECT_FALSE(Journal::create(file)); // is there already
  EXPECT_FALSE(readJournal(folder + "/missing"));
}

} // namespace
