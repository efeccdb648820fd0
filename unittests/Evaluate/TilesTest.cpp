//===- TilesTest.cpp - Outputs as matrices of tiles
//-------------------------===//

#include "kernelbrain/Evaluate/Device/Verdict.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace kernelbrain::evaluate;

namespace {

TEST(Tiles, CoverEveryElementOnce) {
  for (std::vector<int64_t> extents : {std::vector<int64_t>{},
                                       {5},
                                       {3000},
                                       {70, 45},
                                       {3, 40, 33},
                                       {100, 4},
                                       {0, 7},
                                       {64, 0}}) {
    TileGrid grid(extents);
    std::vector<int> seen(size_t(grid.elements), 0);
    for (int64_t tile = 0; tile < grid.tiles(); ++tile)
      for (int64_t row = 0; row < TileGrid::edge; ++row) {
        TileGrid::Run run = grid.run(tile, row);
        for (int64_t k = 0; k < run.count; ++k)
          ++seen[size_t(run.begin + k)];
      }
    for (int count : seen)
      EXPECT_EQ(count, 1);
  }
}

TEST(Tiles, ASampleHasTheCorners) {
  TileGrid grid({4096, 1024});
  std::vector<int64_t> tiles = chooseTiles(grid, 64, 1);
  EXPECT_GE(tiles.size(), 64u);
  EXPECT_LT(tiles.size(), 200u);
  for (int64_t corner :
       {int64_t(0), int64_t(31), grid.tiles() - 32, grid.tiles() - 1})
    EXPECT_TRUE(std::count(tiles.begin(), tiles.end(), corner)) << corner;
  EXPECT_EQ(chooseTiles(grid, 0, 1).size(), size_t(grid.tiles()));
}

} // namespace
