//===- Target.cpp - The device that kernels are built for -----------------===//

#include "kernelbrain/Core/Target.h"

#include "kernelbrain/Support/JsonReader.h"

namespace kernelbrain {

bool Target::hasFeature(const std::string &name) const {
  return std::find(features.begin(), features.end(), name) != features.end();
}

int64_t Target::vectorBytes() const {
  if (hasFeature("avx512f"))
    return 64;
  return hasFeature("avx2") ? 32 : 16;
}

/// Features that say nothing about the vector code of a kernel (aes, sgx, ...)
/// stay out, so that a tuning key holds on sibling models of a CPU.
static bool changesCode(const std::string &feature) {
  static const char *const prefixes[] = {"avx", "fma",    "f16c", "bmi",
                                         "amx", "prefer", "sse4", "sve"};
  for (const char *prefix : prefixes)
    if (feature.rfind(prefix, 0) == 0)
      return true;
  return false;
}

std::string Target::key() const {
  std::string text = kind + "/" + chip;
  if (gpu) // Products of one architecture differ in size.
    text += "/multiprocessors=" + std::to_string(gpu->multiprocessors) +
            ",shared=" + std::to_string(gpu->sharedBytesPerMultiprocessor) +
            ",l2=" + std::to_string(l2Bytes);
  std::vector<std::string> kept;
  for (const std::string &feature : features)
    if (changesCode(feature))
      kept.push_back(feature);
  std::sort(kept.begin(), kept.end());
  const char *separator = "/";
  for (const std::string &feature : kept) {
    text += separator + feature;
    separator = ",";
  }
  return text;
}

double Target::leastNs(double bytes) const {
  // What stays in the second-level cache may cost nothing.
  if (gpu)
    return 1e9 * std::max(0.0, bytes - double(l2Bytes)) / dramBytesPerSecond;
  double cores = double(threads);
  if (!(peak.dram > 0)) {
    // Far above what one core was ever seen to move.
    double outside = std::max(0.0, bytes - double(l3Bytes));
    return 1e9 / cores *
           std::max(outside / (16 * dramBytesPerSecond),
                    bytes / (16 * cacheBytesPerSecond));
  }
  // Kernels beat a probe by a little; nothing was seen to by a quarter. A probe
  // on a busy machine says too little: a softmax of 33 MB moved 38 GB/s on a
  // quiet one (Zen 5, benchmarks/host).
  constexpr double margin = 1.25, leastFar = 38e9, leastL2 = 100e9;
  double l2 = std::max(peak.l2, leastL2) * margin;
  double l3 = std::max(peak.l3, leastFar) * margin;
  double dram = std::max(peak.dram, leastFar) * margin;
  // No core has more than four vector units for memory, or runs faster.
  constexpr double l1BytesPerSecond = 4 * 64 * 6e9;
  double seconds = bytes / l1BytesPerSecond;
  // What a level cannot hold comes from the next one, even if levels hold
  // nothing twice.
  double held = double(l1Bytes) * cores;
  seconds = std::max(seconds, (bytes - held) / l2);
  held += double(l2Bytes) * cores;
  seconds = std::max(seconds, (bytes - held) / l3);
  held += double(l3Bytes);
  seconds = std::max(seconds, (bytes - held) / dram);
  return 1e9 * seconds / cores;
}

bool operator==(const GpuLimits &a, const GpuLimits &b) {
  return a.multiprocessors == b.multiprocessors &&
         a.threadsPerMultiprocessor == b.threadsPerMultiprocessor &&
         a.blocksPerMultiprocessor == b.blocksPerMultiprocessor &&
         a.registersPerMultiprocessor == b.registersPerMultiprocessor &&
         a.sharedBytesPerMultiprocessor == b.sharedBytesPerMultiprocessor &&
         a.sharedBytesPerBlock == b.sharedBytesPerBlock;
}

bool operator==(const Target &a, const Target &b) {
  return a.kind == b.kind && a.chip == b.chip && a.features == b.features &&
         a.threads == b.threads && a.l1Bytes == b.l1Bytes &&
         a.l2Bytes == b.l2Bytes && a.l3Bytes == b.l3Bytes &&
         a.dramBytesPerSecond == b.dramBytesPerSecond &&
         a.cacheBytesPerSecond == b.cacheBytesPerSecond &&
         a.clockHz == b.clockHz && a.gpu == b.gpu;
}

Json toJson(const PeakBandwidth &peak) {
  return {{"l2", jsonNumber(peak.l2)},
          {"l3", jsonNumber(peak.l3)},
          {"dram", jsonNumber(peak.dram)}};
}

Result<PeakBandwidth> peakBandwidthFromJson(const Json &json) {
  PeakBandwidth peak;
  JsonReader reader(json, "peak bandwidth");
  reader.required("l2", peak.l2)
      .required("l3", peak.l3)
      .required("dram", peak.dram);
  if (Status status = reader.status(); !status)
    return status.error();
  // Each level is at least as fast as the next one; nothing is free.
  if (!(peak.dram > 0 && peak.l3 >= peak.dram && peak.l2 >= peak.l3))
    return Error{"peak bandwidth: levels out of order"};
  return peak;
}

static Json toJson(const GpuLimits &gpu) {
  return {{"multiprocessors", gpu.multiprocessors},
          {"threads_per_multiprocessor", gpu.threadsPerMultiprocessor},
          {"blocks_per_multiprocessor", gpu.blocksPerMultiprocessor},
          {"registers_per_multiprocessor", gpu.registersPerMultiprocessor},
          {"shared_bytes_per_multiprocessor", gpu.sharedBytesPerMultiprocessor},
          {"shared_bytes_per_block", gpu.sharedBytesPerBlock}};
}

static Result<GpuLimits> gpuLimitsFromJson(const Json &json) {
  GpuLimits gpu;
  JsonReader reader(json, "gpu");
  reader.required("multiprocessors", gpu.multiprocessors)
      .required("threads_per_multiprocessor", gpu.threadsPerMultiprocessor)
      .required("blocks_per_multiprocessor", gpu.blocksPerMultiprocessor)
      .required("registers_per_multiprocessor", gpu.registersPerMultiprocessor)
      .required("shared_bytes_per_multiprocessor",
                gpu.sharedBytesPerMultiprocessor)
      .required("shared_bytes_per_block", gpu.sharedBytesPerBlock);
  if (Status status = reader.status(); !status)
    return status.error();
  return gpu;
}

Json toJson(const Target &target) {
  Json json = {
      {"kind", target.kind},
      {"chip", target.chip},
      {"features", target.features},
      {"threads", target.threads},
      {"l1_bytes", target.l1Bytes},
      {"l2_bytes", target.l2Bytes},
      {"l3_bytes", target.l3Bytes},
      {"dram_bytes_per_second", jsonNumber(target.dramBytesPerSecond)},
      {"cache_bytes_per_second", jsonNumber(target.cacheBytesPerSecond)},
      {"clock_hz", jsonNumber(target.clockHz)}};
  if (target.gpu)
    json["gpu"] = toJson(*target.gpu);
  return json;
}

Result<Target> targetFromJson(const Json &json) {
  Target target;
  JsonReader reader(json, "target");
  reader.required("kind", target.kind)
      .required("chip", target.chip)
      .required("features", target.features)
      .optional("threads", target.threads)
      .optional("l1_bytes", target.l1Bytes)
      .optional("l2_bytes", target.l2Bytes)
      .optional("l3_bytes", target.l3Bytes)
      .optional("dram_bytes_per_second", target.dramBytesPerSecond)
      .optional("cache_bytes_per_second", target.cacheBytesPerSecond)
      .optional("clock_hz", target.clockHz);
  if (Status status = reader.status(); !status)
    return status.error();
  if (auto gpu = json.find("gpu"); gpu != json.end()) {
    Result<GpuLimits> limits = gpuLimitsFromJson(*gpu);
    if (!limits)
      return limits.error();
    target.gpu = *limits;
  }
  if (target.isCuda() != target.gpu.has_value())
    return Error{"target: expected a member 'gpu' for kind 'cuda' alone"};
  return target;
}

} // namespace kernelbrain
