//===- LocationTest.cpp ---------------------------------------------------===//

#include "kernelbrain/Store/Location.h"

#include "ChildProcess.h"
#include "Testing/TemporaryFolder.h"
#include "kernelbrain/Support/File.h"

using namespace kernelbrain;
using namespace kernelbrain::store;

namespace {

class LocationTest : public FolderTest {
protected:
  /// What findStore says in a process with this environment.
  std::string find(const std::string &option, const char *store,
                   const char *cache, const char *home) {
    const std::pair<const char *, const char *> variables[] = {
        {"KB_STORE", store}, {"XDG_CACHE_HOME", cache}, {"HOME", home}};
    std::vector<std::pair<const char *, std::optional<std::string>>> before;
    for (auto [name, value] : variables) {
      const char *old = std::getenv(name);
      before.emplace_back(name,
                          old ? std::optional<std::string>(old) : std::nullopt);
      value ? ::setenv(name, value, 1) : ::unsetenv(name);
    }
    Result<std::string> result = findStore(option);
    for (auto &[name, value] : before)
      value ? ::setenv(name, value->c_str(), 1) : ::unsetenv(name);
    return result ? *result : "error: " + result.error().message;
  }
};

TEST_F(LocationTest, TheFirstThatIsSetWins) {
  EXPECT_EQ(find("/o", "/s", "/c", "/h"), "/o");
  EXPECT_EQ(find("", "/s", "/c", "/h"), "/s");
  EXPECT_EQ(find("", nullptr, "/c", "/h"), "/c/kernelbrain");
  EXPECT_EQ(find("", "", "relative", "/h"), "/h/.cache/kernelbrain");
  EXPECT_EQ(find("", nullptr, nullptr, nullptr),
            "error: no folder for the store is known; give 'store=', or set "
            "KB_STORE or HOME");
}

TEST_F(LocationTest, AStoreIsMadeAndTried) {
  EXPECT_TRUE(prepareStore(folder + "/a/b"));
  EXPECT_TRUE(std::filesystem::is_directory(folder + "/a/b"));
  EXPECT_TRUE(std::filesystem::is_empty(folder + "/a/b"));
}

TEST_F(LocationTest, AStoreThatCannotBeWrittenIsNamedWithAWayOut) {
  ASSERT_TRUE(writeFileAtomically(folder + "/file", "x"));
  Status status = prepareStore(folder + "/file/store");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message,
            "the store cannot be used: cannot make the folder '" + folder +
                "/file/store': Not a directory; choose another store with "
                "'store=' or KB_STORE");
  status = prepareStore("/proc/self"); // writable by nobody, root included
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("cannot be written"), std::string::npos)
      << status.error().message;
}

TEST_F(LocationTest, AFullStoreIsNoticed) {
  int result = runInChild([&] {
    limitFileSize(0);
    Status status = prepareStore(folder);
    return !status && status.error().message.find("File too large") !=
                          std::string::npos
               ? 0
               : 1;
  });
  EXPECT_EQ(result, 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

} // namespace
