//===- AttributeText.cpp - JSON as MLIR attributes ------------------------===//

#include "AttributeText.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace kernelbrain;
using namespace kernelbrain::store;

/// Deeper nesting is refused, because the parser is recursive.
static constexpr unsigned maxDepth = 64;

static bool isIdentifierStart(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
}
static bool isIdentifierPart(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' ||
         c == '.';
}
static int hexDigit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return -1;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// As MLIR prints strings: everything but printable ASCII is \XX.
static void printString(const std::string &value, std::string &out) {
  static const char digits[] = "0123456789ABCDEF";
  out += '"';
  for (unsigned char c : value) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c >= 0x20 && c < 0x7f && c != '"') {
      out += char(c);
    } else {
      out += '\\';
      out += digits[c >> 4];
      out += digits[c & 15];
    }
  }
  out += '"';
}

/// MLIR's grammar wants a point in every float, and 17 digits read back as the
/// same value.
static void printNumber(double value, std::string &out) {
  char digits[40];
  for (int precision : {6, 15, 16, 17}) {
    std::snprintf(digits, sizeof(digits), "%.*g", precision, value);
    if (std::strtod(digits, nullptr) == value)
      break;
  }
  std::string text = digits;
  if (text.find('.') == std::string::npos)
    text.insert(std::min(text.find('e'), text.size()), ".0");
  out += text + " : f64";
}

static bool isKeyword(const std::string &key) {
  static const char *const words[] = {"true", "false", "unit", "loc"};
  return std::find(std::begin(words), std::end(words), key) != std::end(words);
}

static void printObject(const Json &value, unsigned indent, std::string &out) {
  out += '{';
  bool first = true;
  for (const auto &item : value.items()) {
    out += first ? "\n" : ",\n";
    first = false;
    out.append(indent + 2, ' ');
    const std::string &key = item.key();
    if (!key.empty() && isIdentifierStart(key[0]) && !isKeyword(key) &&
        std::all_of(key.begin(), key.end(), isIdentifierPart))
      out += key;
    else
      printString(key, out);
    out += " = ";
    printAttribute(item.value(), indent + 2, out);
  }
  if (!first) {
    out += '\n';
    out.append(indent, ' ');
  }
  out += '}';
}

static void printArray(const Json &value, unsigned indent, std::string &out) {
  out += '[';
  bool first = true;
  for (const Json &element : value) {
    if (!first)
      out += ", ";
    first = false;
    printAttribute(element, indent, out);
  }
  out += ']';
}

