//===- CuptiApi.h - What we call of CUPTI -----------------------*- C++ -*-===//
//
// CUPTI's range profiler, declared here so that it is built everywhere and
// looked for when it is wanted. Layouts are those of CUDA 12.6 to 13; a unit
// test compares them with the toolkit's headers where those are installed.
// Every structure begins with its size, up to and including its last member,
// and a null pointer.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_EVALUATE_DEVICE_CUPTIAPI_H
#define KERNELBRAIN_EVALUATE_DEVICE_CUPTIAPI_H

#include <cstddef>
#include <cstdint>

namespace kernelbrain::evaluate::cupti {

/// The value of `structSize` where `last` is the last member of `type`.
#define KB_CUPTI_SIZE(type, last)                                              \
  (offsetof(type, last) + sizeof(static_cast<type *>(nullptr)->last))

struct Host;  ///< evaluates counters; no GPU is needed for one
struct Range; ///< takes counters in a context

constexpr int insufficientPrivileges = 35;
constexpr int rangeProfiler = 0; ///< CUpti_ProfilerType
constexpr int userRange = 2;     ///< CUpti_ProfilerRange
constexpr int userReplay = 3;    ///< CUpti_ProfilerReplayMode

struct Initialize {
  size_t structSize;
  void *reserved;
};
struct ChipName {
  size_t structSize;
  void *reserved;
  size_t device;
  const char *name;
};
struct HostInitialize {
  size_t structSize;
  void *reserved;
  int32_t profilerType;
  const char *chip;
  const uint8_t *availability;
  Host *host;
};
struct HostDeinitialize {
  size_t structSize;
  void *reserved;
  Host *host;
};
struct MetricProperties {
  size_t structSize;
  void *reserved;
  Host *host;
  const char *metric, *description, *unit, *dimension;
  int32_t type;
};
struct AddMetrics {
  size_t structSize;
  void *reserved;
  Host *host;
  const char **metrics;
  size_t count;
};
struct ConfigSize {
  size_t structSize;
  void *reserved;
  Host *host;
  size_t bytes;
};
struct ConfigImage {
  size_t structSize;
  void *reserved;
  Host *host;
  size_t bytes;
  uint8_t *image;
};
struct PassCount {
  size_t structSize;
  void *reserved;
  size_t bytes;
  uint8_t *image;
  size_t passes;
};
struct Evaluate {
  size_t structSize;
  void *reserved;
  Host *host;
  const uint8_t *counters;
  size_t counterBytes, range;
  const char **metrics;
  size_t count;
  double *values;
};
struct RangeEnable {
  size_t structSize;
  void *reserved;
  void *context;
  Range *range;
};
/// Of Disable, Start and PopRange.
struct RangeOnly {
  size_t structSize;
  void *reserved;
  Range *range;
};
struct CounterSize {
  size_t structSize;
  void *reserved;
  Range *range;
  const char **metrics;
  size_t count, ranges;
  uint32_t treeNodes;
  size_t bytes;
};
struct CounterInitialize {
  size_t structSize;
  void *reserved;
  Range *range;
  size_t bytes;
  uint8_t *counters;
};
struct SetConfig {
  size_t structSize;
  void *reserved;
  Range *range;
  size_t configBytes;
  const uint8_t *config;
  size_t counterBytes;
  uint8_t *counters;
  int32_t rangeMode, replayMode;
  size_t rangesPerPass;
  uint16_t nestingLevels, leastNestingLevel;
  size_t pass;
  uint16_t targetNestingLevel;
};
struct PushRange {
  size_t structSize;
  void *reserved;
  Range *range;
  const char *name;
};
struct RangeStop {
  size_t structSize;
  void *reserved;
  Range *range;
  size_t pass, targetNestingLevel;
  uint8_t allPasses; ///< 1: every pass was made
};
struct Decode {
  size_t structSize;
  void *reserved;
  Range *range;
  size_t dropped;
};

/// X(member, symbol, parameters, last member of the parameters)
#define KB_CUPTI_FUNCTIONS(X)                                                  \
  X(initialize, cuptiProfilerInitialize, Initialize, reserved)                 \
  X(chipName, cuptiDeviceGetChipName, ChipName, name)                          \
  X(hostInitialize, cuptiProfilerHostInitialize, HostInitialize, host)         \
  X(hostDeinitialize, cuptiProfilerHostDeinitialize, HostDeinitialize, host)   \
  X(metricProperties, cuptiProfilerHostGetMetricProperties, MetricProperties,  \
    type)                                                                      \
  X(addMetrics, cuptiProfilerHostConfigAddMetrics, AddMetrics, count)          \
  X(configSize, cuptiProfilerHostGetConfigImageSize, ConfigSize, bytes)        \
  X(configImage, cuptiProfilerHostGetConfigImage, ConfigImage, image)          \
  X(passCount, cuptiProfilerHostGetNumOfPasses, PassCount, passes)             \
  X(evaluate, cuptiProfilerHostEvaluateToGpuValues, Evaluate, values)          \
  X(enable, cuptiRangeProfilerEnable, RangeEnable, range)                      \
  X(disable, cuptiRangeProfilerDisable, RangeOnly, range)                      \
  X(counterSize, cuptiRangeProfilerGetCounterDataSize, CounterSize, bytes)     \
  X(counterInitialize, cuptiRangeProfilerCounterDataImageInitialize,           \
    CounterInitialize, counters)                                               \
  X(setConfig, cuptiRangeProfilerSetConfig, SetConfig, targetNestingLevel)     \
  X(start, cuptiRangeProfilerStart, RangeOnly, range)                          \
  X(pushRange, cuptiRangeProfilerPushRange, PushRange, name)                   \
  X(popRange, cuptiRangeProfilerPopRange, RangeOnly, range)                    \
  X(stop, cuptiRangeProfilerStop, RangeStop, allPasses)                        \
  X(decode, cuptiRangeProfilerDecodeData, Decode, dropped)

} // namespace kernelbrain::evaluate::cupti

#endif // KERNELBRAIN_EVALUATE_DEVICE_CUPTIAPI_H
