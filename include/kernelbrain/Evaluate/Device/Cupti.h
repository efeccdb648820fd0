//===- Cupti.h - Hardware counters of an NVIDIA GPU -------------*- C++ -*-===//

#ifndef KERNELBRAIN_EVALUATE_DEVICE_CUPTI_H
#define KERNELBRAIN_EVALUATE_DEVICE_CUPTI_H

#include "kernelbrain/Evaluate/Device/CuptiApi.h"

#include "kernelbrain/Core/Profile.h"
#include "kernelbrain/Support/Result.h"

#include <functional>
#include <string>
#include <vector>

namespace kernelbrain::evaluate {

/// libcupti: the path in KB_CUPTI, else what the dynamic linker finds, else in
/// the usual folders of the CUDA toolkit.
class Cupti {
public:
  /// An error says why there are no counters: no library, or too old a one.
  static Result<Cupti> open();

  /// CUPTI's name of a device's chip ("GH100").
  Result<std::string> chipOf(int device) const;
  /// The metrics that a profile is made of, as far as `chip` has them. Needs no
  /// GPU.
  Result<std::vector<std::string>> metricsOf(const std::string &chip) const;
  /// How often a call has to run for these metrics. Needs no GPU.
  Result<int64_t> passes(const std::string &chip,
                         const std::vector<std::string> &metrics) const;
  /// Counts everything that `call` does in `context` (a CUcontext, current); a
  /// value a metric. `call` runs once a pass, must do the same each time and
  /// have finished when it returns; `prepare` precedes it, uncounted. An error
  /// where counters are refused, or for a status of `call` other than 0.
  Result<std::vector<double>> count(const std::string &chip,
                                    const std::vector<std::string> &metrics,
                                    void *context,
                                    const std::function<void()> &prepare,
                                    const std::function<int32_t()> &call) const;

private:
#define KB_CUPTI_MEMBER(member, symbol, parameters, last)                      \
  int (*member)(cupti::parameters *) = nullptr;
  KB_CUPTI_FUNCTIONS(KB_CUPTI_MEMBER)
#undef KB_CUPTI_MEMBER
  int (*resultString)(int, const char **) = nullptr;

  Status status(int result, const char *what) const;
  class HostObject;
  class RangeObject;
  Result<std::string> configure(const HostObject &host,
                                const std::vector<std::string> &metrics) const;
};

/// A profile from the values of the metrics of metricsOf().
Profile profileOf(const std::vector<std::string> &metrics,
                  const std::vector<double> &values);

} // namespace kernelbrain::evaluate

#endif // KERNELBRAIN_EVALUATE_DEVICE_CUPTI_H
