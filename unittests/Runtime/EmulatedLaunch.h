//===- EmulatedLaunch.h - Device code on the host's CPU ---------*- C++ -*-===//

#ifndef KERNELBRAIN_UNITTESTS_RUNTIME_EMULATEDLAUNCH_H
#define KERNELBRAIN_UNITTESTS_RUNTIME_EMULATEDLAUNCH_H

#include "kernelbrain/Runtime/Emulator.h"

#include <cstddef>

namespace kernelbrain::emulator {

using Kernel = void (*)(void **parameters);

struct Launch {
  Kernel kernel = nullptr;
  void **parameters = nullptr;
  unsigned grid[3] = {}, block[3] = {};
  size_t sharedBytes = 0;
};

struct LaunchResult {
  /// A CUresult: 0, 700 (a thread touched memory that is not mapped) or 719 (a
  /// trap, an illegal instruction, threads that wait for each other for ever).
  int code = 0;
  /// Turns that threads took: one each, and one after each barrier that it
  /// waited at and each shuffle.
  int64_t turns = 0;
};

/// What device code calls while runLaunch() runs it.
extern const KbEmulator table;

/// Runs the blocks of a launch one after another, each thread as a fiber of the
/// calling thread. One launch at a time in a process.
LaunchResult runLaunch(const Launch &launch);

} // namespace kernelbrain::emulator

#endif // KERNELBRAIN_UNITTESTS_RUNTIME_EMULATEDLAUNCH_H
