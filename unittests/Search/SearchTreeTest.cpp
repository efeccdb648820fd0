//===- SearchTreeTest.cpp - Tree and selection ----------------------------===//

#include "kernelbrain/Search/PrintTree.h"
#include "kernelbrain/Search/SelectionPolicy.h"

#include <gtest/gtest.h>

using namespace kernelbrain;
using namespace kernelbrain::search;

namespace {
class TreeTest : public ::testing::Test {
protected:
  TreeTest() : tree(baseline(), 1000, options) {}

  static Trial baseline() {
    Trial trial;
    trial.measurement.disposition = Disposition::Passed;
    trial.measurement.timeNs = 100000;
    return trial;
  }
  /// Adds a result; a speedup of 0 is a failure.
  uint64_t add(uint64_t parent, StepKind step, double speedup) {
    Trial trial;
    trial.ticket = tree.size();
    trial.parent = parent;
    trial.step = step;
    tree.propose(trial);
    trial.measurement.disposition = speedup == 0  ? Disposition::Incorrect
                                    : speedup > 1 ? Disposition::Passed
                                                  : Disposition::Slower;
    if (speedup > 0)
      trial.measurement.speedup = Ratio{speedup, speedup, speedup};
    trial.costs.buildNs = 1000;
    tree.apply(trial);
    return trial.ticket;
  }

  PolicyOptions options;
  SearchTree tree;
};
} // namespace

TEST_F(TreeTest, Rewards) {
  EXPECT_EQ(tree.reward(tree.node(add(0, StepKind::Seed, 0))), 0);
  EXPECT_EQ(tree.reward(tree.node(add(0, StepKind::Seed, 0.5))), 0.05);
  // Headroom is a factor of 100: ten times faster is half way in logarithms.
  EXPECT_NEAR(tree.reward(tree.node(add(0, StepKind::Seed, 10))), 0.5, 1e-12);
  EXPECT_NEAR(tree.reward(tree.node(add(0, StepKind::Seed, 1.001))), 0.05,
              1e-12);
}

TEST_F(TreeTest, TheBoundMovesAndRewardsFollow) {
  uint64_t ten = add(0, StepKind::Seed, 10);
  uint64_t best = add(0, StepKind::Seed, 1000); // 100 ns, below the bound
  EXPECT_EQ(tree.boundNs(), 100);
  EXPECT_NEAR(tree.reward(tree.node(best)), 1, 1e-12);
  EXPECT_NEAR(tree.reward(tree.node(ten)), 1.0 / 3, 1e-12);
  EXPECT_NEAR(tree.node(0).total, 4.0 / 3, 1e-12);
  EXPECT_EQ(tree.node(0).visits, 2);
}

TEST_F(TreeTest, ChildrenStayInTheLineageOfTheirParent) {
  uint64_t a = add(0, StepKind::Seed, 2), b = add(0, StepKind::Large, 3);
  uint64_t c = add(a, StepKind::Small, 2), d = add(c, StepKind::Large, 2);
  EXPECT_EQ(tree.node(a).lineage, a);
  EXPECT_EQ(tree.node(b).lineage, b);
  EXPECT_EQ(tree.node(d).lineage, a);
  EXPECT_EQ(tree.chain(d, 5), (std::vector<uint64_t>{a, c, d}));
  EXPECT_EQ(tree.chain(d, 2), (std::vector<uint64_t>{c, d}));
}

TEST_F(TreeTest, FailedNodesGetThreeRepairs) {
  uint64_t failed = add(0, StepKind::Seed, 0);
  SelectionPolicy policy(options);
  tree.exhaust(0, StepKind::Large);
  for (int i = 0; i < 3; ++i) {
    Random random({uint64_t(i)});
    std::optional<Selection> selection = policy.select(tree, random);
    ASSERT_TRUE(selection);
    EXPECT_EQ(selection->parent, failed);
    EXPECT_EQ(selection->step, StepKind::Repair);
    uint64_t child = add(failed, StepKind::Repair, 0);
    tree.exhaust(child, StepKind::Repair);
  }
  EXPECT_FALSE(tree.expandable(failed));
  Random random({7});
  EXPECT_FALSE(policy.select(tree, random));
}

