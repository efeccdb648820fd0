//===- PatchTest.cpp - Answers of a model ---------------------------------===//

#include "lib/Propose/Patch.h"
#include "Testing/Fakes.h"

#include <gtest/gtest.h>

using namespace kernelbrain;
using namespace kernelbrain::propose;
using namespace kernelbrain::testing;

namespace {
class PatchTest : public ::testing::Test {
protected:
  PatchTest() {
    context.kernel = &work.kernel;
    context.spaces = &work.spaces;
    context.cost = work.cost;
    context.seen = [this](const Recipe &recipe) {
      return seen.count(recipe.hash()) != 0;
    };
    context.parent.ticket = 3;
    context.parent.recipe = rowsSpace().defaultRecipe();
    VariantView other;
    other.ticket = 5;
    other.recipe = tilesSpace().defaultRecipe();
    context.pool = {other};
    work.kernel.text = "kb.kernel @kernel { one two one }";
    context.readPayload =
        [](const std::string &text) -> Result<PayloadReading> {
      PayloadReading reading;
      reading.reason = "payload:1:1: six is not allowed";
      if (text.find("six") != std::string::npos)
        return reading;
      reading.disposition = Disposition::Passed;
      reading.text = text + " in normal form";
      reading.spaces = {tilesSpace()};
      return reading;
    };
  }
  Result<Recipe> apply(const std::string &answer) {
    Result<Patch> patch = parsePatch(answer);
    if (!patch)
      return patch.error();
    return applyPatch(*patch, context);
  }
  std::string errorOf(const std::string &answer) {
    Result<Recipe> recipe = apply(answer);
    return recipe ? "none" : recipe.error().message;
  }

  KernelTask work = task();
  ProposeContext context;
  std::set<std::string> seen;
};
} // namespace

TEST_F(PatchTest, KnobsOfTheParentChange) {
  Result<Recipe> recipe = apply(
      R"({"rationale": "r", "knobs": [{"name": "unroll", "value": 2},
          {"name": "vector", "value": "8"}]})");
  ASSERT_TRUE(recipe) << recipe.error().message;
  EXPECT_EQ(knob(*recipe, "unroll"), 2);
  EXPECT_EQ(knob(*recipe, "vector"), 8); // a number, though it was quoted
  EXPECT_EQ(recipe->strategyHash, "r1");
  EXPECT_TRUE(recipe->payload.empty());
}

TEST_F(PatchTest, ANumberStandsForTheWordOfAKnob) {
  work.spaces[0].knobs[2].values.push_back(std::string("9"));
  Result<Recipe> recipe = apply(
      R"({"rationale": "r", "knobs": [{"name": "comment", "value": 9}]})");
  ASSERT_TRUE(recipe) << recipe.error().message;
  EXPECT_EQ(recipe->knobs["comment"], KnobValue(std::string("9")));
}

TEST_F(PatchTest, AnotherParentAndAnotherStrategy) {
  Result<Recipe> recipe = apply(
      R"({"rationale": "r", "parent": 5, "knobs": [{"name": "m", "value": 8}]})");
  ASSERT_TRUE(recipe);
  EXPECT_EQ(recipe->strategy, "tiles");
  EXPECT_EQ(knob(*recipe, "m"), 8);
  recipe = apply(R"({"rationale": "r", "strategy": "tiles"})");
  ASSERT_TRUE(recipe);
  EXPECT_EQ(*recipe, tilesSpace().defaultRecipe());
}

TEST_F(PatchTest, EditsMakeAPayload) {
  Result<Recipe> recipe = apply(
      R"({"rationale": "r", "edits": [{"find": "two", "replace": "2"}]})");
  ASSERT_TRUE(recipe);
  EXPECT_EQ(recipe->payload, "kb.kernel @kernel { one 2 one } in normal form");
  EXPECT_EQ(recipe->strategy, "tiles"); // what applies to it
  EXPECT_EQ(recipe->strategyHash, "t1");
  // The next edit starts from there.
  context.parent.recipe = *recipe;
  recipe = apply(
      R"({"rationale": "r", "edits": [{"find": " in normal form", "replace":
          ""}], "knobs": [{"name": "m", "value": 8}]})");
  ASSERT_TRUE(recipe);
  EXPECT_EQ(recipe->payload, "kb.kernel @kernel { one 2 one } in normal form");
  EXPECT_EQ(knob(*recipe, "m"), 8);
}

