//===- Options.cpp - The command line of kb-compile -----------------------===//

#include "Options.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace llvm;

namespace kernelbrain::tool {

Result<Options> Options::parse(int argc, char **argv,
                               const std::vector<std::string> &known) {
  Options options;
  for (int index = 1; index < argc; ++index) {
    StringRef word(argv[index]);
    if (word == "-" || !word.starts_with("-")) {
      options.words.push_back(word.str());
      continue;
    }
    if (word == "-o") {
      if (++index == argc)
        return Error{"expected a file after '-o'"};
      options.named["o"] = argv[index];
      continue;
    }
    auto [name, value] = word.ltrim('-').split('=');
    if (std::find(known.begin(), known.end(), name.str()) == known.end())
      return Error{"unknown option '" + word.str() + "'"};
    options.named[name.str()] = value.str();
  }
  return options;
}

std::string Options::get(const std::string &name, std::string otherwise) const {
  auto found = named.find(name);
  return found == named.end() ? otherwise : found->second;
}

Result<int64_t> Options::getInteger(const std::string &name, int64_t otherwise,
                                    int64_t least) const {
  if (!has(name))
    return otherwise;
  int64_t value;
  if (!to_integer(StringRef(get(name)), value, 10) || value < least)
    return Error{"expected a whole number of at least " +
                 std::to_string(least) + " for '--" + name + "', found '" +
                 get(name) + "'"};
  return value;
}

Result<uint64_t> Options::getBytes(const std::string &name,
                                   uint64_t otherwise) const {
  if (!has(name))
    return otherwise;
  std::string text = get(name);
  StringRef digits(text);
  unsigned shift = digits.consume_back("G")   ? 30
                   : digits.consume_back("M") ? 20
                   : digits.consume_back("K") ? 10
                                              : 0;
  uint64_t value;
  if (!to_integer(digits, value, 10) || value == 0 || value >> (63 - shift))
    return Error{"expected a size such as 512M or 4G for '--" + name +
                 "', found '" + text + "'"};
  return value << shift;
}

Result<Target> readTarget(const Options &options) {
  std::string kind = options.get("target", "host");
  if (kind == "cuda" && options.has("gpu")) {
    auto json = parseJson(options.get("gpu"));
    auto target = json ? targetFromJson(*json) : json.error();
    if (!target)
      return target.error().withContext("'--gpu'");
    if (!target->isCuda())
      return Error{"'--gpu' is no NVIDIA GPU"};
    return target;
  }
  if (kind == "cuda")
    return makeCudaTarget(options.get("chip"));
  if (kind != "host")
    return Error{"unknown target '" + kind + "' (one of host, cuda)"};
  if (options.has("chip"))
    return Error{"'--chip' is for '--target=cuda'"};
  return compile::makeTarget(options.get("target-cpu"));
}

int reportError(const std::string &message) {
  errs() << "kb-compile: error: " << message << "\n";
  return 1;
}

} // namespace kernelbrain::tool
