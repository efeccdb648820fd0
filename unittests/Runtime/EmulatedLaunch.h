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
  /// Divides the grid.
  unsigned cluster[3] = {1, 1, 1};
  /// Of shared memory; static memory in a multiple of 128.
  size_t staticBytes = 0, sharedBytes = 0;
};

struct LaunchResult {
  /// A CUresult: 0, 2 (no memory for stacks), 700 (a thread touched memory that
  /// is not mapped) or 719 (a trap, an illegal instruction, threads that wait
  /// for each other for ever, a cluster's barrier in the wrong order).
  int code = 0;
  /// Turns that threads took: one each, and one after each barrier that it
  /// waited at and each shuffle.
  int64_t turns = 0;
};

/// What device code calls while runLaunch() runs it.
extern const KbEmulator table;

/// What the driver says of a launch's shape: 0, 1 (a number is out of range) or
/// 912 (a cluster of more than 8 blocks, that does not divide the grid, or that
/// is not what the kernel needs).
int checkLaunch(const Launch &launch, const KbEmulatorNeeds &needs,
                size_t mostSharedBytes);

/// Runs the clusters of a launch one after another, each thread as a fiber of
/// the calling thread. One launch at a time in a process.
LaunchResult runLaunch(const Launch &launch);

} // namespace kernelbrain::emulator

#endif // KERNELBRAIN_UNITTESTS_RUNTIME_EMULATEDLAUNCH_H
