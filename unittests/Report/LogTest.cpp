//===- LogTest.cpp - The event log, the estimate and the formats ----------===//

#include "kernelbrain/Report/Estimate.h"
#include "kernelbrain/Report/JsonLog.h"

#include "Events.h"
#include "lib/Report/Format.h"

#include <gtest/gtest.h>

using namespace kernelbrain;
using namespace kernelbrain::report;

namespace {

TEST(JsonLogTest, EveryEventIsALineOfJson) {
  std::string path =
      testing::TempDir() + "kb-log-" + std::to_string(::getpid()) + ".jsonl";
  {
    auto log = JsonLog::open(path);
    ASSERT_TRUE(log) << log.error().message;
    for (const search::Event &event : wholeRun())
      ASSERT_TRUE((*log)->notify(event));
  }
  std::string text = *readFile(path);
  ::unlink(path.c_str());
  size_t begin = 0;
  for (const search::Event &event : wholeRun()) {
    size_t end = text.find('\n', begin);
    ASSERT_NE(end, std::string::npos);
    auto json = parseJson(text.substr(begin, end - begin));
    ASSERT_TRUE(json);
    EXPECT_EQ(*getString(*json, "type"), event.type);
    json->erase("type");
    EXPECT_EQ(*json, event.data);
    begin = end + 1;
  }
  EXPECT_EQ(begin, text.size());
}

TEST(JsonLogTest, AFullDiskAndAMissingFolderAreErrorsWithThePath) {
  auto log = JsonLog::open("/dev/full");
  ASSERT_TRUE(log);
  Status status = (*log)->notify(startRun());
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message,
            "log: cannot write to '/dev/full': No space left on device");
  auto missing = JsonLog::open("/dev/null/log");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message,
            "log: cannot open '/dev/null/log': Not a directory");
}

Json estimate() {
  return Json::array({Json{{"kernel", "softmax_0"},
                           {"kind", "row-reduction"},
                           {"recipes", 1200000},
                           {"share", 0.62},
                           {"weight", 0.8},
                           {"estimate_ns", 6000},
                           {"bound_ns", 4000},
                           {"searched", true}},
                      Json{{"kernel", "gelu_1"},
                           {"kind", "elementwise"},
                           {"recipes", 12},
                           {"share", 0.2},
                           {"weight", 0.2},
                           {"searched", true}},
                      Json{{"kernel", "matmul_2"},
                           {"kind", "contraction"},
                           {"recipes", 0},
                           {"share", 0.1},
                           {"searched", false}}});
}

TEST(EstimateTest, ABudgetOfTimeIsShownByKernel) {
  PlanLimits limits;
  limits.seconds = 60;
  EXPECT_EQ(
      estimateText(planKernels(estimate(), limits), limits),
      "kernel     class          share  recipes  to bound  variants    time\n"
      "softmax_0  row-reduction  62.0%  1.2e+06     1.50x         -  48.0 s\n"
      "gelu_1     elementwise    20.0%       12         -         -  12.0 s\n"
      "matmul_2   contraction    10.0%        -         -         -       -\n"
      "    not searched: no strategy applies\n"
      "\n"
      "2 kernels to search of 3; at most 60.0 s of search\n");
}

TEST(EstimateTest, ALimitOfVariantsNeedsNoTime) {
  PlanLimits limits;
  limits.variants = 100;
  auto plans = planKernels(estimate(), limits);
  ASSERT_EQ(plans.size(), 3u);
  EXPECT_EQ(plans[0].variants, 80);
  EXPECT_EQ(plans[1].variants, 12);
  EXPECT_EQ(plans[0].seconds, 0);
  EXPECT_NE(estimateText(plans, limits).find("3; at most 100 variants\n"),
            std::string::npos);
  limits.variants = 1e7;
  limits.seconds = 60;
  EXPECT_NE(estimateText(planKernels(estimate(), limits), limits)
                .find("at most 1200012 variants in 60.0 s of search"),
            std::string::npos);
}

TEST(EstimateTest, WithoutALimitThereIsNoneToTell) {
  EXPECT_NE(estimateText(planKernels(estimate(), {}), {})
                .find("of 3; no limit, each search ends where gains do"),
            std::string::npos);
  EXPECT_EQ(estimateText({}, {}), "0 kernels to search of 0\n");
}

TEST(FormatTest, TimesHaveThreeDigits) {
  EXPECT_EQ(timeText(0), "-");
  EXPECT_EQ(timeText(-1), "-");
  EXPECT_EQ(timeText(7), "7.00 ns");
  EXPECT_EQ(timeText(999), "999 ns");
  EXPECT_EQ(timeText(999.6), "1.00 us");
  EXPECT_EQ(timeText(12345), "12.3 us");
  EXPECT_EQ(timeText(99960), "100 us");
  EXPECT_EQ(timeText(5.4e12), "5400 s");
}

TEST(FormatTest, LongTextIsWrappedAtBlanks) {
  EXPECT_EQ(wrapText("one two three", 2, 11), "  one two\n  three\n");
  EXPECT_EQ(wrapText("exactly ten", 0, 11), "exactly ten\n");
  EXPECT_EQ(wrapText("abcdefghijklmno", 0, 10), "abcdefghij\nklmno\n");
  EXPECT_EQ(wrapText("", 2, 10), "");
  EXPECT_EQ(wrapText("   ", 2, 10), "");
}

TEST(FormatTest, TextIsCutWithAMark) {
  EXPECT_EQ(cutText("abcdef", 6), "abcdef");
  EXPECT_EQ(cutText("abcdefg", 6), "abc...");
  EXPECT_EQ(cutText("abcdefg", 2), "ab");
  EXPECT_EQ(cutName("abcdefghij", 8), "abc..hij");
  EXPECT_EQ(cutName("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(cutName("abcdefghij", 3), "abc");
}

TEST(FormatTest, NamesAreCutOnlyAsFarAsTheyStayDifferent) {
  Table table({{"kernel", false, 8}, {"class", false, 8}});
  table.add({"main_row_reduction_and_more_11", "aaaaaaaaaaaaaaaaaaaaaa"});
  table.add({"main_row_reduction_but_less_11", "aaaaaaaaaaaaaaaaaaaaaa"});
  EXPECT_EQ(table.render(30), "kernel          class\n"
                              "main_r..ore_11  aaaaaa..aaaaaa\n"
                              "main_r..ess_11  aaaaaa..aaaaaa\n");
  // Any narrower, and both kernels were "mai..._11".
  EXPECT_EQ(table.render(10), "kernel      class\n"
                              "main..e_11  aaa..aaa\n"
                              "main..s_11  aaa..aaa\n");
}

} // namespace
