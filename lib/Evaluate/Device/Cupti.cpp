//===- Cupti.cpp - Hardware counters of an NVIDIA GPU ---------------------===//

#include "kernelbrain/Evaluate/Device/Cupti.h"

#include <cstdlib>
#include <dlfcn.h>

namespace kernelbrain::evaluate {

using namespace cupti;

//===----------------------------------------------------------------------===//
// What is counted
//===----------------------------------------------------------------------===//

namespace {
/// A value of a profile (Core/Profile.h) and CUPTI's names of it, which differ
/// between chips: the first that a chip has is taken. Names that begin with a
/// colon are no values themselves.
struct Counter {
  const char *name;
  std::vector<const char *> metrics;
};
} // namespace

static const std::vector<Counter> &counters() {
  static const std::vector<Counter> all = {
      {counter::profiledTime, {"gpu__time_duration.sum"}},
      {counter::dramReadBytes,
       {"dram__bytes_read.sum", "dram__bytes_op_read.sum"}},
      {counter::dramWriteBytes,
       {"dram__bytes_write.sum", "dram__bytes_op_write.sum"}},
      {counter::memoryPercent,
       {"dram__throughput.avg.pct_of_peak_sustained_elapsed"}},
      {counter::computePercent,
       {"sm__instruction_throughput.avg.pct_of_peak_sustained_elapsed"}},
      {counter::l2HitPercent, {"lts__t_sector_hit_rate.pct"}},
      {counter::occupancyPercent,
       {"sm__warps_active.avg.pct_of_peak_sustained_active"}},
      {counter::tensorPercent,
       {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"}},
      {counter::issuePercent,
       {"smsp__issue_active.avg.pct_of_peak_sustained_active"}},
      {counter::loadSectors,
       {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld."
        "ratio"}},
      {counter::storeSectors,
       {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st."
        "ratio"}},
      {":conflicts", {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"}},
      {":wavefronts", {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"}},
  };
  return all;
}

static const char *const stallReasons[] = {"barrier",
                                           "branch_resolving",
                                           "dispatch_stall",
                                           "drain",
                                           "gmma",
                                           "lg_throttle",
                                           "long_scoreboard",
                                           "math_pipe_throttle",
                                           "membar",
                                           "mio_throttle",
                                           "no_instruction",
                                           "short_scoreboard",
                                           "sleeping",
                                           "tex_throttle",
                                           "wait"};

static std::string stallMetric(const char *reason) {
  return std::string("smsp__average_warps_issue_stalled_") + reason +
         "_per_issue_active.ratio";
}

Profile profileOf(const std::vector<std::string> &metrics,
                  const std::vector<double> &values) {
  std::map<std::string, double> found;
  for (size_t k = 0; k < metrics.size() && k < values.size(); ++k)
    found[metrics[k]] = values[k];
  Profile profile;
  for (const Counter &counter : counters())
    for (const char *metric : counter.metrics)
      if (auto value = found.find(metric); value != found.end())
        profile.values[counter.name] = value->second;
  auto conflicts = profile.values.find(":conflicts"),
       wavefronts = profile.values.find(":wavefronts");
  if (conflicts != profile.values.end() && wavefronts != profile.values.end() &&
      wavefronts->second > 0)
    profile.values[counter::conflictPercent] =
        100 * conflicts->second / wavefronts->second;
  profile.values.erase(":conflicts");
  profile.values.erase(":wavefronts");
  for (const char *reason : stallReasons)
    if (auto value = found.find(stallMetric(reason)); value != found.end())
      profile.stalls[reason] = value->second;
  return profile;
}

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
  for (const Counter &counter : counters())
    for (const char *metric : counter.metrics)
      if (host.has(metric)) {
        found.push_back(metric);
        break;
      }
  for (const char *reason : stallReasons)
    if (host.has(stallMetric(reason)))
      found.push_back(stallMetric(reason));
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
