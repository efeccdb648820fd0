//===- TemporaryFolder.h - A folder for one test ----------------*- C++ -*-===//

#ifndef KERNELBRAIN_UNITTESTS_TESTING_TEMPORARYFOLDER_H
#define KERNELBRAIN_UNITTESTS_TESTING_TEMPORARYFOLDER_H

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>

namespace kernelbrain {

/// A folder that is removed at the end. Aborts if it cannot be made.
class TemporaryFolder {
public:
  TemporaryFolder()
      : path(std::filesystem::temp_directory_path() / "kb-test-XXXXXX") {
    if (!::mkdtemp(path.data()))
      std::abort();
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string path;
};

/// Tests with a temporary folder of their own.
class FolderTest : public testing::Test {
  TemporaryFolder temporary;

protected:
  const std::string folder = temporary.path;
};

} // namespace kernelbrain

#endif // KERNELBRAIN_UNITTESTS_TESTING_TEMPORARYFOLDER_H
