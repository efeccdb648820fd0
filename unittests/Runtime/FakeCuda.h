//===- FakeCuda.h - A driver that does nothing and counts -------*- C++ -*-===//

#ifndef KERNELBRAIN_UNITTESTS_RUNTIME_FAKECUDA_H
#define KERNELBRAIN_UNITTESTS_RUNTIME_FAKECUDA_H

#include <map>
#include <string>
#include <vector>

struct FakeCuda {
  std::vector<std::string> calls;     ///< names without `cu`, in order
  std::map<std::string, int> results; ///< what a call returns; 0 unless given
  /// Threads have no context until CtxSetCurrent.
  bool needsContext = false;
  unsigned grid[3] = {}, cluster[3] = {}, sharedBytes = 0;
  void *stream = nullptr;
  /// Of the last KernelSetAttribute and FuncSetAttribute.
  int attribute = 0, attributeValue = 0;
  std::vector<uint64_t> extents, strides; ///< of the last tensor map
  int numDevices = 1;
};

/// The driver's state; a test sets it anew.
extern "C" FakeCuda *fakeCuda();

#endif // KERNELBRAIN_UNITTESTS_RUNTIME_FAKECUDA_H
