//===- ProgramCheck.h - Builds and runs whole programs ----------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_DRIVER_PROGRAMCHECK_H
#define KERNELBRAIN_LIB_DRIVER_PROGRAMCHECK_H

#include "Acceptance.h"

#include "kernelbrain/Driver/SessionOptions.h"
#include "kernelbrain/Evaluate/Client/Worker.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace kernelbrain {

/// Compares programs with a baseline program: each is built by a fresh
/// kb-compile, as a user would, and run by a fresh worker.
class ProgramCheck {
public:
  /// Finds the tools and makes a temporary folder in `parent`. Once
  /// `isCancelled` says so, children are killed and errors returned.
  static Result<std::unique_ptr<ProgramCheck>>
  start(const SessionOptions &options, const std::string &parent,
        std::function<bool()> isCancelled);
  ~ProgramCheck();

  /// Builds the program to compare with, text or bytecode. Returns why there is
  /// nothing to compare with: kb-compile cannot compile it. Empty: there is.
  Result<std::string> setBaseline(const std::string &program);

  /// Builds and runs `program`, and says how each public function did. All of
  /// `functions` are `build_failed` if kb-compile cannot compile it.
  Result<std::vector<FunctionVerdict>>
  compare(const std::string &program, const std::set<std::string> &functions);
  /// Why the last compare() could not compare anything: the baseline cannot be
  /// loaded. Empty: it could.
  const std::string &unusable() const { return whyUnusable; }

private:
  ProgramCheck() = default;
  /// Compiles with `flags`; `why` says why it failed. An error is ours.
  Result<std::string> build(const std::string &name, const std::string &module,
                            const std::vector<std::string> &flags,
                            std::string &why);
  /// Asks the worker. What it rejects is asked again with a reference in double
  /// precision, which is built the first time it is needed.
  Result<evaluate::ProgramReply> ask(evaluate::ProgramRequest request);

  SessionOptions options;
  std::function<bool()> isCancelled;
  std::string compiler, folder, baselineObject, whyUnusable;
  std::string baselineProgram; ///< until the reference is built from it
  std::string referenceObject; ///< empty: not built, or cannot be
  std::unique_ptr<evaluate::Worker> worker;
  int built = 0;
};

} // namespace kernelbrain

#endif // KERNELBRAIN_LIB_DRIVER_PROGRAMCHECK_H
