//===- HashRandomTest.cpp - Hashes and random streams ---------------------===//

#include "kernelbrain/Support/Hash.h"
#include "kernelbrain/Support/Random.h"

#include <gtest/gtest.h>

using namespace kernelbrain;

TEST(Hash, IsTheSameEverywhere) {
  // Written to databases and journals: these values may never change.
  EXPECT_EQ(contentHash(""), "926b55be1983c206a5e294bde3997b4d");
  EXPECT_EQ(contentHash("kernel"), "1112feef3948bb6b271737da1cc98818");
}

TEST(Hash, HasNoCollisionsInSimilarTexts) {
  std::set<std::string> hashes;
  std::set<uint64_t> halves;
  for (int i = 0; i < 2000; ++i) {
    std::string text(static_cast<size_t>(i % 50), 'a');
    text += std::to_string(i);
    hashes.insert(contentHash(text));
    halves.insert(contentHash64(text));
  }
  EXPECT_EQ(hashes.size(), 2000u);
  EXPECT_EQ(halves.size(), 2000u);
  EXPECT_NE(contentHash(std::string(1, '\0')), contentHash(""));
  EXPECT_NE(contentHash(std::string(2, '\0')),
            contentHash(std::string(1, '\0')));
}

TEST(Random, StreamsAreFunctionsOfTheirKeys) {
  Random a({1, 2, 3}), b({1, 2, 3}), c({1, 3, 2}), d({1, 2}), e({1, 2, 3, 0});
  uint64_t first = a.next();
  EXPECT_EQ(first, b.next());
  EXPECT_NE(first, c.next());
  EXPECT_NE(first, d.next());
  EXPECT_NE(first, e.next());
  EXPECT_EQ(first, 17088025837137547563ull); // the same on every machine
}

TEST(Random, IsUniform) {
  Random random({42});
  int counts[7] = {};
  double sum = 0;
  for (int i = 0; i < 7000; ++i) {
    uint64_t value = random.below(7);
    ASSERT_LT(value, 7u);
    ++counts[value];
    double unit = random.uniform();
    ASSERT_GE(unit, 0);
    ASSERT_LT(unit, 1);
    sum += unit;
  }
  for (int count : counts)
    EXPECT_NEAR(count, 1000, 150);
  EXPECT_NEAR(sum / 7000, 0.5, 0.02);
  EXPECT_FALSE(random.chance(0));
  EXPECT_TRUE(random.chance(1));
}
