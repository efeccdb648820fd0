//===- RunnerCalls.h - Calling code in the runner ---------------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_EVALUATE_DEVICE_RUNNERCALLS_H
#define KERNELBRAIN_LIB_EVALUATE_DEVICE_RUNNERCALLS_H

#include "kernelbrain/Support/Json.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace kernelbrain::evaluate {

/// One call of loaded code; returns its status (0: ok).
using Call = std::function<int32_t()>;

/// Wall time, CPU time of this thread and minor page faults of `count` calls.
struct Sample {
  int64_t wallNs = 0, cpuNs = 0, faults = 0;
  int32_t status = 0;
};
Sample measure(const Call &call, int64_t count);

/// Times two calls in pairs of random order, each timed batch after an untimed
/// call of the same one, with one of them timed once more as a control.
/// `request` holds `pairs`, `batches` (0: calibrate), `control` and `seed`.
/// The reply is `timed`, or `ran` for the first call with a bad status.
Json timePairs(const Json &request, const Call calls[2]);

/// The reply to `run`.
Json ran(const Sample &sample, int signal);

/// The reply to a request that could not be carried out.
Json failed(const std::string &reason);

/// A run that may abort, in a child whose end is told.
Json runInChild(const Call &call);

class CudaDevice;
/// Runs a kernel on a GPU: arguments and guard zones are copied in before and
/// out after it, as `request` says.
Json runOnDevice(const Json &request, const Call &call, CudaDevice &device);
/// Copies inputs, if they are `fresh`, and guard zones of a call to the device,
/// and poisons outputs there; returns a status.
int32_t sendArguments(const Json &request, CudaDevice &device);
/// Copies the arguments of a call out.
Json fetchArguments(const Json &request, CudaDevice &device);
/// As timePairs(), on a GPU: by its own clock, one call a sample, the
/// second-level cache flushed before each. A round is enqueued as a whole, so
/// that the device does not wait for the host.
Json timePairsOnDevice(const Json &request, const Call calls[2],
                       CudaDevice &device);

/// A call of a program's function `address` over memref descriptors, as
/// described by `arguments` and `results` of `request`.
class ProgramCall {
public:
  static Result<ProgramCall> create(const Json &request, void *address,
                                    char *base, int64_t bytes);
  /// Calls and releases what was returned, unless `keep`.
  int32_t call(bool keep);
  /// After call(true): copies the results densely to [area, area + room) of
  /// the shared buffers, releases them, and describes them.
  Result<Json> takeResults(char *base, int64_t area, int64_t room);

private:
  struct Value {
    bool isScalar = false, isFloat = false;
    int64_t elementBytes = 0;
    int64_t rank = 0;
    size_t at = 0; ///< position in its storage
  };
  void addResult(const Value &result);
  void releaseResults();

  void *address = nullptr;
  std::vector<int64_t> descriptors; ///< storage of the arguments' descriptors
  std::vector<Value> results;
  std::vector<char> resultStruct;
  bool returnsScalar = false;
  std::vector<int64_t> words; ///< integer and pointer arguments; see call()
  std::vector<size_t> descriptorWords; ///< words that point into descriptors
  std::vector<double> floats;
  char *begin = nullptr, *end = nullptr; ///< the shared buffers
};

} // namespace kernelbrain::evaluate

#endif // KERNELBRAIN_LIB_EVALUATE_DEVICE_RUNNERCALLS_H
