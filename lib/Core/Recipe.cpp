//===- Recipe.cpp - How to make a variant ---------------------------------===//

#include "kernelbrain/Core/Recipe.h"

#include "kernelbrain/Support/Hash.h"
#include "kernelbrain/Support/JsonReader.h"

#include <limits>

namespace kernelbrain {

//===----------------------------------------------------------------------===//
// Recipes
//===----------------------------------------------------------------------===//

Json toJson(const KnobValue &value) {
  if (const int64_t *integer = std::get_if<int64_t>(&value))
    return *integer;
  return std::get<std::string>(value);
}

Result<KnobValue> knobValueFromJson(const Json &json) {
  if (json.is_string())
    return KnobValue(json.get<std::string>());
  int64_t integer = 0;
  Json holder = {{"value", json}};
  JsonReader reader(holder, "knob value");
  reader.required("value", integer);
  if (!reader.status())
    return Error{"a knob value must be an integer or a string, found " +
                 dumpJson(json)};
  return KnobValue(integer);
}

Json toJson(const Recipe &recipe) {
  Json knobs = Json::object();
  for (const auto &[name, value] : recipe.knobs)
    knobs[name] = toJson(value);
  return {{"payload", recipe.payload},
          {"strategy", recipe.strategy},
          {"strategy_hash", recipe.strategyHash},
          {"knobs", std::move(knobs)}};
}

static Result<std::map<std::string, KnobValue>>
knobsFromJson(const Json &json) {
  if (!json.is_object())
    return Error{"must be an object"};
  std::map<std::string, KnobValue> knobs;
  for (auto it = json.begin(); it != json.end(); ++it) {
    Result<KnobValue> value = knobValueFromJson(it.value());
    if (!value)
      return value.error().withContext("knob '" + it.key() + "'");
    knobs[it.key()] = *value;
  }
  return knobs;
}

Result<Recipe> recipeFromJson(const Json &json) {
  Recipe recipe;
  JsonReader reader(json, "recipe");
  reader.optional("payload", recipe.payload)
      .required("strategy", recipe.strategy)
      .optional("strategy_hash", recipe.strategyHash)
      .required("knobs", recipe.knobs, knobsFromJson);
  if (Status status = reader.status(); !status)
    return status.error();
  return recipe;
}

std::string Recipe::hash() const {
  Json json = toJson(*this);
  json.erase("strategy_hash");
  return contentHash(dumpJson(json));
}

bool operator==(const Recipe &a, const Recipe &b) {
  return a.payload == b.payload && a.strategy == b.strategy &&
         a.strategyHash == b.strategyHash && a.knobs == b.knobs;
}

//===----------------------------------------------------------------------===//
// Search spaces
//===----------------------------------------------------------------------===//

static std::string text(const KnobValue &value) {
  if (const int64_t *integer = std::get_if<int64_t>(&value))
    return std::to_string(*integer);
  return std::get<std::string>(value);
}

Recipe SearchSpace::defaultRecipe() const {
  Recipe recipe;
  recipe.payload = payload;
  recipe.strategy = strategy;
  recipe.strategyHash = strategyHash;
  return completed(std::move(recipe));
}

Recipe SearchSpace::completed(Recipe recipe) const {
  for (const Knob &knob : knobs)
    recipe.knobs.insert({knob.name, knob.otherwise});
  return recipe;
}

Recipe SearchSpace::safest(Recipe recipe) const {
  for (const Knob &knob : knobs)
    if (knob.safest)
      recipe.knobs[knob.name] = *knob.safest;
  return recipe;
}

const Knob *SearchSpace::find(const std::string &name) const {
  for (const Knob &knob : knobs)
    if (knob.name == name)
      return &knob;
  return nullptr;
}

/// Empty if `value` is in the domain of `knob`.
static std::string domainViolation(const Knob &knob, const KnobValue &value) {
  if (std::find(knob.values.begin(), knob.values.end(), value) !=
      knob.values.end())
    return {};
  std::string values;
  for (const KnobValue &allowed : knob.values)
    values += (values.empty() ? "" : ", ") + text(allowed);
  return "knob '" + knob.name + "' has no value " + text(value) + " (one of " +
         values + ")";
}

std::string SearchSpace::violation(const Recipe &recipe) const {
  if (recipe.strategy != strategy)
    return "the recipe is of strategy '" + recipe.strategy + "', expected '" +
           strategy + "'";
  for (const Knob &knob : knobs) {
    auto value = recipe.knobs.find(knob.name);
    if (value == recipe.knobs.end())
      return "knob '" + knob.name + "' has no value";
    std::string wrong = domainViolation(knob, value->second);
    if (!wrong.empty())
      return wrong;
  }
  for (const auto &[name, value] : recipe.knobs)
    if (!find(name))
      return "strategy '" + strategy + "' has no knob '" + name + "'";
  for (const Json &constraint : constraints) {
    Result<KnobValue> holds = evaluateExpression(constraint, recipe.knobs);
    if (!holds)
      return "constraint " + dumpJson(constraint) + ": " +
             holds.error().message;
    if (*holds == KnobValue(int64_t(0)))
      return "constraint " + dumpJson(constraint) + " does not hold";
  }
  return {};
}

uint64_t SearchSpace::size() const {
  uint64_t size = 1;
  for (const Knob &knob : knobs)
    if (__builtin_mul_overflow(size, uint64_t(knob.values.size()), &size))
      return std::numeric_limits<uint64_t>::max();
  return size;
}

static Json toJson(const Knob &knob) {
  Json values = Json::array();
  for (const KnobValue &value : knob.values)
    values.push_back(toJson(value));
  Json json = {{"name", knob.name},
               {"values", std::move(values)},
               {"otherwise", toJson(knob.otherwise)},
               {"description", knob.description},
               {"structural", knob.structural}};
  if (knob.safest)
    json["safest"] = toJson(*knob.safest);
  return json;
}

static Result<Knob> knobFromJson(const Json &json) {
  Knob knob;
  JsonReader reader(json, "knob");
  reader.required("name", knob.name)
      .elements("values", knob.values, knobValueFromJson)
      .required("otherwise", knob.otherwise, knobValueFromJson)
      .optional("description", knob.description)
      .optional("structural", knob.structural)
      .optional("safest", knob.safest, knobValueFromJson);
  if (Status status = reader.status(); !status)
    return status.error();
  return knob;
}

Json toJson(const SearchSpace &space) {
  Json knobs = Json::array();
  for (const Knob &knob : space.knobs)
    knobs.push_back(toJson(knob));
  return {{"strategy", space.strategy},
          {"strategy_hash", space.strategyHash},
          {"knobs", std::move(knobs)},
          {"constraints", space.constraints}};
}

Result<SearchSpace> searchSpaceFromJson(const Json &json) {
  SearchSpace space;
  JsonReader reader(json, "search space");
  reader.required("strategy", space.strategy)
      .optional("strategy_hash", space.strategyHash)
      .elements("knobs", space.knobs, knobFromJson)
      .elements(
          "constraints", space.constraints,
          [](const Json &element) -> Result<Json> { return element; },
          /*needed=*/false);
  if (Status status = reader.status(); !status)
    return status.error();
  return space;
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

namespace {
using Knobs = std::map<std::string, KnobValue>;

/// A constraint comes from a strategy, but may be read from a file as well: the
/// depth is bounded so that no text can overflow the stack.
constexpr int maxDepth = 64;

class ExpressionEvaluator {
public:
  explicit ExpressionEvaluator(const Knobs &knobs) : knobs(knobs) {}
  Result<KnobValue> evaluate(const Json &expression, int depth = 0);

private:
  Result<KnobValue> apply(const std::string &name, const Json &expression,
                          int depth);
  Result<KnobValue> logic(bool isAnd, const Json &expression, int depth);
  Result<KnobValue> arithmetic(const std::string &name, int64_t a, int64_t b);
  Result<int64_t> integer(const Json &expression, int depth);

  const Knobs &knobs;
};

Result<KnobValue> ExpressionEvaluator::evaluate(const Json &expression,
                                                int depth) {
  if (depth > maxDepth)
    return Error{"expression is nested too deeply"};
  if (expression.is_object()) {
    Result<std::string> name = getString(expression, "knob");
    if (!name)
      return name.error();
    auto knob = knobs.find(*name);
    if (knob == knobs.end())
      return Error{"unknown knob '" + *name + "'"};
    return knob->second;
  }
  if (!expression.is_array())
    return knobValueFromJson(expression);
  if (expression.empty() || !expression[0].is_string())
    return Error{"an expression must start with an operator"};
  return apply(expression[0].get<std::string>(), expression, depth + 1);
}

Result<int64_t> ExpressionEvaluator::integer(const Json &expression,
                                             int depth) {
  Result<KnobValue> value = evaluate(expression, depth);
  if (!value)
    return value.error();
  if (const int64_t *integer = std::get_if<int64_t>(&*value))
    return *integer;
  return Error{"expected an integer, found \"" + std::get<std::string>(*value) +
               "\""};
}

Result<KnobValue> ExpressionEvaluator::logic(bool isAnd, const Json &expression,
                                             int depth) {
  for (size_t i = 1; i < expression.size(); ++i) {
    Result<int64_t> operand = integer(expression[i], depth);
    if (!operand)
      return operand.error();
    if ((*operand != 0) != isAnd)
      return KnobValue(int64_t(!isAnd));
  }
  return KnobValue(int64_t(isAnd));
}

Result<KnobValue> ExpressionEvaluator::arithmetic(const std::string &name,
                                                  int64_t a, int64_t b) {
  if (name == "<" || name == "<=" || name == ">" || name == ">=") {
    bool holds = name == "<"    ? a < b
                 : name == "<=" ? a <= b
                 : name == ">"  ? a > b
                                : a >= b;
    return KnobValue(int64_t(holds));
  }
  int64_t result = 0;
  bool overflow = false;
  if (name == "+")
    overflow = __builtin_add_overflow(a, b, &result);
  else if (name == "-")
    overflow = __builtin_sub_overflow(a, b, &result);
  else if (name == "*")
    overflow = __builtin_mul_overflow(a, b, &result);
  else if (b == 0)
    return Error{"division by zero"};
  else if (b == -1)
    overflow = __builtin_sub_overflow(int64_t(0), name == "/" ? a : 0, &result);
  else
    result = name == "/" ? a / b : a % b;
  if (overflow)
    return Error{"integer overflow in operator '" + name + "'"};
  return KnobValue(result);
}

Result<KnobValue> ExpressionEvaluator::apply(const std::string &name,
                                             const Json &expression,
                                             int depth) {
  size_t operands = expression.size() - 1;
  bool many = name == "+" || name == "*" || name == "and" || name == "or";
  static const char *const binary[] = {
      "-", "/", "%", "==", "!=", "<", "<=", ">", ">="};
  bool two =
      std::find(std::begin(binary), std::end(binary), name) != std::end(binary);
  if (!many && !two && name != "not" && name != "if")
    return Error{"unknown operator '" + name + "'"};
  size_t wanted = name == "not" ? 1 : name == "if" ? 3 : 2;
  if (many ? operands < wanted : operands != wanted)
    return Error{"operator '" + name + "' takes " + (many ? "at least " : "") +
                 std::to_string(wanted) + " operands, found " +
                 std::to_string(operands)};
  if (name == "and" || name == "or")
    return logic(name == "and", expression, depth);
  if (name == "==" || name == "!=") {
    Result<KnobValue> a = evaluate(expression[1], depth);
    if (!a)
      return a;
    Result<KnobValue> b = evaluate(expression[2], depth);
    if (!b)
      return b;
    return KnobValue(int64_t((*a == *b) == (name == "==")));
  }
  Result<int64_t> first = integer(expression[1], depth);
  if (!first)
    return first.error();
  if (name == "not")
    return KnobValue(int64_t(*first == 0));
  if (name == "if")
    return evaluate(expression[*first != 0 ? 2 : 3], depth);
  KnobValue result = *first;
  for (size_t i = 2; i <= operands; ++i) {
    Result<int64_t> next = integer(expression[i], depth);
    if (!next)
      return next.error();
    Result<KnobValue> step = arithmetic(name, std::get<int64_t>(result), *next);
    if (!step)
      return step;
    result = *step;
  }
  return result;
}
} // namespace

Result<KnobValue> evaluateExpression(const Json &expression,
                                     const Knobs &knobs) {
  return ExpressionEvaluator(knobs).evaluate(expression);
}

} // namespace kernelbrain
