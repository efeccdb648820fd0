//===- FakeCupti.cpp - A library with the functions of CUPTI --------------===//
//
// Counts calls instead of hardware: a chip "FAKE" with some metrics, whose
// values are their positions in the list asked for, in three passes. The
// variable KB_FAKE_CUPTI_REFUSES names a function that answers "insufficient
// privileges".
//
//===----------------------------------------------------------------------===//

#include "kernelbrain/Evaluate/Device/CuptiApi.h"

#include <cstdlib>
#include <cstring>

namespace kernelbrain::evaluate::cupti {
struct Host {
  size_t metrics;
};
struct Range {
  int passes;
  bool configured, started, pushed;
};
} // namespace kernelbrain::evaluate::cupti

using namespace kernelbrain::evaluate::cupti;

static constexpr int invalid = 1, noMetric = 17, passes = 3;

static int refusal(const char *function) {
  const char *refuses = std::getenv("KB_FAKE_CUPTI_REFUSES");
  return refuses && !std::strcmp(refuses, function) ? insufficientPrivileges
                                                    : 0;
}

extern "C" {

int cuptiProfilerInitialize(Initialize *) { return 0; }
int cuptiDeviceGetChipName(ChipName *asked) {
  asked->name = "FAKE";
  return 0;
}
int cuptiGetResultString(int, const char **words) {
  *words = "words of the library";
  return 0;
}
int cuptiProfilerHostInitialize(HostInitialize *asked) {
  if (std::strcmp(asked->chip, "FAKE") != 0)
    return invalid;
  asked->host = new Host{0};
  return 0;
}
int cuptiProfilerHostDeinitialize(HostDeinitialize *asked) {
  delete asked->host;
  return 0;
}
int cuptiProfilerHostGetMetricProperties(MetricProperties *asked) {
  // As on some chips, the first name of the bytes read is not known.
  return std::strcmp(asked->metric, "dram__bytes_read.sum") == 0 ||
                 std::strstr(asked->metric, "gmma")
             ? noMetric
             : 0;
}
int cuptiProfilerHostConfigAddMetrics(AddMetrics *asked) {
  asked->host->metrics += asked->count;
  return asked->structSize == KB_CUPTI_SIZE(AddMetrics, count) ? 0 : invalid;
}
int cuptiProfilerHostGetConfigImageSize(ConfigSize *asked) {
  asked->bytes = 8;
  return 0;
}
int cuptiProfilerHostGetConfigImage(ConfigImage *asked) {
  std::memset(asked->image, 7, asked->bytes);
  return 0;
}
int cuptiProfilerHostGetNumOfPasses(PassCount *asked) {
  asked->passes = passes;
  return 0;
}
int cuptiProfilerHostEvaluateToGpuValues(Evaluate *asked) {
  // Only what was decoded can be evaluated.
  if (asked->counters[0] != 'd' || asked->count != asked->host->metrics)
    return invalid;
  for (size_t k = 0; k < asked->count; ++k)
    asked->values[k] = double(k);
  return 0;
}
int cuptiRangeProfilerEnable(RangeEnable *asked) {
  if (int refused = refusal("enable"))
    return refused;
  asked->range = new Range();
  return asked->context ? 0 : invalid;
}
int cuptiRangeProfilerDisable(RangeOnly *asked) {
  delete asked->range;
  return 0;
}
int cuptiRangeProfilerGetCounterDataSize(CounterSize *asked) {
  asked->bytes = 16;
  return asked->ranges == 1 ? 0 : invalid;
}
int cuptiRangeProfilerCounterDataImageInitialize(CounterInitialize *) {
  return 0;
}
static uint8_t *image;
int cuptiRangeProfilerSetConfig(SetConfig *asked) {
  if (int refused = refusal("setConfig"))
    return refused;
  image = asked->counters;
  asked->range->passes = 0;
  asked->range->configured = asked->config[0] == 7;
  bool known = asked->rangeMode == userRange &&
               asked->replayMode == userReplay && asked->nestingLevels == 1;
  return known ? 0 : invalid;
}
int cuptiRangeProfilerStart(RangeOnly *asked) {
  Range &range = *asked->range;
  if (!range.configured || range.started)
    return invalid;
  range.started = true;
  return 0;
}
int cuptiRangeProfilerPushRange(PushRange *asked) {
  asked->range->pushed = true;
  return asked->range->started ? 0 : invalid;
}
int cuptiRangeProfilerPopRange(RangeOnly *asked) {
  bool pushed = asked->range->pushed;
  asked->range->pushed = false;
  return pushed ? 0 : invalid;
}
int cuptiRangeProfilerStop(RangeStop *asked) {
  asked->range->started = false;
  asked->allPasses = ++asked->range->passes == passes;
  return 0;
}
int cuptiRangeProfilerDecodeData(Decode *asked) {
  asked->dropped = 0;
  image[0] = 'd';
  return asked->range->passes == passes ? 0 : invalid;
}
}
