//===- RecipeTest.cpp - Recipes, spaces, expressions ----------------------===//

#include "kernelbrain/Core/Recipe.h"

#include <gtest/gtest.h>
#include <limits>

using namespace kernelbrain;

static SearchSpace space() {
  SearchSpace space;
  space.strategy = "rows";
  space.strategyHash = "v1";
  Knob unroll;
  unroll.name = "unroll";
  unroll.values = {int64_t(1), int64_t(2), int64_t(4)};
  unroll.otherwise = int64_t(1);
  Knob mode;
  mode.name = "mode";
  mode.values = {std::string("fast"), std::string("safe")};
  mode.otherwise = std::string("safe");
  mode.structural = true;
  mode.safest = std::string("safe");
  space.knobs = {unroll, mode};
  space.constraints = {
      Json::array({"or", Json::array({"==", {{"knob", "mode"}}, "fast"}),
                   Json::array({"<=", {{"knob", "unroll"}}, 2})})};
  return space;
}

TEST(Recipe, RoundTripsAndHashes) {
  Recipe recipe = space().defaultRecipe();
  Result<Recipe> back = recipeFromJson(toJson(recipe));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, recipe);
  EXPECT_EQ(back->hash(), recipe.hash());
  Recipe other = recipe;
  other.strategyHash = "v2"; // another version, the same choice
  EXPECT_EQ(other.hash(), recipe.hash());
  EXPECT_FALSE(other == recipe);
  other = recipe;
  other.knobs["unroll"] = int64_t(2);
  EXPECT_NE(other.hash(), recipe.hash());
  other.knobs["unroll"] = std::string("1"); // no integer
  EXPECT_NE(other.hash(), recipe.hash());
}

TEST(Recipe, BadFormsAreErrors) {
  EXPECT_FALSE(recipeFromJson({{"strategy", "rows"}}));
  Result<Recipe> recipe =
      recipeFromJson({{"strategy", "rows"}, {"knobs", {{"unroll", 1.5}}}});
  ASSERT_FALSE(recipe);
  EXPECT_EQ(recipe.error().message,
            "recipe: member 'knobs': knob 'unroll': a knob value must be an "
            "integer or a string, found 1.5");
}

TEST(SearchSpace, SaysWhatIsWrong) {
  Recipe recipe = space().defaultRecipe();
  EXPECT_EQ(space().violation(recipe), "");
  recipe.knobs["unroll"] = int64_t(3);
  EXPECT_EQ(space().violation(recipe),
            "knob 'unroll' has no value 3 (one of 1, 2, 4)");
  recipe.knobs["unroll"] = int64_t(4);
  EXPECT_NE(space().violation(recipe).find("does not hold"), std::string::npos);
  recipe.knobs["mode"] = std::string("fast");
  EXPECT_EQ(space().violation(recipe), "");
  recipe.knobs["extra"] = int64_t(1);
  EXPECT_EQ(space().violation(recipe), "strategy 'rows' has no knob 'extra'");
  recipe.knobs.erase("extra");
  recipe.knobs.erase("mode");
  EXPECT_EQ(space().violation(recipe), "knob 'mode' has no value");
  recipe.strategy = "tiles";
  EXPECT_EQ(space().violation(recipe),
            "the recipe is of strategy 'tiles', expected 'rows'");
}

TEST(SearchSpace, SafestTurnsOnlyKnobsThatHaveASafestValue) {
  Recipe recipe = space().defaultRecipe();
  recipe.knobs["unroll"] = int64_t(4);
  recipe.knobs["mode"] = std::string("fast");
  Recipe safe = space().safest(recipe);
  EXPECT_EQ(safe.knobs["unroll"], KnobValue(int64_t(4)));
  EXPECT_EQ(safe.knobs["mode"], KnobValue(std::string("safe")));
}

