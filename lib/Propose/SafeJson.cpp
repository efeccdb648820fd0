//===- SafeJson.cpp - JSON and text from strangers ------------------------===//

#include "SafeJson.h"

namespace kernelbrain::propose {

Result<Json> parseForeignJson(const std::string &text) {
  constexpr int deepest = 64;
  int depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      if (c == '\\')
        ++i;
      inString = c != '"';
    } else if (c == '"') {
      inString = true;
    } else if (c == '{' || c == '[') {
      if (++depth > deepest)
        return Error{"JSON nested deeper than " + std::to_string(deepest)};
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return parseJson(text);
}

std::string shortText(const std::string &text) {
  constexpr size_t longest = 200;
  std::string out;
  for (unsigned char c : text) {
    if (out.size() == longest)
      return out + "...";
    if (c >= 0x20 && c < 0x7f)
      out += static_cast<char>(c);
    else if ((c & 0xc0) != 0x80 && (out.empty() || out.back() != ' '))
      out += ' ';
  }
  return out;
}

} // namespace kernelbrain::propose
