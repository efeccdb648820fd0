//===- CompileServerBuilderTest.cpp ---------------------------------------===//

#include "Testing/TemporaryFolder.h"

#include "kernelbrain/Build/CompileServerBuilder.h"

#include <csignal>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <unistd.h>

using namespace kernelbrain;
using namespace kernelbrain::build;
using search::BuildRequest;

namespace {
class CompileServerBuilderTest : public FolderTest {
protected:
  void SetUp() override { std::signal(SIGPIPE, SIG_IGN); }
  void TearDown() override { builder.reset(); }

  Status start(const std::string &mode) {
    CompileServerOptions options;
    options.program = KB_FAKE_SERVER;
    options.targetCpu = mode + ":" + folder + "/starts";
    options.deadlineSeconds = 1;
    options.store = storeInDirectory(folder);
    auto started = CompileServerBuilder::start(options);
    if (!started)
      return started.error();
    builder = std::move(*started);
    return {};
  }

  void startWithKernel(const std::string &mode) {
    Status started = start(mode);
    ASSERT_TRUE(started) << started.error().message;
    Kernel kernel;
    kernel.name = "k";
    ASSERT_TRUE(builder->addKernel(kernel, "text"));
  }

  Status submit(uint64_t id, const std::string &strategy = "stock",
                search::BuildOutput output = search::BuildOutput::Artifact) {
    BuildRequest request;
    request.id = id;
    request.kernel = "k";
    request.recipe.strategy = strategy;
    request.output = output;
    return builder->submit(request);
  }

  std::string contents(const std::string &path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  std::unique_ptr<CompileServerBuilder> builder;
};

TEST_F(CompileServerBuilderTest, BuildsAndStoresArtifacts) {
  startWithKernel("normal");
  EXPECT_EQ(builder->llvmVersion(), "22.1.8");
  EXPECT_EQ(builder->strategyLibrary(), "hash");
  ASSERT_TRUE(submit(41));
  auto result = builder->wait();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->id, 41u);
  EXPECT_EQ(result->disposition, Disposition::Passed);
  EXPECT_EQ(result->staticNs, 5);
  EXPECT_EQ(result->buildNs, 7);
  EXPECT_EQ(result->artifact.manifest.entry, "k");
  EXPECT_EQ(contents(result->artifact.path), "artifact of stock");
}

TEST_F(CompileServerBuilderTest, StoresNothingForStaticOrFailedBuilds) {
  startWithKernel("normal");
  ASSERT_TRUE(submit(1, "stock", search::BuildOutput::Static));
  auto legal = builder->wait();
  ASSERT_TRUE(legal);
  EXPECT_EQ(legal->disposition, Disposition::Passed);
  EXPECT_EQ(legal->artifact.path, "");
  ASSERT_TRUE(submit(2, "bad"));
  auto failed = builder->wait();
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->disposition, Disposition::BuildFailed);
  EXPECT_EQ(failed->reason, "no such thing");
  EXPECT_EQ(failed->artifact.path, "");
}

TEST_F(CompileServerBuilderTest, ReportsAnUnwritableStore) {
  startWithKernel("normal");
  (void)!std::system(("rm -rf " + folder).c_str());
  ASSERT_TRUE(submit(1));
  auto result = builder->wait();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->disposition, Disposition::HarnessFault);
  EXPECT_NE(result->reason.find("cannot create"), std::string::npos);
}

TEST_F(CompileServerBuilderTest, RefusesWrongServers) {
  Status old = start("old");
  ASSERT_FALSE(old);
  EXPECT_NE(old.error().message.find("expected protocol 1, found 0"),
            std::string::npos);
  Status refused = start("refuses");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("expected protocol 7"),
            std::string::npos);
  Status dead = start("dies-at-start");
  ASSERT_FALSE(dead);
  EXPECT_NE(dead.error().message.find("end of file"), std::string::npos);
}

TEST_F(CompileServerBuilderTest, ReportsAMissingProgram) {
  CompileServerOptions options;
  options.program = folder + "/nothing";
  EXPECT_FALSE(CompileServerBuilder::start(options));
}

TEST_F(CompileServerBuilderTest, RefusesUnknownAndBadKernels) {
  startWithKernel("normal");
  BuildRequest request;
  request.kernel = "other";
  EXPECT_FALSE(builder->submit(request));
  Kernel kernel;
  kernel.name = "other";
  Status added = builder->addKernel(kernel, "bad");
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().message, "kernel 'other': no kb.kernel");
  EXPECT_FALSE(builder->submit(request));
}

TEST_F(CompileServerBuilderTest, WaitWithoutABuildIsAnError) {
  startWithKernel("normal");
  EXPECT_FALSE(builder->wait());
}

TEST_F(CompileServerBuilderTest, RestartsADeadServerAndBuildsAgain) {
  for (const char *mode : {"dies-once", "talks-rubbish"}) {
    std::remove((folder + "/starts").c_str());
    startWithKernel(mode);
    ASSERT_TRUE(submit(1));
    ASSERT_TRUE(submit(2));
    for (int count = 0; count < 2; ++count) {
      auto result = builder->wait();
      ASSERT_TRUE(result) << mode << ": " << result.error().message;
      EXPECT_EQ(result->disposition, Disposition::Passed) << mode;
    }
    EXPECT_EQ(builder->restarts(), 1u) << mode;
  }
}

TEST_F(CompileServerBuilderTest, GivesUpABuildThatDiesTwice) {
  startWithKernel("dies");
  ASSERT_TRUE(submit(1));
  auto result = builder->wait();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->disposition, Disposition::HarnessFault);
  EXPECT_EQ(builder->restarts(), 2u);
}

TEST_F(CompileServerBuilderTest, GivesUpAServerThatKeepsDying) {
  startWithKernel("dies");
  Status status;
  for (uint64_t id = 1; id < 5 && status; ++id) {
    status = submit(id);
    if (status)
      if (auto result = builder->wait(); !result)
        status = result.error();
  }
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("cannot be kept running"),
            std::string::npos);
}

TEST_F(CompileServerBuilderTest, KeepsResultsThatComeBeforeAPauseIsConfirmed) {
  startWithKernel("answers-at-pause");
  ASSERT_TRUE(submit(1));
  ASSERT_TRUE(submit(2));
  ASSERT_TRUE(builder->setPaused(true));
  ASSERT_TRUE(builder->setPaused(true));
  for (uint64_t id : {1, 2}) {
    auto result = builder->wait();
    ASSERT_TRUE(result);
    EXPECT_EQ(result->id, id);
  }
  ASSERT_TRUE(builder->setPaused(false));
}

TEST_F(CompileServerBuilderTest, BuildsAllInTheOrderAskedFor) {
  startWithKernel("normal");
  search::BuildRequest good, bad;
  good.kernel = bad.kernel = "k";
  good.recipe.strategy = "stock";
  bad.recipe.strategy = "bad";
  good.output = bad.output = search::BuildOutput::Implementation;
  auto results = builder->buildAll({good, bad, good});
  ASSERT_TRUE(results);
  ASSERT_EQ(results->size(), 3u);
  EXPECT_EQ((*results)[0].implementation, "implementation of stock");
  EXPECT_EQ((*results)[2].implementation, "implementation of stock");
  EXPECT_EQ((*results)[1].disposition, Disposition::BuildFailed);
  EXPECT_EQ((*results)[1].reason, "no such thing");

  ASSERT_TRUE(submit(1));
  auto again = builder->buildAll({good});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->front().implementation, "implementation of stock");
  EXPECT_FALSE(builder->wait()); // The abandoned build is gone.
}
} // namespace