TEST(SearchSpace, RoundTripsAndCounts) {
  std::string text = dumpJson(toJson(space()));
  Result<SearchSpace> back = searchSpaceFromJson(*parseJson(text));
  ASSERT_TRUE(back);
  EXPECT_EQ(dumpJson(toJson(*back)), text);
  EXPECT_EQ(back->size(), 6u);
  EXPECT_TRUE(back->find("mode")->structural);
  EXPECT_EQ(back->find("none"), nullptr);
  SearchSpace huge;
  Knob knob;
  for (int64_t value = 0; value < 1000; ++value)
    knob.values.push_back(value);
  huge.knobs.assign(10, knob);
  EXPECT_EQ(huge.size(), std::numeric_limits<uint64_t>::max());
}

/// Evaluates a JSON text; errors become "error: ...".
static std::string evaluate(const std::string &text) {
  std::map<std::string, KnobValue> knobs = {{"u", int64_t(4)},
                                            {"m", std::string("fast")}};
  Result<KnobValue> value = evaluateExpression(*parseJson(text), knobs);
  return value ? dumpJson(toJson(*value)) : "error: " + value.error().message;
}

TEST(Expression, Operators) {
  EXPECT_EQ(evaluate(R"(["+", 1, {"knob": "u"}, 3])"), "8");
  EXPECT_EQ(evaluate(R"(["-", 1, 3])"), "-2");
  EXPECT_EQ(evaluate(R"(["*", 2, 3, 4])"), "24");
  EXPECT_EQ(evaluate(R"(["/", -7, 2])"), "-3");
  EXPECT_EQ(evaluate(R"(["%", 7, 4])"), "3");
  EXPECT_EQ(evaluate(R"(["%", -9223372036854775808, -1])"), "0");
  EXPECT_EQ(evaluate(R"(["==", {"knob": "m"}, "fast"])"), "1");
  EXPECT_EQ(evaluate(R"(["!=", {"knob": "m"}, 4])"), "1");
  EXPECT_EQ(evaluate(R"(["<", 1, 1])"), "0");
  EXPECT_EQ(evaluate(R"(["<=", 1, 1])"), "1");
  EXPECT_EQ(evaluate(R"([">", 2, 1])"), "1");
  EXPECT_EQ(evaluate(R"([">=", 0, 1])"), "0");
  EXPECT_EQ(evaluate(R"(["not", 0])"), "1");
  EXPECT_EQ(evaluate(R"(["and", 1, 2, 0])"), "0");
  EXPECT_EQ(evaluate(R"(["or", 0, 5])"), "1");
  EXPECT_EQ(evaluate(R"(["if", 0, 1, "no"])"), "\"no\"");
  // What is decided already is not looked at.
  EXPECT_EQ(evaluate(R"(["and", 0, ["/", 1, 0]])"), "0");
  EXPECT_EQ(evaluate(R"(["if", 1, 2, ["/", 1, 0]])"), "2");
}

TEST(Expression, Errors) {
  EXPECT_EQ(evaluate(R"(["/", 1, 0])"), "error: division by zero");
  EXPECT_EQ(evaluate(R"(["%", 1, 0])"), "error: division by zero");
  EXPECT_EQ(evaluate(R"(["*", 9223372036854775807, 2])"),
            "error: integer overflow in operator '*'");
  EXPECT_EQ(evaluate(R"(["/", -9223372036854775808, -1])"),
            "error: integer overflow in operator '/'");
  EXPECT_EQ(evaluate(R"({"knob": "x"})"), "error: unknown knob 'x'");
  EXPECT_EQ(evaluate(R"(["^", 1, 2])"), "error: unknown operator '^'");
  EXPECT_EQ(evaluate(R"(["+", 1])"),
            "error: operator '+' takes at least 2 operands, found 1");
  EXPECT_EQ(evaluate(R"(["<", 1, 2, 3])"),
            "error: operator '<' takes 2 operands, found 3");
  EXPECT_EQ(evaluate(R"(["+", 1, {"knob": "m"}])"),
            "error: expected an integer, found \"fast\"");
  EXPECT_EQ(evaluate("[]"), "error: an expression must start with an operator");
  EXPECT_EQ(evaluate("1.5").rfind("error: ", 0), 0u);
  std::string deep = "1";
  for (int i = 0; i < 1000; ++i)
    deep = "[\"not\", " + deep + "]";
  EXPECT_EQ(evaluate(deep), "error: expression is nested too deeply");
}
