//===- Recipe.h - How to make a variant -------------------------*- C++ -*-===//

#ifndef KERNELBRAIN_CORE_RECIPE_H
#define KERNELBRAIN_CORE_RECIPE_H

#include "kernelbrain/Support/Json.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace kernelbrain {

using KnobValue = std::variant<int64_t, std::string>;
Json toJson(const KnobValue &value);
Result<KnobValue> knobValueFromJson(const Json &json);

/// {payload, strategy, knobs}. Two reserved strategies always exist: "stock"
/// (the upstream lowering; knob `fuse` 0 or 1) and "reference" (the same with
/// every float type promoted to f64).
struct Recipe {
  /// Empty: the kernel's own body. Else the text of a kb.kernel.
  std::string payload;
  std::string strategy;
  std::string strategyHash; ///< version of the strategy that made it
  std::map<std::string, KnobValue> knobs;

  /// Content hash of the canonical JSON form without the strategy hash.
  std::string hash() const;
  /// Every member counts, the strategy hash as well.
  friend bool operator==(const Recipe &a, const Recipe &b);
};

Json toJson(const Recipe &recipe);
Result<Recipe> recipeFromJson(const Json &json);

/// One decision of a strategy.
struct Knob {
  std::string name;
  std::vector<KnobValue> values; ///< the domain, for this kernel and target
  KnobValue otherwise;           ///< the default: the analytic model's choice
  std::string description;
  bool structural = false; ///< changes the shape of the code, not just a factor
  /// The value with the smallest numerical error, where values differ in that.
  std::optional<KnobValue> safest = {};
};

/// What a strategy offers for one kernel on one target.
struct SearchSpace {
  std::string strategy, strategyHash;
  /// The body that it is for, as Recipe::payload. Not in the JSON form.
  std::string payload;
  std::vector<Knob> knobs;
  /// Each must hold: an expression tree such as
  /// ["<=", ["*", {"knob": "unroll"}, 4], 16]; see docs/Protocols.md.
  std::vector<Json> constraints;

  void add(std::string name, std::vector<KnobValue> values, KnobValue otherwise,
           std::string description, bool structural = false,
           std::optional<KnobValue> safest = {}) {
    knobs.push_back({std::move(name), std::move(values), std::move(otherwise),
                     std::move(description), structural, std::move(safest)});
  }
  /// The recipe with every knob at its default.
  Recipe defaultRecipe() const;
  /// `recipe` with every knob that has a safest value at it.
  Recipe safest(Recipe recipe) const;
  const Knob *find(const std::string &name) const;
  /// `recipe` with the default of every knob that it does not name.
  Recipe completed(Recipe recipe) const;
  /// Empty if `recipe` names every knob, in its domain, and all constraints
  /// hold; else what is wrong: "knob 'unroll' has no value 3 (one of 1, 2, 4)".
  std::string violation(const Recipe &recipe) const;
  /// Number of knob assignments, constraints not counted (saturates).
  uint64_t size() const;
};

Json toJson(const SearchSpace &space);
Result<SearchSpace> searchSpaceFromJson(const Json &json);

/// Evaluates an expression tree over knob values. Operators: + - * / % == !=
/// < <= > >= and or not if; leaves: integers, strings, {"knob": name}.
/// Overflow, division by zero, an unknown knob and a wrong operand are errors.
Result<KnobValue>
evaluateExpression(const Json &expression,
                   const std::map<std::string, KnobValue> &knobs);

} // namespace kernelbrain

#endif // KERNELBRAIN_CORE_RECIPE_H
