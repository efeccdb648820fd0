//===- Progress.cpp - A run as it goes ------------------------------------===//

#include "kernelbrain/Report/Progress.h"

#include "Format.h"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <sys/ioctl.h>
#include <unistd.h>

using namespace kernelbrain;
using namespace kernelbrain::report;

static bool isSet(const char *name) {
  const char *value = std::getenv(name);
  return value && *value;
}

static void writeToStandardError(const std::string &text) {
  size_t done = 0;
  while (done < text.size()) {
    ssize_t count =
        ::write(STDERR_FILENO, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR)
      return;
    done += count > 0 ? size_t(count) : 0;
  }
}

Display report::standardErrorDisplay() {
  Display display;
  const char *terminal = std::getenv("TERM");
  display.live = ::isatty(STDERR_FILENO) && terminal && *terminal &&
                 std::strcmp(terminal, "dumb") != 0;
  display.colours = display.live && !isSet("NO_COLOR");
  struct winsize size;
  if (display.live && ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 &&
      size.ws_col && size.ws_row) {
    display.width = size.ws_col;
    display.height = size.ws_row;
  }
  display.write = writeToStandardError;
  display.clock = [] {
    return int64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(
                       std::chrono::steady_clock::now().time_since_epoch())
                       .count());
  };
  return display;
}

Progress::Progress(const RunRecord &run, Display display)
    : run(run), display(std::move(display)), started(this->display.clock()) {}

Progress::~Progress() { hide(); }

//===----------------------------------------------------------------------===//
// The live table
//===----------------------------------------------------------------------===//

static const char *stateOf(const KernelRecord &record) {
  if (record.finished)
    return record.accepted ? "accepted" : "stock";
  if (!record.trials.empty())
    return "searching";
  return record.baselineName.empty() ? "waiting" : "measured";
}

static std::string secondsText(double seconds) {
  return std::to_string(std::llround(std::max(seconds, 0.0))) + " s";
}

std::string Progress::heading() const {
  std::string text = run.module().empty() ? "kernelbrain" : run.module();
  text += ": " + secondsText(double(display.clock() - started) / 1e9) + ", " +
          countText(run.variants(), "variant");
  std::string left;
  if (std::optional<int64_t> most = run.limit("wall_ns"))
    left = secondsText(double(*most - run.wallNs()) / 1e9);
  if (std::optional<int64_t> most = run.limit("variants")) {
    int64_t rest = std::max<int64_t>(*most - int64_t(run.variants()), 0);
    left += (left.empty() ? "" : ", ") + countText(size_t(rest), "variant");
  }
  return plainText(left.empty() ? text : text + ", budget left " + left);
}

std::string Progress::kernelTable(size_t lines) const {
  // What is being worked on first; of the rest, the latest.
  std::vector<const KernelRecord *> shown;
  for (bool finished : {false, true})
    for (const KernelRecord &record : run.kernels())
      if (record.finished == finished &&
          (finished || !record.trials.empty() || record.baselineNs))
        shown.push_back(&record);
  size_t hidden = run.kernels().size() - std::min(shown.size(), lines);
  if (shown.size() > lines)
    shown.resize(lines);
  Table table({{"kernel", false, 8},
               {"state    ", false}, // as wide as the longest one
               {"static", true},
               {"build", true},
               {"check", true},
               {"quick", true},
               {"full", true},
               {"best", true}});
  for (const KernelRecord *record : shown) {
    std::array<int, rungCount> rungs = record->byRung();
    std::optional<Ratio> best = record->best();
    table.add({record->name, stateOf(*record), std::to_string(rungs[0]),
               std::to_string(rungs[1]), std::to_string(rungs[2]),
               std::to_string(rungs[3]),
               std::to_string(rungs[4] + rungs[5] + rungs[6]),
               best ? factorText(best->middle) : "-"});
  }
  std::string text = shown.empty() ? "" : table.render(display.width - 1);
  if (hidden)
    text += "and " + countText(hidden, "more kernel") + "\n";
  return text;
}

