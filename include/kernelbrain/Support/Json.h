//===- Json.h - JSON without exceptions -------------------------*- C++ -*-===//
//
// Parsing and typed access over nlohmann/json that return Result. Objects keep
// their keys sorted, so a dumped value is canonical.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_SUPPORT_JSON_H
#define KERNELBRAIN_SUPPORT_JSON_H

#include "kernelbrain/Support/Result.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace kernelbrain {

using Json = nlohmann::json;

/// Parses `text`; the error names the byte where parsing stopped.
Result<Json> parseJson(const std::string &text);

/// Dumps `value` on one line; invalid UTF-8 is replaced, never an error.
std::string dumpJson(const Json &value);

/// A number that survives a dump: JSON has no infinities and no NaN, so these
/// become the strings "inf", "-inf" and "nan", which getNumber reads again.
Json jsonNumber(double value);

/// Typed members of an object. The error names the key, the type that was
/// expected and the type that was found.
Result<std::string> getString(const Json &object, const std::string &key);
Result<int64_t> getInteger(const Json &object, const std::string &key);
Result<double> getNumber(const Json &object, const std::string &key);
Result<bool> getBool(const Json &object, const std::string &key);
Result<Json> getArray(const Json &object, const std::string &key);
Result<Json> getObject(const Json &object, const std::string &key);

/// The same with a value for an absent or ill-typed member.
std::string getStringOr(const Json &object, const std::string &key,
                        std::string otherwise);
int64_t getIntegerOr(const Json &object, const std::string &key,
                     int64_t otherwise);
double getNumberOr(const Json &object, const std::string &key,
                   double otherwise);
bool getBoolOr(const Json &object, const std::string &key, bool otherwise);

} // namespace kernelbrain

#endif // KERNELBRAIN_SUPPORT_JSON_H
