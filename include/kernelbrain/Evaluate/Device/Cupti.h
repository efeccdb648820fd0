//===- Cupti.h - Hardware counters of an NVIDIA GPU -------------*- C++ -*-===//

#ifndef KERNELBRAIN_EVALUATE_DEVICE_CUPTI_H
#define KERNELBRAIN_EVALUATE_DEVICE_CUPTI_H

#include "kernelbrain/Evaluate/Device/CuptiApi.h"

#include "kernelbrain/Core/Profile.h"
#include "kernelbrain/Support/Result.h"

#include <functional>
#include <memory>
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

private:
  friend class CounterSession;
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

/// Counters of one context (a CUcontext, which must be current), switched on
/// for as long as the session lives.
class CounterSession {
public:
  /// An error where counters are refused.
  static Result<std::unique_ptr<CounterSession>>
  open(const Cupti &cupti, const std::string &chip,
       const std::vector<std::string> &metrics, void *context);
  ~CounterSession();

  /// Counts everything that `call` does in the context; a value a metric.
  /// `call` runs once a pass, must do the same each time and have finished when
  /// it returns; `prepare` precedes it, uncounted. A status of `call` other
  /// than 0 is an error.
  Result<std::vector<double>> count(const std::function<void()> &prepare,
                                    const std::function<int32_t()> &call);

private:
  CounterSession(const Cupti &cupti, std::vector<std::string> metrics);

  Cupti api;
  std::vector<std::string> metrics;
  std::unique_ptr<Cupti::HostObject> host;
  std::unique_ptr<Cupti::RangeObject> range;
  std::string config;
};

/// A profile from the values of the metrics of metricsOf().
Profile profileOf(const std::vector<std::string> &metrics,
                  const std::vector<double> &values);

} // namespace kernelbrain::evaluate

#endif // KERNELBRAIN_EVALUATE_DEVICE_CUPTI_H
