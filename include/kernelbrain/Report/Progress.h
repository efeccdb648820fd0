//===- Progress.h - A run as it goes ----------------------------*- C++ -*-===//

#ifndef KERNELBRAIN_REPORT_PROGRESS_H
#define KERNELBRAIN_REPORT_PROGRESS_H

#include "kernelbrain/Report/RunRecord.h"

#include <functional>
#include <string>

namespace kernelbrain::report {

/// Where and how progress is shown.
struct Display {
  bool live = false;    ///< redraw in place; else plain lines
  bool colours = false; ///< only if live
  size_t width = 80, height = 24;
  std::function<void(const std::string &)> write;
  std::function<int64_t()> clock; ///< monotonic nanoseconds
};

/// Standard error. Live if it is a terminal that can move its cursor; colours
/// unless NO_COLOR is set. What cannot be written is dropped.
Display standardErrorDisplay();

/// Shows a run. On a terminal a table of the kernels is redrawn at most ten
/// times a second; else one line is written for each notable event. It never
/// fails: a closed terminal is no reason to lose a search.
class Progress : public search::Observer {
public:
  /// `run` is notified before this observer and outlives it.
  Progress(const RunRecord &run, Display display);
  ~Progress() override;

  Status notify(const search::Event &event) override;
  /// Removes the live table until the next event: call before anything else is
  /// written to the terminal.
  void hide();

private:
  std::string frame() const;
  std::string heading() const;
  std::string kernelTable(size_t lines) const;
  std::string line(const search::Event &event) const;
  void draw(bool now);

  const RunRecord &run;
  Display display;
  int64_t started, lastDraw = 0;
  size_t drawnLines = 0;
};

} // namespace kernelbrain::report

#endif // KERNELBRAIN_REPORT_PROGRESS_H
