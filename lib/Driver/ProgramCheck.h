//===- ProgramCheck.h - Builds and runs whole programs ----------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_DRIVER_PROGRAMCHECK_H
#define KERNELBRAIN_LIB_DRIVER_PROGRAMCHECK_H

#include "Acceptance.h"

#include "kernelbrain/Core/Target.h"
#include "kernelbrain/Driver/SessionOptions.h"
#include "kernelbrain/Evaluate/Client/Worker.h"

#include <memory>
#include <string>
#include <vector>

namespace kernelbrain {

/// Compares programs with a baseline program: each is built by a fresh
/// kb-compile, as a user would, and run by a fresh worker.
class ProgramCheck {
public:
  /// Builds `baseline` (text or bytecode) and starts a worker.
  static Result<std::unique_ptr<ProgramCheck>>
  start(const SessionOptions &options, const Target &target,
        const std::string &baseline);
  ~ProgramCheck();

  /// Builds and runs `program`, and says how each public function did.
  Result<std::vector<FunctionVerdict>> compare(const std::string &program);

private:
  ProgramCheck() = default;
  Result<std::string> build(const std::string &name, const std::string &module);

  SessionOptions options;
  std::string compiler, folder, baselineObject;
  std::unique_ptr<evaluate::Worker> worker;
  int built = 0;
};

} // namespace kernelbrain

#endif // KERNELBRAIN_LIB_DRIVER_PROGRAMCHECK_H
