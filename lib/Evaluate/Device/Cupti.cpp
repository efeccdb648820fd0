//===- Cupti.cpp - Hardware counters of an NVIDIA GPU ---------------------===//

#include "kernelbrain/Evaluate/Device/Cupti.h"

#include "CuptiMetrics.h"

#include <cstdlib>
#include <dlfcn.h>

namespace kernelbrain::evaluate {

using namespace cupti;

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

static void *openLibrary() {
  const char *named = ::secure_getenv("KB_CUPTI");
  if (named && *named)
    return ::dlopen(named, RTLD_NOW);
  for (const char *folder :
       {"", "/usr/local/cuda/lib64/", "/usr/local/cuda/lib/",
        "/usr/local/cuda/extras/CUPTI/lib64/",
        "/usr/local/cuda/targets/x86_64-linux/lib/"})
    for (const char *name : {"libcupti.so.13", "libcupti.so.12"})
      if (void *library =
              ::dlopen((std::string(folder) + name).c_str(), RTLD_NOW))
        return library;
  return nullptr;
}

Result<Cupti> Cupti::open() {
  void *library = openLibrary();
  if (!library)
    return Error{"no libcupti: " + std::string(::dlerror())};
  Cupti cupti;
#define KB_CUPTI_FIND(member, symbol, parameters, last)                        \
  cupti.member =                                                               \
      reinterpret_cast<decltype(cupti.member)>(::dlsym(library, #symbol));     \
  if (!cupti.member)                                                           \
    return Error{"libcupti is older than CUDA 12.6: it has no '" #symbol "'"};
  KB_CUPTI_FUNCTIONS(KB_CUPTI_FIND)
#undef KB_CUPTI_FIND
  cupti.resultString = reinterpret_cast<decltype(cupti.resultString)>(
      ::dlsym(library, "cuptiGetResultString"));
  return cupti;
}

Status Cupti::status(int result, const char *what) const {
  if (!result)
    return {};
  const char *words = nullptr;
  if (result == insufficientPrivileges)
    words = "this user may not read counters (NVreg_RestrictProfilingToAdmin"
            "Users of the driver, or CAP_SYS_ADMIN)";
  else if (resultString)
    resultString(result, &words);
  return Error{std::string(what) + ": " +
               (words ? words : std::to_string(result).c_str())};
}

/// Calls a function of `api` with parameters of that type, and returns where it
/// fails.
#define KB_CUPTI_CALL(member, parameters, last, ...)                           \
  parameters asked = {KB_CUPTI_SIZE(parameters, last), nullptr, __VA_ARGS__};  \
  if (Status done = api.status(api.member(&asked), #member); !done)            \
  return done.error()

Result<std::string> Cupti::chipOf(int device) const {
  const Cupti &api = *this;
  Initialize first = {KB_CUPTI_SIZE(Initialize, reserved), nullptr};
  if (Status done = status(initialize(&first), "initialize"); !done)
    return done.error();
  KB_CUPTI_CALL(chipName, ChipName, name, size_t(device), nullptr);
  return std::string(asked.name);
}

//===----------------------------------------------------------------------===//
// Configurations
//===----------------------------------------------------------------------===//

/// What evaluates counters of one chip; released at its end.
class Cupti::HostObject {
public:
  HostObject(const Cupti &api, const std::string &chip) : api(api) {
    HostInitialize asked = {KB_CUPTI_SIZE(HostInitialize, host),
                            nullptr,
                            rangeProfiler,
                            chip.c_str(),
                            nullptr,
                            nullptr};
    made = api.status(api.hostInitialize(&asked), "hostInitialize");
    host = asked.host;
  }
  HostObject(const HostObject &) = delete;
  HostObject &operator=(const HostObject &) = delete;
  ~HostObject() {
    HostDeinitialize asked = {KB_CUPTI_SIZE(HostDeinitialize, host), nullptr,
                              host};
    if (made)
      api.hostDeinitialize(&asked);
  }
  const Status &status() const { return made; }
  Host *get() const { return host; }
  bool has(const std::string &metric) const {
    MetricProperties asked = {KB_CUPTI_SIZE(MetricProperties, type),
                              nullptr,
                              host,
                              metric.c_str(),
                              nullptr,
                              nullptr,
                              nullptr,
                              0};
    return api.metricProperties(&asked) == 0;
  }

private:
  const Cupti &api;
  Status made;
  Host *host = nullptr;
};

static std::vector<const char *>
pointers(const std::vector<std::string> &texts) {
  std::vector<const char *> all;
  for (const std::string &text : texts)
    all.push_back(text.c_str());
  return all;
}

Result<std::vector<std::string>>
Cupti::metricsOf(const std::string &chip) const {
  HostObject host(*this, chip);
  if (!host.status())
    return host.status().error();
  std::vector<std::string> found;
  for (const std::vector<std::string> &choice : metricChoices())
    for (const std::string &metric : choice)
      if (host.has(metric)) {
        found.push_back(metric);
        break;
      }
  if (found.empty())
    return Error{"no metric of this profiler is known for '" + chip + "'"};
  return found;
}

/// The configuration image, as bytes. All metrics at once: one after another
/// takes four times the passes.
Result<std::string>
Cupti::configure(const HostObject &host,
                 const std::vector<std::string> &metrics) const {
  const Cupti &api = *this;
  std::vector<const char *> names = pointers(metrics);
  {
    KB_CUPTI_CALL(addMetrics, AddMetrics, count, host.get(), names.data(),
                  names.size());
  }
  std::string image;
  {
    KB_CUPTI_CALL(configSize, ConfigSize, bytes, host.get(), 0);
    image.resize(asked.bytes);
  }
  KB_CUPTI_CALL(configImage, ConfigImage, image, host.get(), image.size(),
                reinterpret_cast<uint8_t *>(image.data()));
  return image;
}

Result<int64_t> Cupti::passes(const std::string &chip,
                              const std::vector<std::string> &metrics) const {
  const Cupti &api = *this;
  HostObject host(*this, chip);
  if (!host.status())
    return host.status().error();
  Result<std::string> image = configure(host, metrics);
  if (!image)
    return image.error();
  KB_CUPTI_CALL(passCount, PassCount, passes, image->size(),
                reinterpret_cast<uint8_t *>(image->data()), 0);
  return int64_t(asked.passes);
}

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

/// The profiler of a context; off at its end.
class Cupti::RangeObject {
public:
  RangeObject(const Cupti &api, void *context) : api(api) {
    RangeEnable asked = {KB_CUPTI_SIZE(RangeEnable, range), nullptr, context,
                         nullptr};
    made = api.status(api.enable(&asked), "enable");
    range = asked.range;
  }
  RangeObject(const RangeObject &) = delete;
  RangeObject &operator=(const RangeObject &) = delete;
  ~RangeObject() {
    RangeOnly asked = {KB_CUPTI_SIZE(RangeOnly, range), nullptr, range};
    if (made)
      api.disable(&asked);
  }
  const Status &status() const { return made; }
  /// Room for the counters of one range.
  Result<std::string> counterImage(std::vector<const char *> &names) const;
  Status configure(const std::string &config, std::string &counters) const;
  /// One pass; the result is whether it was the last one.
  Result<bool> pass(const std::function<int32_t()> &call) const;
  Status decode() const;

private:
  const Cupti &api;
  Status made;
  Range *range = nullptr;
};

Result<std::string>
Cupti::RangeObject::counterImage(std::vector<const char *> &names) const {
  std::string image;
  {
    KB_CUPTI_CALL(counterSize, CounterSize, bytes, range, names.data(),
                  names.size(), 1, 1, 0);
    image.resize(asked.bytes);
  }
  KB_CUPTI_CALL(counterInitialize, CounterInitialize, counters, range,
                image.size(), reinterpret_cast<uint8_t *>(image.data()));
  return image;
}

Status Cupti::RangeObject::configure(const std::string &config,
                                     std::string &counters) const {
  KB_CUPTI_CALL(setConfig, SetConfig, targetNestingLevel, range, config.size(),
                reinterpret_cast<const uint8_t *>(config.data()),
                counters.size(), reinterpret_cast<uint8_t *>(counters.data()),
                userRange, userReplay, 1, 1, 1, 0, 1);
  return {};
}

Result<bool>
Cupti::RangeObject::pass(const std::function<int32_t()> &call) const {
  {
    KB_CUPTI_CALL(start, RangeOnly, range, range);
  }
  int32_t failed = 0;
  {
    KB_CUPTI_CALL(pushRange, PushRange, name, range, "call");
  }
  failed = call();
  {
    KB_CUPTI_CALL(popRange, RangeOnly, range, range);
  }
  KB_CUPTI_CALL(stop, RangeStop, allPasses, range, 0, 0, 0);
  if (failed)
    return Error{"the call returned status " + std::to_string(failed)};
  return asked.allPasses != 0;
}

Status Cupti::RangeObject::decode() const {
  KB_CUPTI_CALL(decode, Decode, dropped, range, 0);
  if (asked.dropped)
    return Error{"decode: the counters of the call were dropped"};
  return {};
}

Result<std::unique_ptr<CounterSession>>
CounterSession::open(const Cupti &cupti, const std::string &chip,
                     const std::vector<std::string> &metrics, void *context) {
  std::unique_ptr<CounterSession> session(new CounterSession(cupti, metrics));
  const Cupti &api = session->api;
  session->host = std::make_unique<Cupti::HostObject>(api, chip);
  if (!session->host->status())
    return session->host->status().error();
  Result<std::string> config = api.configure(*session->host, metrics);
  if (!config)
    return config.error();
  session->config = std::move(*config);
  session->range = std::make_unique<Cupti::RangeObject>(api, context);
  if (!session->range->status())
    return session->range->status().error();
  return session;
}

CounterSession::CounterSession(const Cupti &cupti,
                               std::vector<std::string> metrics)
    : api(cupti), metrics(std::move(metrics)) {}
CounterSession::~CounterSession() = default;

Result<std::vector<double>>
CounterSession::count(const std::function<void()> &prepare,
                      const std::function<int32_t()> &call) {
  std::vector<const char *> names = pointers(metrics);
  Result<std::string> counted = range->counterImage(names);
  if (!counted)
    return counted.error();
  if (Status done = range->configure(config, *counted); !done)
    return done.error();
  for (bool last = false; !last;) {
    prepare();
    Result<bool> passed = range->pass(call);
    if (!passed)
      return passed.error();
    last = *passed;
  }
  if (Status done = range->decode(); !done)
    return done.error();
  std::vector<double> values(names.size());
  KB_CUPTI_CALL(evaluate, Evaluate, values, host->get(),
                reinterpret_cast<const uint8_t *>(counted->data()),
                counted->size(), 0, names.data(), names.size(), values.data());
  return values;
}

} // namespace kernelbrain::evaluate
