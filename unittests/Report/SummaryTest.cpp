//===- SummaryTest.cpp ----------------------------------------------------===//

#include "kernelbrain/Report/Summary.h"

#include "Events.h"

#include <gtest/gtest.h>

using namespace kernelbrain;
using namespace kernelbrain::report;

namespace {

/// The longest line.
size_t widthOf(const std::string &text) {
  size_t widest = 0;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    widest = std::max(widest, end - begin);
    begin = end + 1;
  }
  return widest;
}

bool isPlain(const std::string &text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return c == '\n' || (c >= 0x20 && c < 0x7f);
  });
}

TEST(SummaryTest, TheTableShowsWinnersAndWhatStaysStock) {
  EXPECT_EQ(summaryText(record(wholeRun())),
            "kernel     class          baseline   winner  speedup             "
            "share\n"
            "softmax_0  row-reduction   12.3 us  5.32 us  2.31x [2.25, 2.36]  "
            "62.0%\n"
            "    row-reduction: unroll 2 -> 4\n"
            "\n"
            "left stock:\n"
            "  matmul_1: no strategy applies\n"
            "  gelu_2: rolled back, variant 1: output 0 differs at [3, 4]\n"
            "\n"
            "1 of 3 kernels improved; estimated speedup of the program 1.54x\n"
            "5 variants in 1.25 s: 1 invalid_recipe, 3 passed, 1 slower\n");
}

TEST(SummaryTest, EveryLineFitsANarrowTerminal) {
  std::vector<search::Event> events = wholeRun();
  for (search::Event &event : events)
    if (event.type == "kernel_started")
      event.data["kind"] = "a_class_with_a_name_that_goes_on_and_on";
  RunRecord run = record(events);
  for (size_t width : {64, 72, 80, 120}) {
    std::string text = summaryText(run, width);
    EXPECT_LE(widthOf(text), width) << text;
    EXPECT_LE(widthOf(explainText(*run.find("softmax_0"), width)), width);
  }
}

TEST(SummaryTest, TextsFromOutsideCannotReachTheTerminal) {
  std::string nasty = "\x1b[2J\xc3\xa9\n\t";
  std::vector<search::Event> events = wholeRun();
  for (search::Event &event : events) {
    if (event.data.contains("kernel"))
      event.data["kernel"] = getStringOr(event.data, "kernel", "") + nasty;
    if (event.data.contains("rationale"))
      event.data["rationale"] = nasty;
  }
  RunRecord run = record(events);
  EXPECT_EQ(run.kernels().size(), 3u);
  EXPECT_TRUE(isPlain(summaryText(run)));
  for (const KernelRecord &kernel : run.kernels())
    EXPECT_TRUE(isPlain(explainText(kernel)));
}

TEST(SummaryTest, ARunThatWasCutShortSaysSo) {
  std::vector<search::Event> events = {startRun(), startKernel("a", 0.5),
                                       finishRun("interrupted")};
  EXPECT_EQ(summaryText(record(events)),
            "left stock:\n"
            "  a: the run ended before its search\n"
            "\n"
            "0 of 1 kernel improved\n"
            "stopped: interrupted\n");
}

TEST(SummaryTest, ARunWithoutKernelsIsAnAnswerToo) {
  EXPECT_EQ(summaryText(record({startRun(), finishRun()})),
            "0 of 0 kernels improved\n");
}

TEST(SummaryTest, ManyKernelsWithOneReasonShareAParagraph) {
  std::vector<search::Event> events = {startRun()};
  for (int i = 0; i < 200; ++i) {
    events.push_back(startKernel("k" + std::to_string(i), 0.001));
    events.push_back(finishKernel("k" + std::to_string(i), "no_strategy"));
  }
  EXPECT_EQ(summaryText(record(events)),
            "left stock:\n"
            "  k0, k1, k2, k3, k4, k5, k6, k7 and 192 more: no strategy "
            "applies\n"
            "\n"
            "0 of 200 kernels improved\n");
}

TEST(SummaryTest, AKernelWhoseVariantsAllLostSaysSo) {
  std::vector<search::Event> events = {
      startRun(),
      startKernel("a", 0.5),
      baseline("a"),
      trial("a", 1, 0, rows(2, 8), 0.8, Disposition::Slower, 3),
      trial("a", 2, 0, rows(2, 8), 0, Disposition::Duplicate, 0),
      finishKernel("a", "budget", "variants")};
  std::string text = summaryText(record(events));
  EXPECT_NE(text.find("a: none of 1 variant was accepted as faster (1 slower); "
                      "the budget is used up:\n  variants"),
            std::string::npos)
      << text;
}

