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

} // namespace
