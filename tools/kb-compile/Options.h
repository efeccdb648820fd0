//===- Options.h - The command line of kb-compile ---------------*- C++ -*-===//
//
// LLVM's command-line library has global state that lld shares in this process,
// so options are read here.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_TOOLS_KBCOMPILE_OPTIONS_H
#define KERNELBRAIN_TOOLS_KBCOMPILE_OPTIONS_H

#include "kernelbrain/Compile/HostTarget.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kernelbrain::tool {

/// Words of a command line: `--name=value`, `--name` (value empty), `-o value`,
/// and positional ones.
class Options {
public:
  /// The error names the first option that is not in `known`.
  static Result<Options> parse(int argc, char **argv,
                               const std::vector<std::string> &known);
  bool has(const std::string &name) const { return named.count(name) != 0; }
  std::string get(const std::string &name, std::string otherwise = "") const;
  /// A whole number of at least `least`.
  Result<int64_t> getInteger(const std::string &name, int64_t otherwise,
                             int64_t least) const;
  /// A number of bytes such as 512M or 4G.
  Result<uint64_t> getBytes(const std::string &name, uint64_t otherwise) const;
  const std::vector<std::string> &positional() const { return words; }

private:
  std::map<std::string, std::string> named;
  std::vector<std::string> words;
};

/// What `--target=host|cuda`, `--chip=` (of a GPU), `--gpu=` (a GPU as it was
/// found, in JSON: Core/Target.h) and `--target-cpu=` (of the host) say.
Result<Target> readTarget(const Options &options);

/// Modes of the tool; each returns the exit status.
int serveMain(int argc, char **argv);
int emitMain(int argc, char **argv);
int aotMain(int argc, char **argv);

/// Prints "kb-compile: error: ..." and returns 1.
int reportError(const std::string &message);

} // namespace kernelbrain::tool

#endif // KERNELBRAIN_TOOLS_KBCOMPILE_OPTIONS_H
