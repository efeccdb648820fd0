//===- EmulatedCuda.h - What tests see of the emulated driver ---*- C++ -*-===//
//
// libcuda.so.1 as far as KernelBrain calls it, for machines without a GPU:
// device memory is host memory, device code runs on the host's CPU
// (Runtime/Emulator.h). Work is done when it is asked for; streams have no
// meaning. Events tell the time of a model, in which a launch costs 4 us, each
// turn of a thread 50 ps and all else nothing. KB_EMULATED_DEVICES says how
// many devices there are (1).
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_UNITTESTS_RUNTIME_EMULATEDCUDA_H
#define KERNELBRAIN_UNITTESTS_RUNTIME_EMULATEDCUDA_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

struct EmulatedCuda {
  bool counts = false;                ///< calls are noted
  std::vector<std::string> calls;     ///< names without `cu`, in order
  std::map<std::string, int> results; ///< what a call returns; 0 unless given
  /// Threads have no context until CtxSetCurrent.
  bool needsContext = true;
  unsigned grid[3] = {}, cluster[3] = {}, sharedBytes = 0;
  void *stream = nullptr;
  /// Of the last KernelSetAttribute and FuncSetAttribute.
  int attribute = 0, attributeValue = 0;
  std::vector<uint64_t> extents, strides; ///< of the last tensor map
  int numDevices = 1;
};

/// The driver's state; a test sets it anew.
extern "C" EmulatedCuda *emulatedCuda();

#endif // KERNELBRAIN_UNITTESTS_RUNTIME_EMULATEDCUDA_H