void store::printAttribute(const Json &value, unsigned indent,
                           std::string &out) {
  switch (value.type()) {
  case Json::value_t::object:
    return printObject(value, indent, out);
  case Json::value_t::array:
    return printArray(value, indent, out);
  case Json::value_t::string:
    return printString(value.get_ref<const std::string &>(), out);
  case Json::value_t::boolean:
    out += value.get<bool>() ? "true" : "false";
    return;
  case Json::value_t::number_integer:
    out += std::to_string(value.get<int64_t>()) + " : i64";
    return;
  case Json::value_t::number_unsigned: {
    uint64_t number = value.get<uint64_t>();
    out += std::to_string(number) +
           (number > uint64_t(INT64_MAX) ? " : ui64" : " : i64");
    return;
  }
  case Json::value_t::number_float:
    // JSON has no infinities; they are null there as well.
    if (std::isfinite(value.get<double>()))
      return printNumber(value.get<double>(), out);
    [[fallthrough]];
  case Json::value_t::null:
  case Json::value_t::binary:
  case Json::value_t::discarded:
    out += "unit";
    return;
  }
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

void AttributeParser::skip() {
  while (position < text.size()) {
    if (std::isspace(static_cast<unsigned char>(text[position])))
      ++position;
    else if (text.compare(position, 2, "//") == 0)
      position = std::min(text.find('\n', position), text.size());
    else
      return;
  }
}

bool AttributeParser::atEnd() {
  skip();
  return position >= text.size();
}

unsigned AttributeParser::line() {
  skip();
  return 1 + unsigned(std::count(text.begin(), text.begin() + position, '\n'));
}

std::string AttributeParser::found() {
  if (atEnd())
    return "found the end";
  size_t end = position + 1;
  if (isIdentifierPart(text[position]))
    while (end < text.size() && isIdentifierPart(text[end]))
      ++end;
  return "found '" +
         text.substr(position, std::min<size_t>(end - position, 40)) + "'";
}

bool AttributeParser::consume(const std::string &token) {
  skip();
  if (text.compare(position, token.size(), token) != 0)
    return false;
  size_t end = position + token.size();
  // A word ends where the identifier does.
  if (isIdentifierPart(token.back()) && end < text.size() &&
      isIdentifierPart(text[end]))
    return false;
  position = end;
  return true;
}

Status AttributeParser::expect(const std::string &token) {
  if (consume(token))
    return {};
  return Error{"expected '" + token + "', " + found()};
}

std::string AttributeParser::identifier() {
  skip();
  if (position >= text.size() || !isIdentifierStart(text[position]))
    return "";
  size_t begin = position;
  while (position < text.size() && isIdentifierPart(text[position]))
    ++position;
  return text.substr(begin, position - begin);
}

Result<std::string> AttributeParser::symbol() {
  if (Status status = expect("@"); !status)
    return status.error();
  if (position < text.size() && text[position] == '"')
    return string();
  std::string name = identifier();
  if (name.empty())
    return Error{"expected a symbol name, " + found()};
  return name;
}

/// What follows a backslash.
Status AttributeParser::escape(std::string &value) {
  static const std::pair<char, char> letters[] = {
      {'\\', '\\'}, {'"', '"'}, {'n', '\n'}, {'t', '\t'}};
  // Hexadecimal digits have no letter in common with these.
  for (auto [letter, meaning] : letters)
    if (position < text.size() && text[position] == letter) {
      value += meaning;
      ++position;
      return {};
    }
  int high = position < text.size() ? hexDigit(text[position]) : -1;
  int low = position + 1 < text.size() ? hexDigit(text[position + 1]) : -1;
  if (high < 0 || low < 0)
    return Error{"expected an escape such as \\22 or \\n in a string"};
  value += char(high * 16 + low);
  position += 2;
  return {};
}

Result<std::string> AttributeParser::string() {
  if (Status status = expect("\""); !status)
    return status.error();
  std::string value;
  while (position < text.size() && text[position] != '\n') {
    char c = text[position++];
    if (c == '"')
      return value;
    if (c != '\\') {
      value += c;
      continue;
    }
    if (Status status = escape(value); !status)
      return status.error();
  }
  return Error{"expected '\"' at the end of a string"};
}

Result<Json> AttributeParser::dictionary() {
  if (Status status = expect("{"); !status)
    return status.error();
  Json object = Json::object();
  if (consume("}"))
    return object;
  do {
    skip();
    std::string key;
    if (position < text.size() && text[position] == '"') {
      Result<std::string> quoted = string();
      if (!quoted)
        return quoted.error();
      key = *quoted;
    } else if (key = identifier(); key.empty()) {
      return Error{"expected an attribute name, " + found()};
    }
    if (object.contains(key))
      return Error{"the attribute '" + key + "' occurs twice"};
    // A name alone is a unit attribute.
    Json value;
    if (consume("=")) {
      Result<Json> parsed = attribute();
      if (!parsed)
        return parsed.error();
      value = std::move(*parsed);
    }
    object[key] = std::move(value);
  } while (consume(","));
  if (Status status = expect("}"); !status)
    return status.error();
  return object;
}

Result<Json> AttributeParser::array() {
  if (Status status = expect("["); !status)
    return status.error();
  Json elements = Json::array();
  if (consume("]"))
    return elements;
  do {
    Result<Json> element = attribute();
    if (!element)
      return element.error();
    elements.push_back(std::move(*element));
  } while (consume(","));
  if (Status status = expect("]"); !status)
    return status.error();
  return elements;
}

Result<Json> AttributeParser::number() {
  size_t begin = position;
  auto digits = [&] {
    size_t first = position;
    while (position < text.size() &&
           std::isdigit(static_cast<unsigned char>(text[position])))
      ++position;
    return position > first;
  };
  if (text[position] == '-')
    ++position;
  if (!digits())
    return Error{"expected an attribute, " + found()};
  bool isFloat = position < text.size() && text[position] == '.';
  if (isFloat) {
    ++position;
    digits();
    size_t mantissa = position;
    if (position < text.size() && (text[position] | 32) == 'e') {
      ++position;
      if (position < text.size() &&
          (text[position] == '-' || text[position] == '+'))
        ++position;
      if (!digits())
        position = mantissa;
    }
  }
  std::string spelling = text.substr(begin, position - begin);
  std::string type = isFloat ? "f64" : "i64";
  if (consume(":"))
    type = identifier();
  errno = 0;
  if (isFloat && type == "f64") {
    double value = std::strtod(spelling.c_str(), nullptr);
    if (std::isfinite(value))
      return Json(value);
  } else if (!isFloat && type == "ui64" && spelling[0] != '-') {
    uint64_t value = std::strtoull(spelling.c_str(), nullptr, 10);
    if (!errno)
      return Json(value);
  } else if (!isFloat && type == "i64") {
    int64_t value = std::strtoll(spelling.c_str(), nullptr, 10);
    if (!errno)
      return Json(value);
  } else {
    return Error{"expected a number of type i64, ui64 or f64, found '" +
                 spelling + " : " + type + "'"};
  }
  return Error{"the number " + spelling + " does not fit in " + type};
}

Result<Json> AttributeParser::attribute() {
  if (atEnd())
    return Error{"expected an attribute, found the end"};
  char c = text[position];
  if (c == '{' || c == '[') {
    if (depth >= maxDepth)
      return Error{"attributes are nested too deeply"};
    ++depth;
    Result<Json> value = c == '{' ? dictionary() : array();
    --depth;
    return value;
  }
  if (c == '"') {
    Result<std::string> value = string();
    if (!value)
      return value.error();
    return Json(std::move(*value));
  }
  if (consume("true"))
    return Json(true);
  if (consume("false"))
    return Json(false);
  if (consume("unit"))
    return Json();
  return number();
}
