//===- Archive.h - The best variant of every kind ---------------*- C++ -*-===//

#ifndef KERNELBRAIN_SEARCH_ARCHIVE_H
#define KERNELBRAIN_SEARCH_ARCHIVE_H

#include "kernelbrain/Support/Json.h"
#include "kernelbrain/Support/Random.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kernelbrain::search {

/// Quality-diversity archive: one elite for each cell of coarse features.
/// Always true: an elite is replaced by a faster one only, a cell is never
/// lost, and there are at most `maxCells`.
class Archive {
public:
  static constexpr size_t maxCells = 64;

  struct Elite {
    uint64_t ticket = 0;
    double speedup = 0;   ///< over the baseline
    uint64_t lineage = 0; ///< of the tree
  };

  /// The cell of a variant with these features (Manifest::features). When the
  /// archive is full, a new kind falls into the cell that it shares most
  /// features with.
  std::string cellOf(const Json &features) const;
  /// The speedup of a cell's elite; std::nullopt for an empty cell.
  std::optional<double> elite(const std::string &cell) const;
  /// Offers a correct, timed variant to the cell named by cellOf. True if it is
  /// the elite now.
  bool offer(const std::string &cell, const Json &features,
             const Elite &variant);

  const std::map<std::string, Elite> &cells() const { return elites; }
  /// Tickets of up to `count` elites of different cells: the fastest, then
  /// others at random.
  std::vector<uint64_t> draw(size_t count, Random &random) const;
  /// Tickets of all elites, fastest first.
  std::vector<uint64_t> ranking() const;

private:
  std::map<std::string, Elite> elites;
  std::map<std::string, Json> keys; ///< features of each cell
};

} // namespace kernelbrain::search

#endif // KERNELBRAIN_SEARCH_ARCHIVE_H
