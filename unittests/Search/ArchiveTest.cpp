//===- ArchiveTest.cpp - Invariants of the archive ------------------------===//

#include "kernelbrain/Search/Archive.h"

#include <gtest/gtest.h>

using namespace kernelbrain;
using namespace kernelbrain::search;

static Json randomFeatures(Random &random) {
  return {{"strategy", random.below(2) ? "rows" : "tiles"},
          {"vector", random.below(8)},
          {"tile", random.below(12)}};
}

TEST(Archive, InvariantsHoldUnderRandomStreams) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    Random random({seed});
    Archive archive;
    double best = 0;
    for (uint64_t ticket = 1; ticket <= 500; ++ticket) {
      std::map<std::string, Archive::Elite> before = archive.cells();
      Json features = randomFeatures(random);
      double speedup = random.uniform() * 4;
      best = std::max(best, speedup);
      std::string cell = archive.cellOf(features);
      archive.offer(cell, features, {ticket, speedup, ticket});
      const auto &after = archive.cells();
      ASSERT_LE(after.size(), Archive::maxCells);
      for (const auto &[name, elite] : before) {
        ASSERT_TRUE(after.count(name)) << "a cell was lost";
        ASSERT_GE(after.at(name).speedup, elite.speedup);
      }
      ASSERT_TRUE(after.count(cell));
      ASSERT_GE(after.at(cell).speedup, speedup);
    }
    ASSERT_EQ(archive.cells().size(), Archive::maxCells);
    std::vector<uint64_t> ranking = archive.ranking();
    ASSERT_EQ(ranking.size(), Archive::maxCells);
    // The best of all is never lost, whatever cell it fell into.
    double first = 0;
    for (const auto &[name, elite] : archive.cells())
      if (elite.ticket == ranking.front())
        first = elite.speedup;
    ASSERT_EQ(first, best);
  }
}

TEST(Archive, AnEqualVariantDoesNotEvict) {
  Archive archive;
  Json features = {{"strategy", "rows"}};
  std::string cell = archive.cellOf(features);
  EXPECT_FALSE(archive.elite(cell));
  EXPECT_TRUE(archive.offer(cell, features, {1, 2.0, 1}));
  EXPECT_FALSE(archive.offer(cell, features, {2, 2.0, 2}));
  EXPECT_FALSE(archive.offer(cell, features, {3, 1.0, 3}));
  EXPECT_TRUE(archive.offer(cell, features, {4, 2.5, 4}));
  EXPECT_EQ(archive.elite(cell), 2.5);
}

TEST(Archive, AFullArchiveStaysWithinTheStrategy) {
  Archive archive;
  for (uint64_t i = 0; i < Archive::maxCells; ++i) {
    Json features = {{"strategy", i % 2 ? "rows" : "tiles"}, {"tile", i}};
    archive.offer(archive.cellOf(features), features, {i + 1, 1.0, i + 1});
  }
  std::string cell = archive.cellOf({{"strategy", "rows"}, {"tile", 1000}});
  EXPECT_NE(cell.find("rows"), std::string::npos);
}

TEST(Archive, DrawsAcrossCells) {
  Archive archive;
  for (uint64_t i = 0; i < 10; ++i) {
    Json features = {{"tile", i}};
    archive.offer(archive.cellOf(features), features,
                  {i + 1, 1.0 + double(i), i + 1});
  }
  std::set<uint64_t> seen;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Random random({seed});
    std::vector<uint64_t> drawn = archive.draw(5, random);
    ASSERT_EQ(drawn.size(), 5u);
    EXPECT_EQ(drawn.front(), 10u); // the fastest is always there
    EXPECT_EQ(std::set<uint64_t>(drawn.begin(), drawn.end()).size(), 5u);
    seen.insert(drawn.begin(), drawn.end());
  }
  EXPECT_EQ(seen.size(), 10u);
  Random random({1});
  EXPECT_TRUE(Archive().draw(5, random).empty());
}
