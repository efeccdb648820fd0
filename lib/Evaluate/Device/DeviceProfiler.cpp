//===- DeviceProfiler.cpp - Counters of calls in the runner ---------------===//

#include "DeviceProfiler.h"

namespace kernelbrain::evaluate {

Result<DeviceProfiler::Ready> DeviceProfiler::prepare(int ordinal) {
  Result<Cupti> cupti = Cupti::open();
  if (!cupti)
    return cupti.error();
  Result<std::string> chip = cupti->chipOf(ordinal);
  if (!chip)
    return chip.error();
  Result<std::vector<std::string>> metrics = cupti->metricsOf(*chip);
  if (!metrics)
    return metrics.error();
  cuda::Result status = cuda::Success;
  const cuda::Driver *driver = cuda::driver(status);
  void *context = nullptr;
  if (!driver || driver->CtxGetCurrent(&context))
    return Error{"there is no context"};
  Result<std::unique_ptr<CounterSession>> session =
      CounterSession::open(*cupti, *chip, *metrics, context);
  if (!session)
    return session.error();
  // CUPTI loads the rest of itself, and starts threads, when it counts first.
  Result<std::vector<double>> nothing =
      (*session)->count([] {}, [] { return 0; });
  if (!nothing)
    return nothing.error();
  return Ready{*metrics, std::move(*session)};
}

DeviceProfiler DeviceProfiler::open(int ordinal) {
  return DeviceProfiler(prepare(ordinal));
}

Result<Profile> DeviceProfiler::profile(const Json &request, const Call &call,
                                        CudaDevice &device) {
  Profile refused;
  if (!ready) {
    refused.refused = ready.error().message;
    return refused;
  }
  auto finished = [&] {
    int32_t result = call();
    int32_t after = device.synchronize();
    return result ? result : after;
  };
  int32_t sent = sendArguments(request, device);
  // The first call loads code, which is not to be counted.
  if (int32_t failed = sent ? sent : finished())
    return Error{device.message(failed)};
  auto flushed = [&] {
    device.flush();
    device.synchronize();
  };
  Result<std::vector<double>> values = ready->session->count(flushed, finished);
  if (!values) {
    refused.refused = values.error().message;
    return refused;
  }
  return profileOf(ready->metrics, *values);
}

} // namespace kernelbrain::evaluate
