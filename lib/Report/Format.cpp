//===- Format.cpp - Numbers, words and tables for people ------------------===//

#include "Format.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

using namespace kernelbrain;
using namespace kernelbrain::report;

static std::string print(const char *format, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), format, value);
  return buffer;
}

std::string report::plainText(const std::string &text) {
  std::string plain;
  for (unsigned char c : text) {
    if (c == '\n' || c == '\t' || c == '\r')
      plain += ' ';
    else if (c >= 0x20 && c < 0x7f)
      plain += char(c);
    else if ((c & 0xc0) != 0x80) // one '?' for a whole UTF-8 character
      plain += '?';
  }
  return plain;
}

std::string report::timeText(double nanoseconds) {
  if (!(nanoseconds > 0) || !std::isfinite(nanoseconds))
    return "-";
  static const char *const units[] = {"ns", "us", "ms", "s"};
  size_t unit = 0;
  double value = nanoseconds;
  // 999.5 would be printed as 1000.
  while (value >= 999.5 && unit < 3) {
    value /= 1000;
    ++unit;
  }
  const char *format = value < 9.995   ? "%.2f "
                       : value < 99.95 ? "%.1f "
                                       : "%.0f ";
  return print(format, value) + units[unit];
}

std::string report::factorText(double factor) {
  return print(factor < 99.5 ? "%.2fx" : "%.0fx", factor);
}

std::string report::ratioText(const Ratio &ratio) {
  return factorText(ratio.middle) + print(" [%.2f", ratio.low) +
         print(", %.2f]", ratio.high);
}

std::string report::percentText(double share) {
  return print("%.1f%%", share * 100);
}

std::string report::stopText(const std::string &stop,
                             const std::string &message) {
  static const std::pair<const char *, const char *> texts[] = {
      {"no_strategy", "no strategy applies"},
      {"skipped", "skipped"},
      {"exhausted", "nothing is left to try"},
      {"budget", "the budget is used up"},
      {"bound", "the bound is reached"},
      {"plateau", "no more gain was found"},
      {"default_only", "too small a share of the program to search"},
      {"interrupted", "interrupted"},
      {"failed", "the run failed"},
  };
  std::string text = stop;
  for (auto [name, words] : texts)
    if (stop == name)
      text = words;
  if (message.empty())
    return text;
  // What was skipped says why by itself.
  return text.empty() || stop == "skipped" ? message : text + ": " + message;
}

std::string report::countText(size_t count, const std::string &noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string report::cutText(const std::string &text, size_t width) {
  if (text.size() <= width)
    return text;
  return width <= 3 ? text.substr(0, width) : text.substr(0, width - 3) + "...";
}

std::string report::wrapText(const std::string &text, size_t indent,
                             size_t width) {
  size_t room = width > indent + 8 ? width - indent : 8;
  std::string out;
  size_t position = text.find_first_not_of(' ');
  while (position < text.size()) {
    size_t end = std::min(position + room, text.size());
    if (end < text.size() && text[end] != ' ') {
      size_t blank = text.rfind(' ', end);
      if (blank != std::string::npos && blank > position)
        end = blank;
    }
    size_t last = text.find_last_not_of(' ', end - 1);
    out += std::string(indent, ' ') +
           text.substr(position, last + 1 - position) + "\n";
    position = text.find_first_not_of(' ', end);
  }
  return out;
}

void Table::add(std::vector<std::string> cells, std::string note) {
  for (std::string &cell : cells)
    cell = plainText(cell);
  rows.push_back(std::move(cells));
  notes.push_back(plainText(note));
}

std::string report::cutName(const std::string &name, size_t width) {
  if (name.size() <= width || width < 5)
    return cutText(name, width);
  size_t tail = (width - 2) / 2;
  return name.substr(0, width - 2 - tail) + ".." +
         name.substr(name.size() - tail);
}

/// True if column `i` can be cut to `width` without two different cells looking
/// alike.
bool Table::staysDistinct(size_t i, size_t width) const {
  std::set<std::string> whole, cut;
  for (const std::vector<std::string> &row : rows) {
    whole.insert(row[i]);
    cut.insert(cutName(row[i], width));
  }
  return cut.size() == whole.size();
}

/// The widths of the content, the widest column that may be cut being cut until
/// all of them fit.
std::vector<size_t> Table::widths(size_t width) const {
  std::vector<size_t> result;
  size_t total = 2 * (columns.size() - 1);
  for (size_t i = 0; i < columns.size(); ++i) {
    size_t widest = columns[i].heading.size();
    for (const std::vector<std::string> &row : rows)
      widest = std::max(widest, row[i].size());
    result.push_back(widest);
    total += widest;
  }
  while (total > width) {
    size_t widest = columns.size();
    for (size_t i = 0; i < columns.size(); ++i)
      if (columns[i].least && result[i] > columns[i].least &&
          (widest == columns.size() || result[i] > result[widest]) &&
          staysDistinct(i, result[i] - 1))
        widest = i;
    if (widest == columns.size())
      break;
    --result[widest];
    --total;
  }
  return result;
}

std::string Table::render(size_t width) const {
  std::vector<size_t> sizes = widths(width);
  std::string out;
  auto line = [&](auto cellAt) {
    std::string text;
    for (size_t i = 0; i < columns.size(); ++i) {
      std::string cell = cutName(cellAt(i), sizes[i]);
      std::string blanks(sizes[i] - cell.size(), ' ');
      text += i ? "  " : "";
      text += columns[i].right ? blanks + cell : cell + blanks;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  };
  line([&](size_t i) { return columns[i].heading; });
  for (size_t row = 0; row < rows.size(); ++row) {
    line([&](size_t i) { return rows[row][i]; });
    out += wrapText(notes[row], 4, width);
  }
  return out;
}
