//===- SessionOptionsTest.cpp - Defaults and refusals ---------------------===//

#include "kernelbrain/Driver/SessionOptions.h"

#include <gtest/gtest.h>

using namespace kernelbrain;

namespace {

TEST(SessionOptions, BudgetIsSixtySecondsUnlessVariantsAreLimited) {
  SessionOptions options;
  ASSERT_TRUE(options.resolve());
  EXPECT_EQ(options.budgetSeconds, 60);
  SessionOptions limited;
  limited.maxVariants = 10;
  ASSERT_TRUE(limited.resolve());
  EXPECT_EQ(limited.budgetSeconds, 0);
  SessionOptions both;
  both.maxVariants = 10;
  both.budgetSeconds = 5;
  ASSERT_TRUE(both.resolve());
  EXPECT_EQ(both.budgetSeconds, 5);
}

TEST(SessionOptions, IdentityIgnoresWhatDoesNotChangeTheResult) {
  SessionOptions a, b;
  b.compileJobs = 7;
  b.printTree = true;
  b.store = "/elsewhere";
  EXPECT_EQ(a.identity(), b.identity());
  b.seed = 1;
  EXPECT_NE(a.identity(), b.identity());
}

TEST(SessionOptions, RefusesContradictions) {
  SessionOptions options;
  options.replay = "file";
  Status status = options.resolve();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message,
            "option 'replay' needs proposer=replay, llm or mixed");
}

TEST(SessionOptions, AGpuNeedsNoChipUntilItIsLookedFor) {
  SessionOptions options;
  options.target = "cuda";
  EXPECT_TRUE(options.resolve());
  for (const char *chip : {"sm_80", "sm_90a", "emulated"}) {
    options.chip = chip;
    EXPECT_TRUE(options.resolve()) << chip;
  }
  options.placement = "device";
  options.workerLaunch = "srun --gres=gpu:1";
  EXPECT_TRUE(options.resolve());
  SessionOptions host = options;
  host.placement = "host";
  EXPECT_NE(options.identity(), host.identity());
}

TEST(SessionOptions, RefusesWhatDoesNotFitTheTarget) {
  auto refusal = [](void (*change)(SessionOptions &)) -> std::string {
    SessionOptions options;
    options.target = "cuda";
    change(options);
    Status status = options.resolve();
    return status ? "" : status.error().message;
  };
  EXPECT_EQ(refusal([](SessionOptions &options) { options.target = "tpu"; }),
            "expected option 'target' to be host or cuda, found 'tpu'");
  EXPECT_EQ(refusal([](SessionOptions &options) {
              options.chip = "znver4";
            }).rfind("option 'chip': unknown GPU 'znver4'; known are sm_80", 0),
            0u);
  EXPECT_EQ(refusal([](SessionOptions &options) { options.threads = 2; }),
            "option 'threads' needs target=host");
  EXPECT_EQ(refusal([](SessionOptions &options) {
              options.baselinePipeline = "canonicalize";
            }),
            "option 'baseline-pipeline' needs target=host");
  EXPECT_EQ(
      refusal([](SessionOptions &options) { options.placement = "moon"; }),
      "expected option 'placement' to be host or device, found 'moon'");
  EXPECT_EQ(refusal([](SessionOptions &options) {
              options.placement = "device";
              options.emit = "tensor";
            }).rfind("placement=device needs emit=memref or emit=llvm", 0),
            0u);
  EXPECT_EQ(refusal([](SessionOptions &options) {
              options.target = "host";
              options.placement = "device";
            }),
            "placement=device needs target=cuda");
  EXPECT_EQ(refusal([](SessionOptions &options) {
              options.target = "host";
              options.workerLaunch = "ssh gpu";
            }),
            "option 'worker-launch' needs target=cuda");
}

} // namespace
