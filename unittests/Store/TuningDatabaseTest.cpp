//===- TuningDatabaseTest.cpp ---------------------------------------------===//

#include "kernelbrain/Store/TuningDatabase.h"

#include "ChildProcess.h"
#include "Entries.h"
#include "Testing/TemporaryFolder.h"
#include "kernelbrain/Support/File.h"

#include <atomic>
#include <sqlite3.h>
#include <thread>

using namespace kernelbrain;
using namespace kernelbrain::store;

namespace {

class TuningDatabaseTest : public FolderTest {
protected:
  Result<TuningDatabase>
  open(TuningDatabase::Mode mode = TuningDatabase::Mode::ReadWrite) {
    return TuningDatabase::open(path, mode);
  }
  std::string openError() {
    auto database = open();
    return database ? "no error" : database.error().message;
  }
  void runSql(const char *sql) {
    sqlite3 *connection;
    ASSERT_EQ(sqlite3_open(path.c_str(), &connection), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(connection, sql, nullptr, nullptr, nullptr),
              SQLITE_OK);
    sqlite3_close(connection);
  }
  std::string path = folder + "/tuning.db";
};

TEST_F(TuningDatabaseTest, APathThatIsTooLongForSqliteIsTold) {
  std::string deep = folder;
  for (int k = 0; k < 6; ++k)
    deep += "/" + std::string(100, 'x');
  ASSERT_TRUE(makeDirectories(deep));
  std::filesystem::create_directory_symlink(deep, folder + "/link");
  for (const std::string &place : {deep, folder + "/link"}) {
    path = place + "/tuning.db";
    EXPECT_EQ(openError(),
              "cannot open the tuning database '" + path +
                  "': its path is longer than SQLite takes; "
                  "choose another store with 'store=' or KB_STORE");
  }
}

TEST_F(TuningDatabaseTest, EntriesComeBackAsRecorded) {
  TuningEntry entry = makeEntry("k\"'\n", 4, 2);
  {
    auto database = open();
    ASSERT_TRUE(database) << database.error().message;
    EXPECT_FALSE(database->isReadOnly());
    ASSERT_TRUE(database->record(entry));
  }
  auto database = open();
  auto found = database->lookupProven(entry.key);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_TRUE(found->has_value());
  EXPECT_EQ(toJson(**found), toJson(entry));
}

TEST_F(TuningDatabaseTest, EveryMemberOfTheKeyCounts) {
  auto database = open();
  TuningEntry entry = makeEntry("k", 4, 2);
  ASSERT_TRUE(database->record(entry));
  auto misses = [&](auto change) {
    TuningKey key = entry.key;
    change(key);
    auto found = database->lookup(key);
    return found && found->empty();
  };
  EXPECT_TRUE(misses([](TuningKey &key) { key.kernelHash = "x"; }));
  EXPECT_TRUE(misses([](TuningKey &key) { key.numerics = "x"; }));
  EXPECT_TRUE(misses([](TuningKey &key) { key.abiVersion = 2; }));
  EXPECT_TRUE(misses([](TuningKey &key) { key.target = "x"; }));
  EXPECT_TRUE(misses([](TuningKey &key) { key.threads = 2; }));
  EXPECT_TRUE(misses([](TuningKey &key) { key.shapeBucket = "x"; }));
  EXPECT_TRUE(misses([](TuningKey &key) { key.placement = "x"; }));
  EXPECT_TRUE(misses([](TuningKey &key) { key.strategyLibrary = "x"; }));
  EXPECT_TRUE(misses([](TuningKey &key) { key.baseline = "x"; }));
  EXPECT_FALSE(misses([](TuningKey &key) {}));
}

TEST_F(TuningDatabaseTest, TheBestProvenEntryWins) {
  auto database = open();
  TuningKey key = makeEntry("k", 0, 2).key;
  ASSERT_TRUE(database->record(makeEntry("k", 1, 2)));
  ASSERT_TRUE(database->record(makeEntry("k", 2, 3)));
  ASSERT_TRUE(database->record(makeEntry("k", 4, 2.5)));
  ASSERT_TRUE(database->record(makeEntry("k", 8, 9, /*proven=*/false)));
  auto best = database->lookupProven(key);
  EXPECT_EQ(std::get<int64_t>((*best)->recipe.knobs.at("unroll")), 2);
  auto all = database->lookup(key);
  ASSERT_EQ(all->size(), 4u);
  EXPECT_FALSE(all->back().proven);
}

TEST_F(TuningDatabaseTest, AnUnprovenEntryIsASeedAndNoWinner) {
  auto database = open();
  TuningEntry entry = makeEntry("k", 1, 2, /*proven=*/false);
  ASSERT_TRUE(database->record(entry));
  EXPECT_FALSE(database->lookupProven(entry.key)->has_value());
  EXPECT_EQ(database->lookup(entry.key)->size(), 1u);
}

TEST_F(TuningDatabaseTest, ANewerProofReplacesAndALackOfProofDoesNot) {
  auto database = open();
  ASSERT_TRUE(database->record(makeEntry("k", 1, 2)));
  ASSERT_TRUE(database->record(makeEntry("k", 1, 1.5)));
  ASSERT_TRUE(database->record(makeEntry("k", 1, 7, /*proven=*/false)));
  auto all = database->list();
  ASSERT_EQ(all->size(), 1u);
  EXPECT_TRUE(all->front().proven);
  EXPECT_EQ(all->front().measurement.speedup->middle, 1.5);
}

TEST_F(TuningDatabaseTest, WritersAtOnceAreAllKept) {
  constexpr int writers = 3, each = 8;
  pid_t children[writers];
  for (int i = 0; i < writers; ++i) {
    children[i] = ::fork();
    if (children[i] == 0) {
      auto database = open(); // all of them may make the file
      bool good = bool(database);
      for (int n = 0; n < each && good; ++n)
        good = bool(database->record(makeEntry(
            "k" + std::to_string(i) + "-" + std::to_string(n), 1, 2)));
      // And one key that all of them write.
      good = good && bool(database->record(makeEntry("shared", i, 2 + i)));
      ::_exit(!good);
    }
  }
  for (pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  auto database = open();
  EXPECT_EQ(database->list()->size(), size_t(writers * each + writers));
  auto best = database->lookupProven(makeEntry("shared", 0, 2).key);
  EXPECT_EQ((*best)->measurement.speedup->middle, 2.0 + writers - 1);
}

TEST_F(TuningDatabaseTest, ProcessesThatCreateItAtOnceAgree) {
  for (int round = 0; round < 10; ++round) {
    std::string fresh = folder + "/fresh-" + std::to_string(round) + ".db";
    std::vector<std::thread> openers;
    std::atomic<int> opened{0};
    for (int i = 0; i < 4; ++i)
      openers.emplace_back([&] {
        auto database =
            TuningDatabase::open(fresh, TuningDatabase::Mode::ReadWrite);
        EXPECT_TRUE(database) << database.error().message;
        opened += bool(database);
      });
    for (std::thread &opener : openers)
      opener.join();
    EXPECT_EQ(opened, 4);
  }
}

TEST_F(TuningDatabaseTest, ANewerSchemaIsRefusedAndLeftAlone) {
  {
    ASSERT_TRUE(open()->record(makeEntry("k", 1, 2)));
  }
  runSql("PRAGMA user_version = 7");
  std::string before = *readFile(path);
  EXPECT_EQ(openError(),
            "the tuning database '" + path +
                "' has schema version 7, expected 1; use another store or a "
                "version of KernelBrain that knows it");
  EXPECT_EQ(*readFile(path), before);
}

TEST_F(TuningDatabaseTest, AnotherProgramsDatabaseIsRefused) {
  runSql("CREATE TABLE songs (title TEXT)");
  EXPECT_EQ(openError(), "'" + path + "' is not a tuning database");
}

TEST_F(TuningDatabaseTest, AFileThatIsNoDatabaseIsRefusedAndLeftAlone) {
  std::string text(5000, 'x');
  ASSERT_TRUE(writeFileAtomically(path, text));
  EXPECT_EQ(openError(), "cannot read the tuning database '" + path +
                             "': file is not a database; move the file away "
                             "to start a new one");
  EXPECT_EQ(*readFile(path), text);
}

TEST_F(TuningDatabaseTest, ADamagedDatabaseIsAnErrorWhereverItIsDamaged) {
  {
    auto database = open();
    std::vector<TuningEntry> entries;
    for (int i = 0; i < 40; ++i)
      entries.push_back(makeEntry("k" + std::to_string(i), 1, 2));
    ASSERT_TRUE(database->record(entries));
  }
  std::string good = *readFile(path);
  for (size_t page = 0; page < good.size(); page += 4096) {
    std::string damaged = good;
    damaged.replace(page, 4096, std::string(4096, '\xff'));
    ASSERT_TRUE(writeFileAtomically(path, damaged));
    auto database = open();
    if (!database) {
      EXPECT_NE(database.error().message.find(path), std::string::npos);
      continue;
    }
    auto all = database->list();
    auto found = database->lookup(makeEntry("k3", 1, 2).key);
    // A page of the index or of the table: one of the two must notice.
    EXPECT_FALSE(all && found) << "page " << page / 4096;
    for (auto *result : {&all, &found})
      if (!*result)
        EXPECT_NE(result->error().message.find(path), std::string::npos);
  }
}

TEST_F(TuningDatabaseTest, AnEntryThatIsNoJsonIsAnError) {
  TuningEntry entry = makeEntry("k", 1, 2);
  {
    ASSERT_TRUE(open()->record(entry));
  }
  runSql("UPDATE entries SET recipe = '{'");
  auto found = open()->lookup(entry.key);
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find("damaged entry"), std::string::npos);
}

TEST_F(TuningDatabaseTest, ReadingNeedsNoWritePermission) {
  TuningEntry entry = makeEntry("k", 1, 2);
  {
    ASSERT_TRUE(open()->record(entry));
  }
  auto database = open(TuningDatabase::Mode::ReadOnly);
  ASSERT_TRUE(database);
  EXPECT_TRUE(database->isReadOnly());
  EXPECT_TRUE(database->lookupProven(entry.key)->has_value());
  Status status = database->record(entry);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message,
            "cannot write to the tuning database '" + path +
                "': attempt to write a readonly database");
}