TEST_F(TreeTest, TheRootTakesLargeStepsOnly) {
  SelectionPolicy policy(options);
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Random random({seed});
    std::optional<Selection> selection = policy.select(tree, random);
    ASSERT_TRUE(selection);
    EXPECT_EQ(selection->parent, 0u);
    EXPECT_EQ(selection->step, StepKind::Large);
  }
}

TEST_F(TreeTest, LargeIsForcedAfterTwoSmallChildren) {
  uint64_t node = add(0, StepKind::Seed, 2);
  tree.exhaust(0, StepKind::Large);
  SelectionPolicy policy(options);
  int small = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Random random({seed});
    small += policy.select(tree, random)->step == StepKind::Small;
  }
  EXPECT_NEAR(small, 160, 25); // p = 0.2 for a large step
  for (int i = 0; i < 2; ++i) {
    uint64_t child = add(node, StepKind::Small, 1.5);
    tree.exhaust(child, StepKind::Small);
    tree.exhaust(child, StepKind::Large);
  }
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Random random({seed});
    EXPECT_EQ(policy.select(tree, random)->step, StepKind::Large);
  }
}

TEST_F(TreeTest, TheBanditFollowsGainPerCost) {
  SelectionPolicy policy(options);
  EXPECT_EQ(policy.largeChance(tree), options.largeChance);
  uint64_t node = add(0, StepKind::Seed, 2);
  for (int i = 0; i < 20; ++i) {
    add(node, StepKind::Small, 1.5);
    add(node, StepKind::Large, 4);
  }
  EXPECT_GT(policy.largeChance(tree), 0.5);
  EXPECT_LE(policy.largeChance(tree), 0.8);
}

TEST_F(TreeTest, DeadEndsAreClosed) {
  uint64_t node = add(0, StepKind::Seed, 2);
  for (int i = 0; i < options.deadEnd - 1; ++i)
    add(node, StepKind::Small, 1.2);
  EXPECT_FALSE(tree.node(node).closed);
  add(node, StepKind::Large, 3); // an improvement starts the count again
  for (int i = 0; i < options.deadEnd - 1; ++i)
    add(node, StepKind::Small, 1.2);
  EXPECT_FALSE(tree.node(node).closed);
  add(node, StepKind::Small, 1.2);
  EXPECT_TRUE(tree.node(node).closed);
  EXPECT_FALSE(tree.alive(node));
  for (int i = 0; i < 20; ++i)
    add(0, StepKind::Large, 0);
  EXPECT_TRUE(tree.alive(0)); // the root is never given up
}

TEST_F(TreeTest, BetterBranchesAreVisitedMore) {
  SelectionPolicy policy(options);
  uint64_t good = add(0, StepKind::Seed, 30), bad = add(0, StepKind::Seed, 1.1);
  int inGood = 0, inBad = 0;
  for (uint64_t ticket = 0; ticket < 60; ++ticket) {
    Random random({ticket});
    std::optional<Selection> selection = policy.select(tree, random);
    ASSERT_TRUE(selection);
    uint64_t lineage = tree.node(selection->parent).lineage;
    inGood += lineage == good;
    inBad += lineage == bad;
    double base = lineage == good ? 30 : 1.1;
    add(selection->parent, selection->step,
        selection->parent == 0 ? 1.1 : base * (1 + 0.001 * double(ticket)));
  }
  EXPECT_GT(inGood, 2 * inBad);
}

TEST(PrintTree, DescribesChanges) {
  Recipe a, b;
  a.strategy = b.strategy = "rows";
  a.knobs = {{"unroll", int64_t(2)}, {"mode", std::string("x")}};
  b.knobs = {{"unroll", int64_t(4)}, {"mode", std::string("x")}};
  EXPECT_EQ(describeChange(a, b), "unroll 2 -> 4");
  EXPECT_EQ(describeChange(a, a), "no change");
  b.strategy = "tiles";
  EXPECT_EQ(describeChange(a, b), "tiles, mode=x, unroll=4");
}