TEST(SummaryTest, TheCommonestEndOfLostVariantsIsTold) {
  std::vector<search::Event> events = {startRun(), startKernel("a", 0.5),
                                       baseline("a")};
  for (uint64_t ticket = 1; ticket <= 6; ++ticket) {
    search::Trial lost;
    lost.kernel = "a";
    lost.ticket = ticket;
    lost.measurement.disposition =
        ticket > 2 ? Disposition::Incorrect : Disposition::Slower;
    lost.measurement.reason = ticket > 3 ? "off by one" : "rare";
    events.push_back({"trial", toJson(lost)});
  }
  EXPECT_EQ(record(events).find("a")->stockReason(),
            "none of 6 variants was accepted as faster (4 incorrect: off by "
            "one)");
}

TEST(SummaryTest, AWinnerWithinTheMarginIsSlight) {
  search::AcceptanceRecord even;
  even.kernel = "a";
  even.ticket = 1;
  even.measurement.disposition = Disposition::Passed;
  even.measurement.speedup = Ratio{1.002, 1.01, 1.02};
  RunRecord run = record({startRun(),
                          startKernel("a", 0.5),
                          trial("a", 1, 0, rows(2, 8), 1.01),
                          {"accepted", toJson(even)}});
  std::string text = summaryText(run);
  EXPECT_NE(text.find("slight [1.00, 1.02]"), std::string::npos) << text;
  EXPECT_NE(text.find("0 of 1 kernel improved\n"), std::string::npos) << text;
  EXPECT_EQ(summaryJson(run)["kernels"][0]["improved"], false);
}

