//===- RealServerTest.cpp - The client against kb-compile itself ----------===//

#include "Testing/TemporaryFolder.h"

#include "kernelbrain/Build/CompileServerBuilder.h"

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>

using namespace kernelbrain;
using namespace kernelbrain::build;

namespace {
class RealServerTest : public FolderTest {
protected:
  void SetUp() override {
    std::signal(SIGPIPE, SIG_IGN);
    CompileServerOptions options;
    options.program = KB_COMPILE_PROGRAM;
    options.jobs = 2;
    options.store = storeInDirectory(folder);
    auto started = CompileServerBuilder::start(options);
    ASSERT_TRUE(started) << started.error().message;
    builder = std::move(*started);
    std::ostringstream text;
    text << std::ifstream(KB_SOFTMAX).rdbuf();
    Status added = builder->addKernel(softmax(), text.str());
    ASSERT_TRUE(added) << added.error().message;
  }
  void TearDown() override { builder.reset(); }

  static Kernel softmax() {
    Kernel kernel;
    kernel.name = "softmax";
    kernel.arguments.resize(2);
    for (Argument &argument : kernel.arguments)
      argument.shape = {64, 128};
    kernel.arguments[1].isOutput = true;
    return kernel;
  }
  void submit(uint64_t id, const std::string &strategy,
              search::BuildOutput output) {
    search::BuildRequest request;
    request.id = id;
    request.kernel = "softmax";
    request.recipe.strategy = strategy;
    request.output = output;
    ASSERT_TRUE(builder->submit(request));
  }

  std::unique_ptr<CompileServerBuilder> builder;
};

TEST_F(RealServerTest, BuildsASoftmax) {
  EXPECT_EQ(builder->target().kind, "host");
  EXPECT_EQ(builder->llvmVersion().substr(0, 3), "22.");
  submit(1, "stock", search::BuildOutput::Artifact);
  submit(2, "reference", search::BuildOutput::Artifact);
  submit(3, "stock", search::BuildOutput::Static);
  submit(4, "no-such-strategy", search::BuildOutput::Static);
  std::map<uint64_t, search::BuildResult> results;
  for (int count = 0; count < 4; ++count) {
    auto result = builder->wait();
    ASSERT_TRUE(result) << result.error().message;
    results[result->id] = std::move(*result);
  }
  for (uint64_t id : {1, 2, 3})
    EXPECT_EQ(results[id].disposition, Disposition::Passed)
        << id << ": " << results[id].reason;
  EXPECT_EQ(results[4].disposition, Disposition::InvalidRecipe);
  EXPECT_EQ(results[4].reason, "unknown strategy 'no-such-strategy'");
  for (uint64_t id : {1, 2}) {
    const Manifest &manifest = results[id].artifact.manifest;
    EXPECT_EQ(manifest.entry, "softmax");
    EXPECT_EQ(manifest.arguments.at(0).type,
              id == 1 ? ElementType::F32 : ElementType::F64);
    EXPECT_GT(manifest.workspaceBytes, 0);
    EXPECT_TRUE(std::ifstream(results[id].artifact.path).good());
    EXPECT_GT(results[id].buildNs, 0);
  }
}

TEST_F(RealServerTest, ReadsPayloads) {
  std::ostringstream text;
  text << std::ifstream(KB_SOFTMAX).rdbuf();
  submit(1, "stock", search::BuildOutput::Artifact); // goes on meanwhile
  auto good = builder->readPayload("softmax", text.str());
  ASSERT_TRUE(good) << good.error().message;
  EXPECT_EQ(good->disposition, Disposition::Passed) << good->reason;
  ASSERT_GE(good->spaces.size(), 2u);
  EXPECT_EQ(good->spaces.front().strategy, "rowwise");
  EXPECT_EQ(good->spaces.back().strategy, "stock");
  EXPECT_EQ(good->spaces.front().defaultRecipe().payload, good->text);
  auto again = builder->readPayload("softmax", good->text);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->text, good->text);
  for (std::string bad : {std::string("kb.kernel"), std::string("\xff\0", 2),
                          std::string(200000, '[')}) {
    auto reading = builder->readPayload("softmax", bad);
    ASSERT_TRUE(reading) << reading.error().message;
    EXPECT_EQ(reading->disposition, Disposition::InvalidRecipe);
    EXPECT_FALSE(reading->reason.empty());
    EXPECT_TRUE(reading->spaces.empty());
  }
  EXPECT_FALSE(builder->readPayload("nobody", text.str()));
  auto built = builder->wait();
  ASSERT_TRUE(built);
  EXPECT_EQ(built->disposition, Disposition::Passed);
  EXPECT_EQ(builder->restarts(), 0u);
}

TEST_F(RealServerTest, ImportsAnImplementationAfterAPause) {
  ASSERT_TRUE(builder->setPaused(true));
  ASSERT_TRUE(builder->setPaused(false));
  search::BuildRequest request;
  request.kernel = "softmax";
  request.recipe.strategy = "stock";
  request.output = search::BuildOutput::Implementation;
  auto built = builder->buildAll({request});
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_EQ(built->front().implementation.substr(0, 4),
            "ML\xefR"); // Bytecode.
  EXPECT_FALSE(built->front().artifact.manifest.irHash.empty());
}
} // namespace
