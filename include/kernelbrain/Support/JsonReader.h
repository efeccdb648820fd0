//===- JsonReader.h - Reads the members of an object ------------*- C++ -*-===//

#ifndef KERNELBRAIN_SUPPORT_JSONREADER_H
#define KERNELBRAIN_SUPPORT_JSONREADER_H

#include "kernelbrain/Support/Json.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kernelbrain {

/// Fills variables from the members of one object and keeps the first error, so
/// that a value type is read in one chain of calls:
///
///   JsonReader reader(json, "kernel");
///   reader.required("name", kernel.name).optional("flops", kernel.flops);
///   if (Status status = reader.status(); !status)
///     return status.error();
class JsonReader {
public:
  /// `what` starts the error text: "kernel: member 'name' is missing".
  JsonReader(const Json &object, std::string what);

  /// The member must be there and have the type of `value`.
  template <typename T> JsonReader &required(const std::string &key, T &value) {
    if (const Json *member = find(key, /*needed=*/true))
      take(key, *member, value);
    return *this;
  }
  /// An absent member leaves `value` alone; an ill-typed one is an error.
  template <typename T> JsonReader &optional(const std::string &key, T &value) {
    if (const Json *member = find(key, /*needed=*/false))
      take(key, *member, value);
    return *this;
  }
  /// The same with a function `Result<T> parse(const Json &)` for the member.
  template <typename T, typename Parse>
  JsonReader &required(const std::string &key, T &value, Parse parse) {
    if (const Json *member = find(key, /*needed=*/true))
      takeWith(key, *member, value, parse);
    return *this;
  }
  template <typename T, typename Parse>
  JsonReader &optional(const std::string &key, T &value, Parse parse) {
    if (const Json *member = find(key, /*needed=*/false))
      takeWith(key, *member, value, parse);
    return *this;
  }
  /// An array, each element by `Result<T> parse(const Json &)`.
  template <typename T, typename Parse>
  JsonReader &elements(const std::string &key, std::vector<T> &values,
                       Parse parse, bool needed = true) {
    const Json *member = find(key, needed);
    if (!member)
      return *this;
    if (!member->is_array()) {
      mismatch(key, "an array", *member);
      return *this;
    }
    values.clear();
    for (const Json &element : *member) {
      T value{};
      takeWith(key, element, value, parse);
      if (failure)
        return *this;
      values.push_back(std::move(value));
    }
    return *this;
  }
  /// Records an error of the caller's own, unless there is one already.
  void fail(const std::string &message);

  Status status() const;

private:
  const Json *find(const std::string &key, bool needed);
  void mismatch(const std::string &key, const char *expected,
                const Json &found);
  void take(const std::string &key, const Json &member, std::string &value);
  void take(const std::string &key, const Json &member, int64_t &value);
  void take(const std::string &key, const Json &member, uint64_t &value);
  void take(const std::string &key, const Json &member, int &value);
  void take(const std::string &key, const Json &member, double &value);
  void take(const std::string &key, const Json &member, bool &value);
  void take(const std::string &key, const Json &member, Json &value);
  void take(const std::string &key, const Json &member,
            std::vector<int64_t> &value);
  void take(const std::string &key, const Json &member,
            std::vector<std::string> &value);
  void take(const std::string &key, const Json &member,
            std::optional<double> &value);
  template <typename T, typename Parse>
  void takeWith(const std::string &key, const Json &member, T &value,
                Parse parse) {
    auto parsed = parse(member);
    if (!parsed)
      return fail("member '" + key + "': " + parsed.error().message);
    value = std::move(*parsed);
  }

  const Json &object;
  std::string what;
  std::optional<Error> failure;
};

} // namespace kernelbrain

#endif // KERNELBRAIN_SUPPORT_JSONREADER_H