TEST(SummaryTest, KernelsThatAreNotSearchedCountToo) {
  RunRecord run = record(wholeRun());
  Kernel product, norm;
  product.name = "product_3";
  norm.name = "norm_4";
  run.addStock(product, "no strategy applies");
  SearchSpace space;
  space.strategy = "row-reduction";
  Measurement measurement;
  measurement.speedup = Ratio{1.9, 2, 2.1};
  run.addKnown(norm, {space}, rows(4, 8), measurement, 1000);
  std::string text = summaryText(run);
  EXPECT_NE(text.find("matmul_1, product_3: no strategy applies"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("(known from the database)"), std::string::npos) << text;
  EXPECT_NE(text.find("2 of 5 kernels improved"), std::string::npos) << text;
  EXPECT_EQ(run.variants(), record(wholeRun()).variants());
  EXPECT_EQ(summaryJson(run)["proposers"],
            summaryJson(record(wholeRun()))["proposers"]);
  EXPECT_TRUE(run.notify(verdict("norm_4", 0, 2, "the program differs")));
  EXPECT_NE(summaryText(run).find("1 of 5 kernels improved"),
            std::string::npos);
}

TEST(SummaryTest, JsonHoldsTheSame) {
  Json json = summaryJson(record(wholeRun()));
  EXPECT_EQ(json["module"], "softmax.mlir");
  EXPECT_EQ(json["variants"], 5);
  ASSERT_EQ(json["kernels"].size(), 3u);
  const Json &softmax = json["kernels"][0];
  EXPECT_EQ(softmax["name"], "softmax_0");
  EXPECT_EQ(softmax["winner"]["ticket"], 3);
  EXPECT_EQ(softmax["winner"]["measurement"]["speedup"]["middle"], 2.31);
  EXPECT_EQ(softmax["changed"], "row-reduction: unroll 2 -> 4");
  EXPECT_TRUE(softmax["left_stock"].is_null());
  EXPECT_TRUE(json["kernels"][1]["winner"].is_null());
  EXPECT_EQ(json["kernels"][1]["left_stock"], "no strategy applies");
}

TEST(SummaryTest, AWinnerThatIsRolledBackLaterIsNoWinner) {
  std::vector<search::Event> events = wholeRun();
  events.push_back(verdict("softmax_0", 3, 2.31, "the program differs"));
  RunRecord run = record(events);
  EXPECT_EQ(run.find("softmax_0")->winner(), nullptr);
  EXPECT_EQ(estimatedSpeedup(run), 1);
  EXPECT_NE(summaryText(run).find("rolled back, variant 3: the program "
                                  "differs"),
            std::string::npos);
}

TEST(SummaryTest, AmdahlsLawNeedsTheShare) {
  std::vector<search::Event> events = {startRun(), startKernel("a", 0.5),
                                       trial("a", 1, 0, rows(2, 8), 2),
                                       verdict("a", 1, 2)};
  EXPECT_DOUBLE_EQ(estimatedSpeedup(record(events)), 1 / 0.75);
}

TEST(ExplainTest, TheWayToTheWinnerIsShownStepByStep) {
  RunRecord run = record(wholeRun());
  EXPECT_EQ(explainText(*run.find("softmax_0")),
            "kernel 'softmax_0': from 12.3 us (stock-fused) to 5.32 us, 2.31x "
            "[2.25, 2.36]\n"
            "variant  step   proposer  speedup   gain\n"
            "      1  seed   builtin     2.10x  +110%\n"
            "    row-reduction: all knobs at their defaults (because)\n"
            "      3  small  builtin     2.31x   +10%\n"
            "    unroll 2 -> 4 (because)\n");
}

TEST(ExplainTest, WithoutAWinnerTheBestIsShownOrNothing) {
  RunRecord run = record(wholeRun());
  EXPECT_NE(explainText(*run.find("gelu_2")).find("accepted\n"),
            std::string::npos);
  EXPECT_EQ(explainText(*run.find("matmul_1")),
            "kernel 'matmul_1': no variant was faster than the baseline\n");
}

TEST(ExplainTest, WhatBoundsTheWinnerIsSaid) {
  search::Event winner = trial("a", 1, 0, rows(2, 8), 2);
  winner.data["measurement"]["profile"] = {
      {"values", {{"memory_percent", 70.0}}}};
  std::vector<search::Event> events = {startRun(), startKernel("a", 0.5),
                                       winner, incumbent("a", 1)};
  EXPECT_NE(explainText(*record(events).find("a"))
                .find("\nbound by memory bandwidth (memory 70% of peak)\n"),
            std::string::npos);
}

TEST(ExplainTest, ACycleOfParentsEnds) {
  std::vector<search::Event> events = {
      startRun(), startKernel("a", 0.5), trial("a", 1, 2, rows(2, 8), 2),
      trial("a", 2, 2, rows(4, 8), 2), incumbent("a", 2)};
  EXPECT_NE(explainText(*record(events).find("a")).find("      2  small"),
            std::string::npos);
}

TEST(RunRecordTest, EventsThatCannotBeReadAreLeftOut) {
  RunRecord run = record(wholeRun());
  std::string before = summaryText(run);
  for (const char *type : {"trial", "baseline", "incumbent", "accepted",
                           "kernel_finished", "rolled_back", "unheard_of"})
    for (const Json &kernel : {Json("unknown"), Json(7), Json()})
      EXPECT_TRUE(run.notify({type, Json{{"kernel", kernel}}}));
  EXPECT_EQ(summaryText(run), before);
  EXPECT_TRUE(run.notify({"trial", Json{{"kernel", "softmax_0"}}}));
  EXPECT_EQ(run.find("softmax_0")->trials.size(), 4u);
}

TEST(RunRecordTest, TheSameEventsTwiceCountOnce) {
  std::vector<search::Event> twice = wholeRun();
  std::vector<search::Event> once = twice;
  twice.insert(twice.end(), once.begin(), once.end());
  EXPECT_EQ(record(twice).variants(), record(once).variants());
  EXPECT_EQ(record(twice).wallNs(), record(once).wallNs());
}

TEST(SummaryTest, AModelsProposalsAreAccountedFor) {
  EXPECT_EQ(proposersText(record(wholeRun())), "");
  auto byModel = [](search::Event event, int64_t tokens,
                    const std::string &fallback = "") {
    event.data["costs"]["tokens"] = tokens;
    event.data["fallback"] = fallback;
    event.data["proposer"] = fallback.empty() ? "llm" : "builtin";
    return event;
  };
  search::Event end = finishRun();
  end.data["spent"] = {{"tokens", 700}, {"micro_money", 5}};
  RunRecord run =
      record({startRun(), startKernel("softmax_0", 1), baseline("softmax_0"),
              trial("softmax_0", 1, 0, rows(2, 8), 2),
              byModel(trial("softmax_0", 2, 1, rows(4, 8), 3), 100),
              byModel(trial("softmax_0", 3, 1, rows(8, 8), 0,
                            Disposition::Incorrect, 2),
                      200),
              byModel(trial("softmax_0", 4, 1, rows(1, 8), 1.5), 300,
                      "no usable answer: it holds no JSON object"),
              byModel(trial("softmax_0", 5, 1, rows(1, 4), 1.5), 0,
                      "timed_out: no reply in time"),
              verdict("softmax_0", 2, 3), end});
  EXPECT_EQ(proposersText(run),
            "proposer  proposals  winners  tokens\n"
            "builtin           3        0       0\n"
            "    3 passed\n"
            "llm               2        1     600\n"
            "    1 incorrect, 1 passed\n"
            "answered by the built-in policy instead of the model: 1 no usable "
            "answer, 1\n"
            "timed_out\n"
            "100 tokens for answers that came too late\n"
            "best of the model over the best of the built-in policy: 1.50x\n");
  Json json = summaryJson(run);
  EXPECT_EQ(json["tokens"], 700);
  EXPECT_EQ(json["proposers"]["llm"]["winners"], 1);
  EXPECT_EQ(json["fallbacks"]["timed_out"], 1);
  EXPECT_EQ(json["model_gain"], 1.5);
}

} // namespace
