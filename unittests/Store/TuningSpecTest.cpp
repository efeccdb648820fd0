//===- TuningSpecTest.cpp -------------------------------------------------===//

#include "kernelbrain/Store/TuningSpec.h"

#include "Entries.h"
#include "Testing/TemporaryFolder.h"
#include "kernelbrain/Support/File.h"

using namespace kernelbrain;
using namespace kernelbrain::store;

namespace {

class TuningSpecTest : public FolderTest {};

std::string parseError(const std::string &text) {
  auto entries = parseTuningSpec(text, "spec.mlir");
  return entries ? "no error" : entries.error().message;
}

TEST_F(TuningSpecTest, EntriesComeBackAsPrinted) {
  std::vector<TuningEntry> entries = {makeEntry("k", 4, 2),
                                      makeEntry("l", -3, 1.1, false)};
  entries[0].recipe.payload = "kb.kernel @k {\n\t\"x\\y\" // \xc3\xa9\x01\n}";
  entries[0].proof =
      Json{{"odd key", 1},
           {"true", false},
           {"nothing", nullptr},
           {"big", UINT64_MAX},
           {"small", INT64_MIN},
           {"tenth", 0.1},
           {"huge", 1e300},
           {"whole", 1.0},
           {"none", Json::array()},
           {"empty", Json::object()},
           {"list", Json::array({1, "a", Json::object({{"b", 2.5}})})}};
  std::string text = printTuningSpec(entries);
  auto parsed = parseTuningSpec(text, "spec.mlir");
  ASSERT_TRUE(parsed) << parsed.error().message << "\n" << text;
  ASSERT_EQ(parsed->size(), 2u);
  EXPECT_EQ(toJson((*parsed)[0]), toJson(entries[0]));
  EXPECT_EQ(toJson((*parsed)[1]), toJson(entries[1]));
  EXPECT_EQ(printTuningSpec(*parsed), text);
}

TEST_F(TuningSpecTest, WhatMlirOptPrintedIsTheSameSpec) {
  // test/Store/tuning-spec.mlir checks that mlir-opt turns one into the other.
  std::string tests = KB_TEST_STORE;
  auto text = readFile(tests + "/tuning-spec.mlir");
  auto printed = readFile(tests + "/Inputs/tuning-spec-printed.mlir");
  ASSERT_TRUE(text && printed);
  auto entries = parseTuningSpec(*text, "spec.mlir");
  auto again = parseTuningSpec(*printed, "printed.mlir");
  ASSERT_TRUE(entries) << entries.error().message;
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_EQ(entries->size(), 2u);
  std::string golden = text->substr(text->find("// Tuned by"));
  EXPECT_EQ(printTuningSpec(*entries), golden);
  EXPECT_EQ(printTuningSpec(*again), golden);
}

TEST_F(TuningSpecTest, NoEntriesAreASpecToo) {
  auto parsed = parseTuningSpec(printTuningSpec({}), "spec.mlir");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_TRUE(parsed->empty());
}

TEST_F(TuningSpecTest, EveryCutIsAnErrorWithALine) {
  std::string text = printTuningSpec({makeEntry("k", 4, 2)});
  size_t end = text.find_last_not_of('\n');
  for (size_t cut = 0; cut <= end; ++cut) {
    std::string error = parseError(text.substr(0, cut));
    EXPECT_EQ(error.compare(0, 10, "spec.mlir:"), 0) << cut << " " << error;
  }
}

TEST_F(TuningSpecTest, MalformedTextIsAnErrorWithItsLine) {
  std::string head = "module @kb.tuning_spec attributes {kb.spec_version = 1 "
                     ": i64} {\n";
  EXPECT_EQ(parseError("hello"), "spec.mlir:1: expected 'module', found "
                                 "'hello'");
  EXPECT_EQ(parseError("module @x attributes {a = 1 : i64} {\n}"),
            "spec.mlir:1: not a tuning spec: " +
                getInteger(Json{{"a", 1}}, "kb.spec_version").error().message);
  EXPECT_EQ(parseError("module @x attributes {kb.spec_version = 2} {\n}"),
            "spec.mlir:1: the tuning spec has version 2, expected 1");
  EXPECT_EQ(parseError(head + "\n  func.func @f()\n}"),
            "spec.mlir:3: expected 'module', found 'func.func'");
  EXPECT_EQ(parseError(head + "module @e attributes {kb.entry = {a = \n?}} "
                              "{}}"),
            "spec.mlir:3: expected an attribute, found '?'");
  EXPECT_EQ(parseError(head + "module @e attributes {a = \"\\q\"} {}}"),
            "spec.mlir:2: expected an escape such as \\22 or \\n in a string");
  EXPECT_EQ(parseError(head + "module @e attributes {a = \"x\n\"} {}}"),
            "spec.mlir:3: expected '\"' at the end of a string");
  EXPECT_EQ(parseError(head + "module @e attributes {a = 1, a = 2} {}}"),
            "spec.mlir:2: the attribute 'a' occurs twice");
  EXPECT_EQ(parseError(head + "module @e attributes {a = 1 : i8} {}}"),
            "spec.mlir:2: expected a number of type i64, ui64 or f64, found "
            "'1 : i8'");
  EXPECT_EQ(parseError(head + "module @e attributes {a = 9223372036854775808} "
                              "{}}"),
            "spec.mlir:2: the number 9223372036854775808 does not fit in i64");
  EXPECT_EQ(parseError(head + "module @e attributes {a = " +
                       std::string(100000, '[') + "}"),
            "spec.mlir:2: attributes are nested too deeply");
  EXPECT_EQ(parseError(head + "}\nmore"),
            "spec.mlir:3: expected the end, found 'more'");
}

TEST_F(TuningSpecTest, AnEntryThatLacksAMemberIsNamedWithItsLine) {
  std::string text = printTuningSpec({makeEntry("k", 4, 2)});
  size_t member = text.find("run_hash");
  text.replace(member, 8, "run_hush");
  std::string error = parseError(text);
  EXPECT_EQ(error.compare(0, 12, "spec.mlir:3:"), 0) << error;
  EXPECT_NE(error.find("run_hash"), std::string::npos) << error;
}

TEST_F(TuningSpecTest, ExportAndImportKeepTheEntries) {
  using Mode = TuningDatabase::Mode;
  auto source = TuningDatabase::open(folder + "/a.db", Mode::ReadWrite);
  ASSERT_TRUE(source->record({makeEntry("k", 1, 2), makeEntry("l", 2, 3),
                              makeEntry("m", 4, 5, /*proven=*/false)}));
  std::string spec = folder + "/spec.mlir";
  auto count = exportSpec(*source, spec);
  ASSERT_TRUE(count) << count.error().message;
  EXPECT_EQ(*count, 2u);
  EXPECT_EQ(*exportSpec(*source, spec, /*unproven=*/true), 3u);
  auto copy = TuningDatabase::open(folder + "/b.db", Mode::ReadWrite);
  auto imported = importSpec(*copy, spec);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(*imported, 3u);
  ASSERT_TRUE(exportSpec(*copy, folder + "/again.mlir", /*unproven=*/true));
  EXPECT_EQ(*readFile(folder + "/again.mlir"), *readFile(spec));
}

TEST_F(TuningSpecTest, AFailedImportChangesNothing) {
  auto database =
      TuningDatabase::open(folder + "/a.db", TuningDatabase::Mode::ReadWrite);
  std::string spec = folder + "/spec.mlir";
  std::string text =
      printTuningSpec({makeEntry("k", 1, 2), makeEntry("l", 1, 2)});
  ASSERT_TRUE(writeFileAtomically(spec, text.substr(0, text.size() - 3)));
  auto imported = importSpec(*database, spec);
  ASSERT_FALSE(imported);
  EXPECT_EQ(imported.error().message.compare(0, spec.size() + 1, spec + ":"),
            0);
  EXPECT_TRUE(database->list()->empty());
  EXPECT_FALSE(importSpec(*database, folder + "/missing.mlir"));
  EXPECT_FALSE(exportSpec(*database, folder + "/no/such/spec.mlir"));
}

} // namespace