TEST_F(TuningDatabaseTest, AMissingDatabaseIsNotMadeForReading) {
  auto database = open(TuningDatabase::Mode::ReadOnly);
  ASSERT_FALSE(database);
  EXPECT_EQ(database.error().message, "cannot open the tuning database '" +
                                          path +
                                          "': unable to open database file");
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(TuningDatabaseTest, APlaceThatCannotBeWrittenIsNamed) {
  ASSERT_TRUE(writeFileAtomically(folder + "/file", "x"));
  path = folder + "/file/tuning.db";
  EXPECT_NE(openError().find(path), std::string::npos);
}

TEST_F(TuningDatabaseTest, AFullDiskKeepsWhatWasThere) {
  TuningEntry entry = makeEntry("k", 1, 2);
  {
    ASSERT_TRUE(open()->record(entry));
  }
  int status = runInChild([&] {
    auto database = open();
    limitFileSize(std::filesystem::file_size(path));
    std::vector<TuningEntry> entries;
    for (int i = 0; i < 200; ++i)
      entries.push_back(makeEntry("x" + std::to_string(i), 1, 2));
    Status full = database->record(entries);
    if (full)
      return 1;
    return full.error().message.find(path) != std::string::npos ? 0 : 2;
  });
  EXPECT_EQ(status, 0);
  auto all = open()->list();
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->size(), 1u);
}

TEST(TuningEntryTest, ShapesAreBucketedByPowersOfTwo) {
  EXPECT_EQ(shapeBucket({}), "static");
  EXPECT_EQ(shapeBucket({1000, 1024, 1025, 1, 0}), "1024x1024x2048x1x1");
}

TEST(TuningEntryTest, AMissingMemberIsNamed) {
  Json whole = toJson(makeEntry("k", 1, 2));
  ASSERT_TRUE(tuningEntryFromJson(whole));
  for (const auto &item : whole.items()) {
    Json json = whole;
    json.erase(item.key());
    auto entry = tuningEntryFromJson(json);
    ASSERT_FALSE(entry) << item.key();
    EXPECT_NE(entry.error().message.find(item.key()), std::string::npos)
        << entry.error().message;
  }
}

} // namespace
