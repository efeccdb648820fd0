//===- AttributeText.h - JSON as MLIR attributes ----------------*- C++ -*-===//
//
// objects <-> {key = value}, arrays <-> [value], strings <-> "text", booleans,
// integers <-> 1 : i64, numbers <-> 1.5 : f64, null <-> unit.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_LIB_STORE_ATTRIBUTETEXT_H
#define KERNELBRAIN_LIB_STORE_ATTRIBUTETEXT_H

#include "kernelbrain/Support/Json.h"

#include <string>

namespace kernelbrain::store {

/// Appends `value` as an attribute. Objects are laid out over several lines;
/// `indent` is the column of the line that it begins on.
void printAttribute(const Json &value, unsigned indent, std::string &out);

/// Reads the subset of MLIR's syntax that a tuning spec is made of.
class AttributeParser {
public:
  explicit AttributeParser(const std::string &text) : text(text) {}

  /// Skips blanks and comments; then consumes `token` if it is next.
  bool consume(const std::string &token);
  /// The same, an error if it is not next.
  Status expect(const std::string &token);
  /// A bare identifier; empty if there is none.
  std::string identifier();
  /// The name of `@name` or `@"name"`.
  Result<std::string> symbol();
  Result<Json> attribute();
  /// `{key = value, ...}`.
  Result<Json> dictionary();
  bool atEnd();
  /// Counted from 1, of what is next.
  unsigned line();
  /// "found 'x'" or "found the end": for errors.
  std::string found();

private:
  void skip();
  Result<std::string> string();
  Result<Json> array();
  Result<Json> number();
  Status escape(std::string &value);

  const std::string &text;
  size_t position = 0;
  unsigned depth = 0;
};

} // namespace kernelbrain::store

#endif // KERNELBRAIN_LIB_STORE_ATTRIBUTETEXT_H
