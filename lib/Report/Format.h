//===- Format.h - Numbers, words and tables for people ----------*- C++ -*-===//
//
// Everything is plain ASCII and safe for a terminal.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_LIB_REPORT_FORMAT_H
#define KERNELBRAIN_LIB_REPORT_FORMAT_H

#include "kernelbrain/Core/Measurement.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kernelbrain::report {

/// Replaces what a terminal could act on or not show by '?', and line breaks by
/// blanks: texts may come from a model.
std::string plainText(const std::string &text);
/// Three digits and a unit: "5.31 us"; "-" for nothing.
std::string timeText(double nanoseconds);
/// "2.31x".
std::string factorText(double factor);
/// "2.31x [2.25, 2.36]".
std::string ratioText(const Ratio &ratio);
/// "62.0%".
std::string percentText(double share);
/// Why a search stopped (search::StopReason by name), with details if there are
/// any: "the budget is used up: device time".
std::string stopText(const std::string &stop, const std::string &message);
/// "1 kernel", "2 kernels".
std::string countText(size_t count, const std::string &noun);
/// Ends in "..." if it does not fit.
std::string cutText(const std::string &text, size_t width);
/// Keeps both ends of a name that does not fit: "main_row..tion_12".
std::string cutName(const std::string &name, size_t width);
/// Breaks at blanks (a long word in itself); every line begins with `indent`
/// blanks and ends in a line break.
std::string wrapText(const std::string &text, size_t indent, size_t width);

/// Columns with a heading each. Numbers are aligned to the right.
class Table {
public:
  struct Column {
    std::string heading;
    bool right = false;
    /// If not 0, may be cut down to this width, as far as different cells stay
    /// different.
    size_t least = 0;
  };
  explicit Table(std::vector<Column> columns) : columns(std::move(columns)) {}

  /// `note` comes below the row, indented and wrapped; it may be empty.
  void add(std::vector<std::string> cells, std::string note = "");
  /// Every line is at most `width` long, if the columns can be cut to that.
  std::string render(size_t width) const;

private:
  std::vector<size_t> widths(size_t width) const;
  bool staysDistinct(size_t column, size_t width) const;

  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> notes;
};

} // namespace kernelbrain::report

#endif // KERNELBRAIN_LIB_REPORT_FORMAT_H
