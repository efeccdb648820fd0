//===- JsonTest.cpp - Typed access to JSON --------------------------------===//

#include "kernelbrain/Support/JsonReader.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace kernelbrain;

TEST(Json, ParseErrorsNameTheByte) {
  Result<Json> json = parseJson("{\"a\": }");
  ASSERT_FALSE(json);
  EXPECT_EQ(json.error().message, "invalid JSON at byte 7");
  EXPECT_FALSE(parseJson(""));
  EXPECT_FALSE(parseJson("1 2"));
  EXPECT_TRUE(parseJson(" [1, null] "));
}

TEST(Json, DumpsAreCanonicalAndNeverFail) {
  Json json = {{"b", 1}, {"a", {1, 2}}};
  EXPECT_EQ(dumpJson(json), "{\"a\":[1,2],\"b\":1}");
  EXPECT_EQ(dumpJson(Json("\xff")), "\"\xef\xbf\xbd\"");
}

TEST(Json, NonFiniteNumbersSurvive) {
  for (double value : {std::numeric_limits<double>::infinity(),
                       -std::numeric_limits<double>::infinity(), 0.1, -3.0}) {
    Result<Json> back = parseJson(dumpJson({{"x", jsonNumber(value)}}));
    ASSERT_TRUE(back);
    Result<double> number = getNumber(*back, "x");
    ASSERT_TRUE(number);
    EXPECT_EQ(*number, value);
  }
  Json nan = {{"x", jsonNumber(std::nan(""))}};
  EXPECT_TRUE(std::isnan(*getNumber(nan, "x")));
  EXPECT_FALSE(getNumber({{"x", "infinite"}}, "x"));
}

TEST(Json, ErrorsNameKeyAndTypes) {
  Json json = {{"text", "a"}, {"number", 1.5}, {"list", Json::array()}};
  EXPECT_EQ(*getString(json, "text"), "a");
  EXPECT_EQ(getString(json, "number").error().message,
            "member 'number' must be a string, found number");
  EXPECT_EQ(getInteger(json, "number").error().message,
            "member 'number' must be a 64-bit integer, found number");
  EXPECT_EQ(getBool(json, "missing").error().message,
            "member 'missing' is missing");
  EXPECT_TRUE(getArray(json, "list"));
  EXPECT_EQ(getObject(json, "list").error().message,
            "member 'list' must be an object, found array");
  EXPECT_EQ(getString(Json(3), "x").error().message,
            "must be an object, found number");
}

TEST(Json, IntegersKeepTheirRange) {
  Json json = {{"low", std::numeric_limits<int64_t>::min()},
               {"high", std::numeric_limits<uint64_t>::max()}};
  EXPECT_EQ(*getInteger(json, "low"), std::numeric_limits<int64_t>::min());
  EXPECT_FALSE(getInteger(json, "high"));
  uint64_t big = 0;
  int small = 0;
  EXPECT_TRUE(JsonReader(json, "").required("high", big).status());
  EXPECT_EQ(big, std::numeric_limits<uint64_t>::max());
  EXPECT_FALSE(JsonReader(json, "").required("low", big).status());
  EXPECT_FALSE(JsonReader(json, "").required("low", small).status());
}

TEST(Json, DefaultsStandInForAbsentAndIllTyped) {
  Json json = {{"a", 1}};
  EXPECT_EQ(getIntegerOr(json, "a", 5), 1);
  EXPECT_EQ(getIntegerOr(json, "b", 5), 5);
  EXPECT_EQ(getStringOr(json, "a", "x"), "x");
  EXPECT_EQ(getNumberOr(json, "a", 5), 1.0);
  EXPECT_TRUE(getBoolOr(json, "a", true));
}

TEST(JsonReader, KeepsTheFirstError) {
  Json json = {{"list", {1, "two"}}, {"name", 3}};
  std::vector<int64_t> list;
  std::string name = "unchanged";
  JsonReader reader(json, "thing");
  reader.optional("absent", name).required("list", list).required("name", name);
  Status status = reader.status();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message,
            "thing: member 'list' must be a 64-bit integer, found string");
  EXPECT_EQ(name, "unchanged");
}
