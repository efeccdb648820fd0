//===- Json.cpp - JSON without exceptions ---------------------------------===//

#include "kernelbrain/Support/Json.h"

#include "kernelbrain/Support/JsonReader.h"

#include <cmath>
#include <limits>

namespace kernelbrain {

Result<Json> parseJson(const std::string &text) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error &error) {
    return Error{"invalid JSON at byte " + std::to_string(error.byte)};
  } catch (const Json::exception &error) {
    return Error{std::string("invalid JSON: ") + error.what()};
  }
}

std::string dumpJson(const Json &value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json jsonNumber(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value > 0 ? "inf" : "-inf";
  return value;
}

static std::optional<double> asNumber(const Json &value) {
  if (value.is_number())
    return value.get<double>();
  if (!value.is_string())
    return std::nullopt;
  const std::string &text = value.get_ref<const std::string &>();
  if (text == "nan")
    return std::numeric_limits<double>::quiet_NaN();
  if (text == "inf")
    return std::numeric_limits<double>::infinity();
  if (text == "-inf")
    return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

static std::optional<int64_t> asInteger(const Json &value) {
  if (!value.is_number_integer())
    return std::nullopt;
  if (value.is_number_unsigned() &&
      value.get<uint64_t>() >
          static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    return std::nullopt;
  return value.get<int64_t>();
}

static std::string typeText(const std::string &key, const char *expected,
                            const Json &found) {
  return "member '" + key + "' must be " + expected + ", found " +
         found.type_name();
}

//===----------------------------------------------------------------------===//
// Typed members
//===----------------------------------------------------------------------===//

template <typename T>
static Result<T> getMember(const Json &object, const std::string &key) {
  JsonReader reader(object, "");
  T value{};
  reader.required(key, value);
  if (Status status = reader.status(); !status)
    return status.error();
  return value;
}

template <typename T>
static T getMemberOr(const Json &object, const std::string &key, T otherwise) {
  JsonReader reader(object, "");
  T value{};
  reader.required(key, value);
  return reader.status() ? value : otherwise;
}

Result<std::string> getString(const Json &object, const std::string &key) {
  return getMember<std::string>(object, key);
}
Result<int64_t> getInteger(const Json &object, const std::string &key) {
  return getMember<int64_t>(object, key);
}
Result<double> getNumber(const Json &object, const std::string &key) {
  return getMember<double>(object, key);
}
Result<bool> getBool(const Json &object, const std::string &key) {
  return getMember<bool>(object, key);
}

Result<Json> getArray(const Json &object, const std::string &key) {
  Result<Json> member = getMember<Json>(object, key);
  if (member && !member->is_array())
    return Error{typeText(key, "an array", *member)};
  return member;
}

Result<Json> getObject(const Json &object, const std::string &key) {
  Result<Json> member = getMember<Json>(object, key);
  if (member && !member->is_object())
    return Error{typeText(key, "an object", *member)};
  return member;
}

std::string getStringOr(const Json &object, const std::string &key,
                        std::string otherwise) {
  return getMemberOr(object, key, std::move(otherwise));
}
int64_t getIntegerOr(const Json &object, const std::string &key,
                     int64_t otherwise) {
  return getMemberOr(object, key, otherwise);
}
double getNumberOr(const Json &object, const std::string &key,
                   double otherwise) {
  return getMemberOr(object, key, otherwise);
}
bool getBoolOr(const Json &object, const std::string &key, bool otherwise) {
  return getMemberOr(object, key, otherwise);
}

//===----------------------------------------------------------------------===//
// JsonReader
//===----------------------------------------------------------------------===//

JsonReader::JsonReader(const Json &object, std::string what)
    : object(object), what(std::move(what)) {
  if (!object.is_object())
    fail(std::string("must be an object, found ") + object.type_name());
}

void JsonReader::fail(const std::string &message) {
  if (!failure)
    failure = Error{what.empty() ? message : what + ": " + message};
}

Status JsonReader::status() const {
  if (failure)
    return *failure;
  return {};
}

const Json *JsonReader::find(const std::string &key, bool needed) {
  if (failure)
    return nullptr;
  auto member = object.find(key);
  if (member != object.end())
    return &*member;
  if (needed)
    fail("member '" + key + "' is missing");
  return nullptr;
}

void JsonReader::mismatch(const std::string &key, const char *expected,
                          const Json &found) {
  fail(typeText(key, expected, found));
}

void JsonReader::take(const std::string &key, const Json &member,
                      std::string &value) {
  if (!member.is_string())
    return mismatch(key, "a string", member);
  value = member.get<std::string>();
}

void JsonReader::take(const std::string &key, const Json &member,
                      int64_t &value) {
  std::optional<int64_t> integer = asInteger(member);
  if (!integer)
    return mismatch(key, "a 64-bit integer", member);
  value = *integer;
}

void JsonReader::take(const std::string &key, const Json &member,
                      uint64_t &value) {
  std::optional<int64_t> integer = asInteger(member);
  if (member.is_number_unsigned())
    value = member.get<uint64_t>();
  else if (integer && *integer >= 0)
    value = static_cast<uint64_t>(*integer);
  else
    mismatch(key, "a non-negative integer", member);
}

void JsonReader::take(const std::string &key, const Json &member, int &value) {
  std::optional<int64_t> integer = asInteger(member);
  if (!integer || *integer < std::numeric_limits<int>::min() ||
      *integer > std::numeric_limits<int>::max())
    return mismatch(key, "a 32-bit integer", member);
  value = static_cast<int>(*integer);
}

void JsonReader::take(const std::string &key, const Json &member,
                      double &value) {
  std::optional<double> number = asNumber(member);
  if (!number)
    return mismatch(key, "a number", member);
  value = *number;
}

void JsonReader::take(const std::string &key, const Json &member, bool &value) {
  if (!member.is_boolean())
    return mismatch(key, "a boolean", member);
  value = member.get<bool>();
}

void JsonReader::take(const std::string &, const Json &member, Json &value) {
  value = member;
}

void JsonReader::take(const std::string &key, const Json &member,
                      std::vector<int64_t> &value) {
  if (!member.is_array())
    return mismatch(key, "an array of integers", member);
  value.clear();
  for (const Json &element : member) {
    int64_t integer = 0;
    take(key, element, integer);
    value.push_back(integer);
  }
}

void JsonReader::take(const std::string &key, const Json &member,
                      std::vector<std::string> &value) {
  if (!member.is_array())
    return mismatch(key, "an array of strings", member);
  value.clear();
  for (const Json &element : member) {
    std::string text;
    take(key, element, text);
    value.push_back(std::move(text));
  }
}

void JsonReader::take(const std::string &key, const Json &member,
                      std::optional<double> &value) {
  double number = 0;
  take(key, member, number);
  value = number;
}

} // namespace kernelbrain
