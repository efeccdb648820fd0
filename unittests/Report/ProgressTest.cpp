//===- ProgressTest.cpp ---------------------------------------------------===//

#include "kernelbrain/Report/Progress.h"

#include "Events.h"

#include <gtest/gtest.h>

using namespace kernelbrain;
using namespace kernelbrain::report;

namespace {

/// A terminal that understands what Progress writes.
class Screen {
public:
  void write(const std::string &text) {
    ++writes;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\x1b') {
        size_t end = text.find_first_of("AJm", i);
        ASSERT_NE(end, std::string::npos);
        control(text[end], std::atoi(text.c_str() + i + 2));
        i = end;
      } else if (text[i] == '\n') {
        if (++row == lines.size())
          lines.emplace_back();
      } else if (text[i] == '\r') {
        lines[row].clear();
      } else {
        lines[row] += text[i];
      }
    }
  }
  std::string text() const {
    std::string all;
    for (const std::string &line : lines)
      all += line + "\n";
    return all.substr(0, all.size() - 1);
  }
  size_t widest() const {
    size_t result = 0;
    for (const std::string &line : lines)
      result = std::max(result, line.size());
    return result;
  }
  int writes = 0, colours = 0;

private:
  void control(char code, int count) {
    if (code == 'A') {
      ASSERT_LE(size_t(count), row) << "the cursor leaves the screen";
      row -= size_t(count);
    } else if (code == 'J') {
      lines.resize(row + 1);
      lines[row].clear();
    } else {
      ++colours;
    }
  }
  std::vector<std::string> lines = {""};
  size_t row = 0;
};

struct Show {
  explicit Show(bool live, bool colours = false, size_t width = 80,
                size_t height = 24) {
    Display display;
    display.live = live;
    display.colours = colours;
    display.width = width;
    display.height = height;
    display.write = [this](const std::string &text) { screen.write(text); };
    display.clock = [this] { return now; };
    progress.emplace(run, display);
  }
  void send(const search::Event &event) {
    EXPECT_TRUE(run.notify(event));
    EXPECT_TRUE(progress->notify(event));
    now += step;
  }
  Screen screen;
  RunRecord run;
  int64_t now = 1, step = 200000000;
  std::optional<Progress> progress;
};

TEST(ProgressTest, APipeGetsALineForEachNotableEvent) {
  Show show(false);
  for (const search::Event &event : wholeRun())
    show.send(event);
  EXPECT_EQ(
      show.screen.text(),
      "kernelbrain: optimizing softmax.mlir\n"
      "kernelbrain: kernel 'matmul_1': finished after 0 variants (no strategy "
      "applies)\n"
      "kernelbrain: kernel 'softmax_0': baseline stock-fused takes 12.3 us, "
      "bound 4.00 us\n"
      "kernelbrain: kernel 'gelu_2': baseline stock-fused takes 12.3 us, bound "
      "4.00 us\n"
      "kernelbrain: kernel 'softmax_0': variant 1 is the best so far, 2.10x "
      "[2.05, 2.15]\n"
      "kernelbrain: kernel 'gelu_2': variant 1 is the best so far, 1.20x "
      "[1.15, 1.25]\n"
      "kernelbrain: kernel 'softmax_0': variant 3 is the best so far, 2.31x "
      "[2.26, 2.36]\n"
      "kernelbrain: kernel 'softmax_0': variant 3 accepted, 2.31x [2.25, "
      "2.36]\n"
      "kernelbrain: kernel 'softmax_0': finished after 4 variants (no more "
      "gain was found)\n"
      "kernelbrain: kernel 'gelu_2': rolled back variant 1: output 0 differs "
      "at [3, 4]\n"
      "kernelbrain: kernel 'gelu_2': finished after 1 variant (nothing is "
      "left to try)\n"
      "kernelbrain: finished after 5 variants\n");
  EXPECT_EQ(show.screen.colours, 0);
}

TEST(ProgressTest, ATerminalShowsOneTable) {
  Show show(true);
  std::vector<search::Event> events = wholeRun();
  for (size_t i = 0; i + 3 < events.size(); ++i)
    show.send(events[i]);
  EXPECT_EQ(show.screen.text(),
            "softmax.mlir: 3 s, 5 variants, budget left 59 s, 5 variants\n"
            "kernel     state      static  build  check  quick  full   best\n"
            "gelu_2     searching       0      0      0      0     1  1.20x\n"
            "softmax_0  accepted        1      0      0      1     2  2.31x\n"
            "matmul_1   stock           0      0      0      0     0      -\n");
  EXPECT_EQ(show.screen.colours, 0);
  for (size_t i = events.size() - 3; i < events.size(); ++i)
    show.send(events[i]);
  EXPECT_EQ(show.screen.text(), ""); // room for the summary
}

TEST(ProgressTest, TheTableIsDrawnAtMostTenTimesASecond) {
  Show show(true);
  show.step = 1000000; // a millisecond
  show.send(startRun());
  show.send(startKernel("a", 0.5));
  for (uint64_t ticket = 1; ticket <= 998; ++ticket)
    show.send(trial("a", ticket, 0, rows(2, 8), 1));
  EXPECT_EQ(show.screen.writes, 10);
}

TEST(ProgressTest, LinesFitTheTerminalAndTableItsHeight) {
  Show show(true, true, /*width=*/40, /*height=*/10);
  show.send(startRun());
  for (int i = 0; i < 50; ++i) {
    std::string name = "a_kernel_with_a_very_long_name_" + std::to_string(i);
    show.send(startKernel(name, 0.01));
    show.send(baseline(name));
  }
  EXPECT_LE(show.screen.widest(), 39u);
  std::string text = show.screen.text();
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 9);
  EXPECT_NE(text.find("and 45 more kernels"), std::string::npos) << text;
}

TEST(ProgressTest, ColoursAreWrittenOnlyWhereTheyAreWanted) {
  Show plain(true, false), coloured(true, true);
  for (const search::Event &event : wholeRun()) {
    plain.send(event);
    coloured.send(event);
  }
  EXPECT_EQ(plain.screen.colours, 0);
  EXPECT_GT(coloured.screen.colours, 0);
}

TEST(ProgressTest, AWarningStaysAboveTheTable) {
  Show show(true);
  show.send(startRun());
  show.send({"warning", Json{{"message", "the runner died\x1b[2J"}}});
  show.send(startKernel("a", 0.5));
  EXPECT_EQ(show.screen.text(), "warning: the runner died?[2J\n"
                                "softmax.mlir: 0 s, 0 variants\n"
                                "and 1 more kernel\n");
}

TEST(ProgressTest, HideLeavesNothingBehind) {
  Show show(true);
  for (const search::Event &event : wholeRun())
    if (event.type != "run_finished")
      show.send(event);
  show.progress->hide();
  EXPECT_EQ(show.screen.text(), "");
  show.progress->hide();
  EXPECT_EQ(show.screen.text(), "");
}

TEST(ProgressTest, StandardErrorIsPlainWhenItIsNoTerminal) {
  int saved = ::dup(STDERR_FILENO);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::dup2(ends[1], STDERR_FILENO);
  Display display = standardErrorDisplay();
  display.write("x");
  ::dup2(saved, STDERR_FILENO);
  EXPECT_FALSE(display.live);
  EXPECT_FALSE(display.colours);
  char byte = 0;
  EXPECT_EQ(::read(ends[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'x');
  for (int fd : {saved, ends[0], ends[1]})
    ::close(fd);
}

} // namespace
