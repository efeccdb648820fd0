//===- Tiles.cpp - An output as a matrix of tiles -------------------------===//

#include "kernelbrain/Evaluate/Device/InputSets.h"
#include "kernelbrain/Evaluate/Device/Verdict.h"
#include "kernelbrain/Support/Random.h"

#include <algorithm>
#include <set>

namespace kernelbrain::evaluate {

TileGrid::TileGrid(const std::vector<int64_t> &extents)
    : elements(elementCount(extents)) {
  columns = extents.size() < 2 ? edge : std::max(edge, extents.back());
  // Narrow outputs are cut as if they were rows of 32.
  int64_t rows = (elements + columns - 1) / columns;
  tileRows = (rows + edge - 1) / edge;
  tileColumns = (columns + edge - 1) / edge;
}

TileGrid::Run TileGrid::run(int64_t tile, int64_t row) const {
  int64_t matrixRow = tile / tileColumns * edge + row;
  int64_t column = tile % tileColumns * edge;
  int64_t begin = matrixRow * columns + column;
  int64_t count = std::min({edge, columns - column, elements - begin});
  return {begin, std::max<int64_t>(0, count)};
}

std::vector<int64_t> chooseTiles(const TileGrid &grid, int64_t limit,
                                 uint64_t seed) {
  std::set<int64_t> chosen;
  int64_t tiles = grid.tiles();
  if (limit <= 0 || tiles <= limit) {
    for (int64_t tile = 0; tile < tiles; ++tile)
      chosen.insert(chosen.end(), tile);
    return {chosen.begin(), chosen.end()};
  }
  Random random({seed, uint64_t(tiles)});
  int64_t rows = grid.tileRows, columns = grid.tileColumns;
  for (int64_t row : {int64_t(0), rows - 1})
    for (int64_t column : {int64_t(0), columns - 1})
      chosen.insert(row * columns + column);
  for (int64_t k = 0; k < limit / 4; ++k) {
    chosen.insert((rows - 1) * columns + int64_t(random.below(columns)));
    chosen.insert(int64_t(random.below(rows)) * columns + columns - 1);
  }
  while (int64_t(chosen.size()) < limit)
    chosen.insert(int64_t(random.below(tiles)));
  return {chosen.begin(), chosen.end()};
}

std::string elementName(const std::vector<int64_t> &extents, int64_t element) {
  std::string text;
  for (size_t k = extents.size(); k > 0; --k) {
    int64_t extent = std::max<int64_t>(1, extents[k - 1]);
    text = std::to_string(element % extent) + (text.empty() ? "" : ", ") + text;
    element /= extent;
  }
  return "(" + text + ")";
}

} // namespace kernelbrain::evaluate
