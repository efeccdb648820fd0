//===- AcceptanceTest.cpp - Which kernels are rolled back -----------------===//

#include "Acceptance.h"

#include <gtest/gtest.h>

using namespace kernelbrain;

namespace {

using Callers = std::vector<std::pair<std::string, std::set<std::string>>>;

/// A program whose functions fail as long as one of their culprits is spliced.
struct FakeProgram {
  std::map<std::string, std::set<std::string>> culprits;
  Disposition failure = Disposition::Incorrect;
  int comparisons = 0;

  Result<std::vector<FunctionVerdict>>
  compare(const std::set<std::string> &dropped) {
    ++comparisons;
    std::vector<FunctionVerdict> verdicts;
    for (const auto &[function, kernels] : culprits) {
      bool fails = false;
      for (const std::string &kernel : kernels)
        fails |= !dropped.count(kernel);
      FunctionVerdict &verdict = verdicts.emplace_back();
      verdict.name = function;
      verdict.disposition = fails ? failure : Disposition::Passed;
    }
    return verdicts;
  }
};

Result<std::vector<Rollback>> rollbacksOf(FakeProgram &program,
                                          const Callers &callers) {
  AcceptanceHooks hooks;
  hooks.compare = [&](const std::set<std::string> &dropped) {
    return program.compare(dropped);
  };
  return findRollbacks(callers, hooks);
}

std::vector<std::string> names(const std::vector<Rollback> &rollbacks) {
  std::vector<std::string> result;
  for (const Rollback &rollback : rollbacks)
    result.push_back(rollback.kernel);
  return result;
}

TEST(Acceptance, KeepsAllKernelsOfAGoodProgram) {
  FakeProgram program{{{"main", {}}}};
  auto rollbacks = rollbacksOf(program, {{"a", {"main"}}, {"b", {"main"}}});
  ASSERT_TRUE(rollbacks);
  EXPECT_TRUE(rollbacks->empty());
  EXPECT_EQ(program.comparisons, 1);
}

TEST(Acceptance, RollsBackTheOneKernelThatExplainsAFailure) {
  FakeProgram program{{{"main", {"b"}}}};
  auto rollbacks =
      rollbacksOf(program, {{"a", {"main"}}, {"b", {"main"}}, {"c", {"main"}}});
  ASSERT_TRUE(rollbacks);
  EXPECT_EQ(names(*rollbacks), std::vector<std::string>{"b"});
  EXPECT_NE((*rollbacks)[0].reason.find("function 'main' is incorrect"),
            std::string::npos);
}

TEST(Acceptance, DropsEverySuspectOfAHuntThatIsInterrupted) {
  FakeProgram program{{{"f", {"b"}}, {"g", {}}}};
  AcceptanceHooks hooks;
  hooks.isInterrupted = [&] { return program.comparisons >= 1; };
  hooks.compare = [&](const std::set<std::string> &dropped)
      -> Result<std::vector<FunctionVerdict>> {
    if (hooks.isInterrupted())
      return Error{"interrupted"};
    return program.compare(dropped);
  };
  Callers callers = {{"a", {"f"}}, {"b", {"f", "g"}}, {"c", {"g"}}};
  auto rollbacks = findRollbacks(callers, hooks);
  ASSERT_TRUE(rollbacks);
  EXPECT_EQ(names(*rollbacks), (std::vector<std::string>{"a", "b"}));
  // Before anything is known nothing is dropped: that is the caller's to tell.
  EXPECT_FALSE(findRollbacks(callers, hooks));
}

TEST(Acceptance, RollsBackAllThatAFailingFunctionReachesIfNoSingleOneDoes) {
  FakeProgram program{{{"f", {"a", "b"}}, {"g", {}}}};
  auto rollbacks =
      rollbacksOf(program, {{"a", {"f"}}, {"b", {"f"}}, {"c", {"g"}}});
  ASSERT_TRUE(rollbacks);
  EXPECT_EQ(names(*rollbacks), (std::vector<std::string>{"a", "b"}));
}

TEST(Acceptance, FindsOneOfManyKernelsWithFewComparisons) {
  Callers callers;
  for (int i = 0; i < 256; ++i)
    callers.push_back({"k" + std::to_string(i), {"main"}});
  FakeProgram program{{{"main", {"k77"}}}};
  auto rollbacks = rollbacksOf(program, callers);
  ASSERT_TRUE(rollbacks);
  EXPECT_EQ(names(*rollbacks), std::vector<std::string>{"k77"});
  EXPECT_LE(program.comparisons, 2 + 2 * 8);
}

TEST(Acceptance, KeepsKernelsOfAFunctionThatCannotBeTried) {
  for (Disposition failure : {Disposition::NotRun, Disposition::HarnessFault}) {
    FakeProgram program{{{"main", {"a"}}}};
    program.failure = failure;
    auto rollbacks = rollbacksOf(program, {{"a", {"main"}}});
    ASSERT_TRUE(rollbacks);
    EXPECT_TRUE(rollbacks->empty());
  }
}

TEST(Acceptance, HandlesSeveralFailingFunctions) {
  FakeProgram program{{{"f", {"a"}}, {"g", {"c"}}}};
  program.failure = Disposition::Slower;
  auto rollbacks =
      rollbacksOf(program, {{"a", {"f"}}, {"b", {"f", "g"}}, {"c", {"g"}}});
  ASSERT_TRUE(rollbacks);
  EXPECT_EQ(names(*rollbacks), (std::vector<std::string>{"a", "c"}));
}

TEST(Acceptance, ReportsADifferenceThatNoKernelExplains) {
  FakeProgram program{{{"main", {"not ours"}}}};
  auto rollbacks = rollbacksOf(program, {{"a", {"other"}}});
  ASSERT_FALSE(rollbacks);
  EXPECT_NE(rollbacks.error().message.find("'main' differs"),
            std::string::npos);
}

TEST(Acceptance, IgnoresASlowFunctionWithoutKernels) {
  FakeProgram program{{{"main", {"not ours"}}}};
  program.failure = Disposition::Slower;
  auto rollbacks = rollbacksOf(program, {{"a", {"other"}}});
  ASSERT_TRUE(rollbacks);
  EXPECT_TRUE(rollbacks->empty());
}

TEST(Acceptance, KeepsKernelsOfAFunctionThatIsTooNoisyToTime) {
  FakeProgram program{{{"main", {"a"}}}};
  program.failure = Disposition::Unstable;
  auto rollbacks = rollbacksOf(program, {{"a", {"main"}}});
  ASSERT_TRUE(rollbacks);
  EXPECT_TRUE(rollbacks->empty());
}

TEST(Acceptance, PassesAnErrorOfTheHarnessOn) {
  auto rollbacks = findRollbacks({{"a", {"main"}}},
                                 {[](const std::set<std::string> &)
                                      -> Result<std::vector<FunctionVerdict>> {
                                   return Error{"worker is gone"};
                                 }});
  ASSERT_FALSE(rollbacks);
  EXPECT_EQ(rollbacks.error().message, "worker is gone");
}

} // namespace