TEST_F(PatchTest, AWholePayloadInJsonOrInAFence) {
  Result<Recipe> recipe = apply(R"({"rationale": "r", "payload": "other"})");
  ASSERT_TRUE(recipe);
  EXPECT_EQ(recipe->payload, "other in normal form");
  recipe = apply("Here:\n```json\n{\"rationale\": \"r\"}\n```\nand\n```mlir\n"
                 "kb.kernel @x\n```\n");
  ASSERT_TRUE(recipe);
  EXPECT_EQ(recipe->payload, "kb.kernel @x\n in normal form");
}

TEST_F(PatchTest, JsonIsFoundAmongOtherText) {
  const char *object = R"({"rationale": "a \" } b", "strategy": "tiles"})";
  for (std::string answer :
       {std::string(object), "Sure! " + std::string(object) + " Good luck.",
        "<think>{\"no\": </think>" + std::string(object)})
    EXPECT_TRUE(apply(answer)) << answer;
}

TEST_F(PatchTest, WrongAnswersSayWhy) {
  std::pair<const char *, const char *> cases[] = {
      {"no idea", "no JSON object"},
      {R"({"rationale": "r", "knobs": [)", "has no end"},
      {R"({"rationale": 7})", "'rationale' must be a string"},
      {R"({"strategy": "rows"})", "'rationale' is missing"},
      {R"({"rationale": "r", "speed": 1})", "unknown member 'speed'"},
      {R"({"rationale": "r", "knobs": {"unroll": 2}})", "must be an array"},
      {R"({"rationale": "r", "knobs": [{"name": "unroll"}]})", "'value'"},
      {R"({"rationale": "r", "parent": 4})", "variant 4 is none of those"},
      {R"({"rationale": "r", "strategy": "x"})", "no strategy 'x' applies"},
      {R"({"rationale": "r", "strategy": "rows", "payload": "p"})",
       "no strategy 'rows' applies"},
      {R"({"rationale": "r", "payload": "six"})",
       "not legal: payload:1:1: six is not allowed"},
      {R"({"rationale": "r", "knobs": [{"name": "m", "value": 1}]})",
       "no knob 'm'"},
      {R"({"rationale": "r", "knobs": [{"name": "unroll", "value": 3}]})",
       "has no value 3"},
      {R"({"rationale": "r", "knobs": [{"name": "unroll", "value": 8},
          {"name": "vector", "value": 16}]})",
       "constraint"},
      {R"({"rationale": "r", "edits": [{"find": "one", "replace": ""}]})",
       "more than once"},
      {R"({"rationale": "r", "edits": [{"find": "six", "replace": ""}]})",
       "does not hold 'six'"},
      {R"({"rationale": "r", "edits": [{"find": "", "replace": "x"}]})",
       "does not hold"},
      {R"({"rationale": "r", "edits": [{"find": "two", "replace": "2"}],
          "payload": "p"})",
       "both edits and a payload"},
      {R"({"rationale": "r"})", "changes nothing"},
      {R"({"rationale": "r", "edits": [{"find": "two", "replace": "two"}]})",
       "changes nothing"}};
  for (auto [answer, expected] : cases) {
    std::string error = errorOf(answer);
    EXPECT_NE(error.find(expected), std::string::npos)
        << answer << " -> " << error;
  }
}

TEST_F(PatchTest, WhatWasTriedIsRefused) {
  const char *answer =
      R"({"rationale": "r", "knobs": [{"name": "unroll", "value": 2}]})";
  Result<Recipe> recipe = apply(answer);
  ASSERT_TRUE(recipe);
  seen.insert(recipe->hash());
  EXPECT_EQ(errorOf(answer), "this recipe was tried already");
}

TEST_F(PatchTest, AVariantOfAnotherKernelIsNoParentOfKnobs) {
  context.pool[0].recipe.payload = "another";
  const char *knobs =
      R"({"rationale": "r", "parent": 5, "knobs": [{"name": "m", "value": 8}]})";
  EXPECT_EQ(errorOf(knobs), "variant 5 has another kernel than the one shown");
}

TEST_F(PatchTest, HostileAnswersAreErrors) {
  std::string deep = R"({"rationale": )" + std::string(100000, '[');
  EXPECT_NE(errorOf(deep), "none");
  deep += std::string(100000, ']') + "}";
  EXPECT_NE(errorOf(deep).find("nested"), std::string::npos);
  EXPECT_NE(errorOf(R"({"rationale": "r", "payload": ")" +
                    std::string(300000, 'x') + "\"}")
                .find("over"),
            std::string::npos);
  EXPECT_NE(errorOf("{\"rationale\": \"\xff\"}"), "none");
  EXPECT_NE(errorOf(R"({"rationale": "\ud800"})"), "none");
}
