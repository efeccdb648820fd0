//===- PrintTree.cpp - The tree as text -----------------------------------===//

#include "kernelbrain/Search/PrintTree.h"

#include <cstdio>

namespace kernelbrain::search {

static std::string text(const KnobValue &value) {
  if (const int64_t *integer = std::get_if<int64_t>(&value))
    return std::to_string(*integer);
  return std::get<std::string>(value);
}

std::string describeChange(const Recipe &parent, const Recipe &recipe) {
  std::string out;
  bool sameStrategy = parent.strategy == recipe.strategy;
  if (!sameStrategy)
    out = recipe.strategy;
  if (parent.payload != recipe.payload)
    out += out.empty() ? "payload rewritten" : ", payload rewritten";
  for (const auto &[name, value] : recipe.knobs) {
    auto before = parent.knobs.find(name);
    bool known = sameStrategy && before != parent.knobs.end();
    if (known && before->second == value)
      continue;
    out += out.empty() ? "" : ", ";
    out += known ? name + " " + text(before->second) + " -> " + text(value)
                 : name + "=" + text(value);
  }
  return out.empty() ? "no change" : out;
}

static std::string number(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.3f", value);
  return buffer;
}

static void printNode(const SearchTree &tree, uint64_t ticket, int depth,
                      uint64_t winner, std::string &out) {
  const Node &node = tree.node(ticket);
  const Trial &trial = node.trial;
  out += std::string(static_cast<size_t>(2 * depth), ' ');
  out += ticket == winner ? "*" : "";
  out += std::to_string(ticket) + " ";
  if (ticket == 0) {
    out += "baseline " + trial.recipe.strategy + " " +
           std::to_string(trial.measurement.timeNs) + " ns\n";
    return;
  }
  out += std::string(toString(trial.step)) + " " + trial.proposer + " ";
  out += node.pending ? "pending" : toString(trial.measurement.disposition);
  if (trial.duplicateOf)
    out += " of " + std::to_string(trial.duplicateOf);
  if (trial.measurement.speedup)
    out += " " + number(trial.measurement.speedup->middle) + "x";
  out += " (" +
         describeChange(tree.node(trial.parent).trial.recipe, trial.recipe) +
         ")";
  if (trial.measurement.profile)
    out += " " + describe(diagnose(*trial.measurement.profile));
  out += "\n";
}

std::string printTree(const std::string &kernel, const SearchTree &tree,
                      uint64_t winner) {
  std::string out = "kernel @" + kernel + "\n";
  // An explicit stack: a chain of small steps may be long.
  std::vector<std::pair<uint64_t, int>> stack = {{0, 1}};
  while (!stack.empty()) {
    auto [ticket, depth] = stack.back();
    stack.pop_back();
    printNode(tree, ticket, depth, winner, out);
    const std::vector<uint64_t> &children = tree.node(ticket).children;
    for (auto it = children.rbegin(); it != children.rend(); ++it)
      stack.push_back({*it, depth + 1});
  }
  return out;
}

} // namespace kernelbrain::search
