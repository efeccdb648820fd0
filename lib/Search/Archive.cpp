//===- Archive.cpp - The best variant of every kind -----------------------===//

#include "kernelbrain/Search/Archive.h"

namespace kernelbrain::search {

/// Number of members that two feature objects agree on; the strategy, the
/// coarsest feature, outweighs all others.
static int overlap(const Json &a, const Json &b) {
  if (!a.is_object() || !b.is_object())
    return 0;
  int count = 0;
  for (auto it = a.begin(); it != a.end(); ++it) {
    auto other = b.find(it.key());
    if (other != b.end() && *other == it.value())
      count += it.key() == "strategy" ? 1000 : 1;
  }
  return count;
}

std::string Archive::cellOf(const Json &features) const {
  std::string exact = dumpJson(features);
  if (elites.count(exact) || elites.size() < maxCells)
    return exact;
  // The map is sorted, so the first of equals is the same every time.
  const std::string *nearest = nullptr;
  int most = -1;
  for (const auto &[cell, key] : keys)
    if (int shared = overlap(key, features); shared > most) {
      most = shared;
      nearest = &cell;
    }
  return *nearest;
}

std::optional<double> Archive::elite(const std::string &cell) const {
  auto it = elites.find(cell);
  if (it == elites.end())
    return std::nullopt;
  return it->second.speedup;
}

bool Archive::offer(const std::string &cell, const Json &features,
                    const Elite &variant) {
  auto it = elites.find(cell);
  if (it != elites.end()) {
    if (!(variant.speedup > it->second.speedup))
      return false;
    it->second = variant;
    return true;
  }
  // A cell name that was asked for before the archive filled up.
  std::string name = cellOf(features);
  if (name != cell && elites.size() >= maxCells)
    return offer(name, features, variant);
  elites[cell] = variant;
  keys[cell] = features;
  return true;
}

std::vector<uint64_t> Archive::ranking() const {
  std::vector<const Elite *> sorted;
  for (const auto &[cell, elite] : elites)
    sorted.push_back(&elite);
  std::sort(sorted.begin(), sorted.end(), [](const Elite *a, const Elite *b) {
    return a->speedup != b->speedup ? a->speedup > b->speedup
                                    : a->ticket < b->ticket;
  });
  std::vector<uint64_t> tickets;
  for (const Elite *elite : sorted)
    tickets.push_back(elite->ticket);
  return tickets;
}

std::vector<uint64_t> Archive::draw(size_t count, Random &random) const {
  std::vector<uint64_t> tickets = ranking();
  for (size_t i = 1; i < std::min(count, tickets.size()); ++i)
    std::swap(tickets[i], tickets[i + random.below(tickets.size() - i)]);
  tickets.resize(std::min(count, tickets.size()));
  return tickets;
}

} // namespace kernelbrain::search
