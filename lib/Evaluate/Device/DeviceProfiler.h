//===- DeviceProfiler.h - Counters of calls in the runner -------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_EVALUATE_DEVICE_DEVICEPROFILER_H
#define KERNELBRAIN_LIB_EVALUATE_DEVICE_DEVICEPROFILER_H

#include "CudaDevice.h"
#include "RunnerCalls.h"

#include "kernelbrain/Evaluate/Device/Cupti.h"

namespace kernelbrain::evaluate {

/// Reads the counters of one GPU.
class DeviceProfiler {
public:
  /// Loads and switches on what profile() needs, before the sandbox forbids it,
  /// in the current context. What is missing is said by profile().
  static DeviceProfiler open(int ordinal);

  /// Counts one call of a kernel, with a cold second-level cache; `request` has
  /// the members of `run` (Runner.h). The profile says why there are no
  /// counters; an error is the call's.
  Result<Profile> profile(const Json &request, const Call &call,
                          CudaDevice &device);

private:
  struct Ready {
    std::vector<std::string> metrics;
    std::unique_ptr<CounterSession> session;
  };
  static Result<Ready> prepare(int ordinal);
  explicit DeviceProfiler(Result<Ready> ready) : ready(std::move(ready)) {}

  Result<Ready> ready;
};

} // namespace kernelbrain::evaluate

#endif // KERNELBRAIN_LIB_EVALUATE_DEVICE_DEVICEPROFILER_H
