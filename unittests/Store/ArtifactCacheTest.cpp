//===- ArtifactCacheTest.cpp ----------------------------------------------===//

#include "kernelbrain/Store/ArtifactCache.h"

#include "ChildProcess.h"
#include "Testing/TemporaryFolder.h"
#include "kernelbrain/Support/File.h"
#include "kernelbrain/Support/Hash.h"

#include <fcntl.h>
#include <sys/stat.h>

using namespace kernelbrain;
using namespace kernelbrain::store;

namespace {

class ArtifactCacheTest : public FolderTest {
protected:
  ArtifactCache open(uint64_t limit = 1 << 20, int64_t grace = 0) {
    auto cache = ArtifactCache::open(folder, {limit, grace});
    EXPECT_TRUE(cache) << cache.error().message;
    return std::move(*cache);
  }
  /// An artifact of 100 bytes, used `age` seconds ago.
  std::string add(ArtifactCache &cache, char letter, int age) {
    std::string hash = *cache.insert(std::string(100, letter));
    struct timespec times[2];
    ::clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= age;
    times[1] = times[0];
    ::utimensat(AT_FDCWD, cache.path(hash).c_str(), times, 0);
    return hash;
  }
  bool has(const ArtifactCache &cache, const std::string &hash) {
    return std::filesystem::exists(cache.path(hash));
  }
};

TEST_F(ArtifactCacheTest, BytesComeBackByTheirHash) {
  ArtifactCache cache = open();
  auto hash = cache.insert("elf");
  ASSERT_TRUE(hash);
  EXPECT_EQ(*hash, contentHash("elf"));
  auto path = cache.find(*hash);
  ASSERT_TRUE(path);
  ASSERT_TRUE(path->has_value());
  EXPECT_EQ(**path,
            folder + "/artifacts/" + hash->substr(0, 2) + "/" + *hash + ".so");
  EXPECT_EQ(*readFile(**path), "elf");
  EXPECT_EQ(cache.totalBytes(), 3u);
  ASSERT_TRUE(cache.insert("elf"));
  EXPECT_EQ(cache.totalBytes(), 3u);
  EXPECT_EQ(open().totalBytes(), 3u);
}

TEST_F(ArtifactCacheTest, WhatIsMissingIsNoError) {
  auto path = open().find(contentHash("never stored"));
  ASSERT_TRUE(path);
  EXPECT_FALSE(path->has_value());
}

TEST_F(ArtifactCacheTest, ADamagedFileIsReportedRemovedAndReplaced) {
  ArtifactCache cache = open();
  std::string hash = *cache.insert("elf");
  ASSERT_TRUE(writeFileAtomically(cache.path(hash), "elg"));
  auto path = cache.find(hash);
  ASSERT_FALSE(path);
  EXPECT_EQ(path.error().message, "the cached artifact '" + cache.path(hash) +
                                      "' does not match its name; it was "
                                      "removed");
  EXPECT_FALSE(has(cache, hash));
  ASSERT_TRUE(writeFileAtomically(cache.path(hash), "elg"));
  ASSERT_TRUE(cache.insert("elf"));
  EXPECT_EQ(*readFile(cache.path(hash)), "elf");
}

TEST_F(ArtifactCacheTest, TheLeastRecentlyUsedGoFirst) {
  ArtifactCache cache = open(/*limit=*/350);
  std::string a = add(cache, 'a', 30), b = add(cache, 'b', 20),
              c = add(cache, 'c', 10);
  ASSERT_TRUE(*cache.find(a)); // used now: b is the oldest
  std::string d = add(cache, 'd', 0);
  EXPECT_TRUE(has(cache, a));
  EXPECT_FALSE(has(cache, b));
  EXPECT_TRUE(has(cache, c));
  EXPECT_TRUE(has(cache, d));
  EXPECT_EQ(cache.totalBytes(), 300u);
}

TEST_F(ArtifactCacheTest, PinnedAndYoungFilesStay) {
  ArtifactCache cache = open(/*limit=*/350, /*grace=*/15);
  std::string a = add(cache, 'a', 40), b = add(cache, 'b', 30),
              c = add(cache, 'c', 5);
  cache.pin(a);
  std::string d = add(cache, 'd', 5), e = add(cache, 'e', 5);
  EXPECT_TRUE(has(cache, a));
  EXPECT_FALSE(has(cache, b));
  EXPECT_TRUE(has(cache, c) && has(cache, d) && has(cache, e));
  cache.unpin(a);
  auto removed = cache.evict();
  ASSERT_TRUE(removed);
  EXPECT_EQ(*removed, 100u);
  EXPECT_FALSE(has(cache, a));
}

TEST_F(ArtifactCacheTest, WhatWasJustInsertedStaysEvenIfItIsTooLarge) {
  ArtifactCache cache = open(/*limit=*/50);
  std::string hash = *cache.insert(std::string(100, 'a'));
  EXPECT_TRUE(has(cache, hash));
}

TEST_F(ArtifactCacheTest, AFullDiskIsAnErrorAndLeavesNoFile) {
  int status = runInChild([&] {
    ArtifactCache cache = open();
    limitFileSize(50);
    auto hash = cache.insert(std::string(100, 'a'));
    if (hash)
      return 1;
    return hash.error().message.find("File too large") != std::string::npos ? 0
                                                                            : 2;
  });
  EXPECT_EQ(status, 0);
  int files = 0;
  for (auto &entry : std::filesystem::recursive_directory_iterator(folder))
    files += entry.is_regular_file();
  EXPECT_EQ(files, 0);
}

TEST_F(ArtifactCacheTest, AFolderThatCannotBeMadeIsNamed) {
  ASSERT_TRUE(writeFileAtomically(folder + "/artifacts", "in the way"));
  auto cache = ArtifactCache::open(folder);
  std::string message =
      cache ? cache->insert("x").error().message : cache.error().message;
  EXPECT_NE(message.find(folder + "/artifacts"), std::string::npos) << message;
}

TEST_F(ArtifactCacheTest, FoldersMayBeLinks) {
  std::string hash = contentHash(std::string(100, 'a'));
  std::string disk = folder + "/disk", place = "/" + hash.substr(0, 2);
  ASSERT_TRUE(makeDirectories(disk + place));
  ASSERT_TRUE(makeDirectories(folder + "/artifacts"));
  std::filesystem::create_directory_symlink(disk + place,
                                            folder + "/artifacts" + place);
  ArtifactCache cache = open(/*limit=*/250);
  EXPECT_EQ(add(cache, 'a', 100), hash);
  EXPECT_TRUE(readFile(disk + place + "/" + hash + ".so"));
  EXPECT_EQ(open().totalBytes(), 100u);
  add(cache, 'b', 50);
  add(cache, 'c', 0);
  EXPECT_FALSE(has(cache, hash));
}

TEST_F(ArtifactCacheTest, ALinkToNothingIsNamed) {
  std::string link = folder + "/artifacts";
  std::filesystem::create_symlink(folder + "/nothing", link);
  auto hash = open().insert("elf");
  ASSERT_FALSE(hash);
  EXPECT_NE(hash.error().message.find("'" + link + "' is a link to what"),
            std::string::npos)
      << hash.error().message;
}

TEST_F(ArtifactCacheTest, OnlyFilesOfTheCacheAreEverRemoved) {
  std::string hash = contentHash("x"), place = "/" + hash.substr(0, 2) + "/";
  std::string abandoned = hash + ".so.tmp-1-0";
  std::vector<std::string> others = {"/notes.txt", "/plugin.so", place + "x.so",
                                     place + hash, place + "readme"};
  ASSERT_TRUE(makeDirectories(folder + "/artifacts" + place));
  others.push_back(place + abandoned);
  struct timespec old[2] = {};
  for (const std::string &name : others) {
    std::string path = folder + "/artifacts" + name;
    ASSERT_TRUE(writeFileAtomically(path, std::string(1000, 'x')));
    ::utimensat(AT_FDCWD, path.c_str(), old, 0);
  }
  others.pop_back();
  ArtifactCache cache = open(/*limit=*/50);
  EXPECT_EQ(cache.totalBytes(), 0u);
  add(cache, 'a', 0);
  ASSERT_TRUE(cache.evict());
  for (const std::string &name : others)
    EXPECT_TRUE(readFile(folder + "/artifacts" + name)) << name;
  EXPECT_FALSE(readFile(folder + "/artifacts" + place + abandoned));
}

TEST_F(ArtifactCacheTest, ProcessesMayInsertAtOnce) {
  pid_t children[3];
  for (pid_t &child : children) {
    child = ::fork();
    if (child == 0) {
      ArtifactCache cache = open();
      bool good = true;
      for (char letter = 'a'; letter <= 'z'; ++letter)
        good &= bool(cache.insert(std::string(100, letter)));
      ::_exit(!good);
    }
  }
  for (pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(open().totalBytes(), 2600u);
}

} // namespace
