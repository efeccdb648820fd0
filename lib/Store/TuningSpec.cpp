//===- TuningSpec.cpp - Tuning entries as text ----------------------------===//

#include "kernelbrain/Store/TuningSpec.h"

#include "AttributeText.h"
#include "kernelbrain/Support/File.h"

#include <algorithm>

using namespace kernelbrain;
using namespace kernelbrain::store;

std::string store::printTuningSpec(const std::vector<TuningEntry> &entries) {
  std::string out = "// Tuned by KernelBrain. Read by kb-apply; entries may be "
                    "removed by hand.\n"
                    "module @kb.tuning_spec attributes {kb.spec_version = " +
                    std::to_string(tuningSpecVersion) + " : i64} {\n";
  for (size_t i = 0; i < entries.size(); ++i) {
    out += "  module @entry_" + std::to_string(i) + " attributes {kb.entry = ";
    printAttribute(store::toJson(entries[i]), 2, out);
    out += "} {\n  }\n";
  }
  return out + "}\n";
}

namespace {
/// Reads the two levels of modules.
class SpecParser {
public:
  SpecParser(const std::string &text, const std::string &name)
      : parser(text), name(name) {}

  Result<std::vector<TuningEntry>> parse() {
    std::vector<TuningEntry> entries;
    Result<Json> attributes = header();
    if (!attributes)
      return attributes.error();
    if (Status status = checkVersion(*attributes); !status)
      return status.error();
    while (!parser.consume("}")) {
      unsigned line = parser.line();
      Result<TuningEntry> entry = parseEntry(line);
      if (!entry)
        return entry.error();
      entries.push_back(std::move(*entry));
    }
    if (!parser.atEnd())
      return here("expected the end, " + parser.found());
    return entries;
  }

private:
  Error at(unsigned line, const std::string &message) {
    return Error{name + ":" + std::to_string(line) + ": " + message};
  }
  Error here(const std::string &message) { return at(parser.line(), message); }

  /// `module @name attributes {...} {`.
  Result<Json> header() {
    if (!parser.consume("builtin.module"))
      if (Status status = parser.expect("module"); !status)
        return here(status.error().message);
    if (Result<std::string> symbol = parser.symbol(); !symbol)
      return here(symbol.error().message);
    if (Status status = parser.expect("attributes"); !status)
      return here(status.error().message);
    Result<Json> attributes = parser.dictionary();
    if (!attributes)
      return here(attributes.error().message);
    if (Status status = parser.expect("{"); !status)
      return here(status.error().message);
    return attributes;
  }

  Status checkVersion(const Json &attributes) {
    Result<int64_t> version = getInteger(attributes, "kb.spec_version");
    if (!version)
      return at(1, "not a tuning spec: " + version.error().message);
    if (*version != tuningSpecVersion)
      return at(1, "the tuning spec has version " + std::to_string(*version) +
                       ", expected " + std::to_string(tuningSpecVersion));
    return {};
  }

  Result<TuningEntry> parseEntry(unsigned line) {
    Result<Json> attributes = header();
    if (!attributes)
      return attributes.error();
    if (Status status = parser.expect("}"); !status)
      return here(status.error().message);
    Result<Json> json = getObject(*attributes, "kb.entry");
    if (!json)
      return at(line, json.error().message);
    Result<TuningEntry> entry = tuningEntryFromJson(*json);
    if (!entry)
      return at(line, entry.error().message);
    return entry;
  }

  AttributeParser parser;
  const std::string &name;
};
} // namespace

Result<std::vector<TuningEntry>>
store::parseTuningSpec(const std::string &text, const std::string &name) {
  return SpecParser(text, name).parse();
}

Result<size_t> store::exportSpec(const TuningDatabase &database,
                                 const std::string &path, bool unproven) {
  Result<std::vector<TuningEntry>> entries = database.list();
  if (!entries)
    return entries.error();
  if (!unproven)
    entries->erase(
        std::remove_if(entries->begin(), entries->end(),
                       [](const TuningEntry &entry) { return !entry.proven; }),
        entries->end());
  if (Status status = writeFileAtomically(path, printTuningSpec(*entries));
      !status)
    return status.error();
  return entries->size();
}

Result<size_t> store::importSpec(TuningDatabase &database,
                                 const std::string &path) {
  Result<std::string> text = readFile(path);
  if (!text)
    return text.error();
  Result<std::vector<TuningEntry>> entries = parseTuningSpec(*text, path);
  if (!entries)
    return entries.error();
  if (Status status = database.record(*entries); !status)
    return status.error();
  return entries->size();
}