/// Colours the last word of lines with a speedup: the reader looks for it.
static std::string coloured(const std::string &line) {
  size_t word = line.rfind(' ');
  if (line.empty() || line.back() != 'x' || word == std::string::npos)
    return line;
  return line.substr(0, word + 1) + "\x1b[32m" + line.substr(word + 1) +
         "\x1b[0m";
}

/// The whole display; every line fits the terminal, so that the cursor can be
/// moved back by counting them.
std::string Progress::frame() const {
  size_t lines = display.height > 6 ? display.height - 5 : 1;
  std::string text = heading() + "\n" + kernelTable(lines), out;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = text.find('\n', begin);
    std::string line = cutText(text.substr(begin, end - begin),
                               std::max<size_t>(display.width, 2) - 1);
    if (display.colours)
      line = begin == 0 ? "\x1b[1m" + line + "\x1b[0m" : coloured(line);
    out += line + "\n";
    begin = end + 1;
  }
  return out;
}

void Progress::hide() {
  if (!drawnLines)
    return;
  display.write("\x1b[" + std::to_string(drawnLines) + "A\r\x1b[J");
  drawnLines = 0;
}

void Progress::draw(bool now) {
  constexpr int64_t intervalNs = 100000000;
  int64_t time = display.clock();
  if (!now && lastDraw && time - lastDraw < intervalNs)
    return;
  lastDraw = time;
  std::string text = frame();
  std::string back;
  if (drawnLines)
    back = "\x1b[" + std::to_string(drawnLines) + "A\r\x1b[J";
  // One write: the terminal never shows an empty table.
  display.write(back + text);
  drawnLines = size_t(std::count(text.begin(), text.end(), '\n'));
}

//===----------------------------------------------------------------------===//
// Plain lines
//===----------------------------------------------------------------------===//

/// The text for an event, empty if it is not worth a line.
std::string Progress::line(const search::Event &event) const {
  const Json &data = event.data;
  if (event.type == "warning")
    return "warning: " + getStringOr(data, "message", "");
  if (event.type == "run_started")
    return "optimizing " + run.module();
  if (event.type == "run_finished")
    return "finished after " + countText(run.variants(), "variant") +
           (run.stop().empty() ? "" : " (" + run.stop() + ")");
  const KernelRecord *record = run.find(getStringOr(data, "kernel", ""));
  if (!record)
    return "";
  std::string name = "kernel '" + record->name + "': ";
  std::string variant =
      "variant " + std::to_string(getIntegerOr(data, "ticket", 0));
  std::optional<Ratio> best = record->best();
  if (event.type == "baseline" && record->baselineNs)
    return name + "baseline " + record->baselineName + " takes " +
           timeText(double(record->baselineNs)) + ", bound " +
           timeText(record->boundNs);
  if (event.type == "incumbent" && best)
    return name + variant + " is the best so far, " + ratioText(*best);
  if (event.type == "accepted" && record->acceptance.speedup)
    return name + variant + " accepted, " +
           ratioText(*record->acceptance.speedup);
  if (event.type == "rolled_back" && !record->rolledBack.empty())
    return name + "rolled back " + record->rolledBack.back();
  if (event.type == "kernel_finished")
    return name + "finished after " + countText(record->variants(), "variant") +
           " (" + stopText(record->stop, record->message) + ")";
  return "";
}

Status Progress::notify(const search::Event &event) {
  if (!display.live) {
    if (std::string text = line(event); !text.empty())
      display.write("kernelbrain: " + plainText(text) + "\n");
    return {};
  }
  if (event.type == "warning") {
    // Stays above the table.
    hide();
    display.write(wrapText(plainText(line(event)), 0, display.width - 1));
  }
  if (event.type == "run_finished")
    hide(); // the summary follows
  else
    draw(event.type == "warning");
  return {};
}
