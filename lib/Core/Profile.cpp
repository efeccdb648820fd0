//===- Profile.cpp - What bounds a kernel, and how we know ----------------===//

#include "kernelbrain/Core/Profile.h"

#include "kernelbrain/Support/JsonReader.h"

#include <algorithm>
#include <cstdio>

namespace kernelbrain {

std::optional<double> Profile::value(const std::string &name) const {
  auto found = values.find(name);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

/// Percent of a multiprocessor's threads that blocks of a launch can fill.
static double occupancy(const Json &launch, const GpuLimits &limits) {
  int64_t threads = 1;
  for (const Json &extent : launch.value("block", Json::array()))
    threads *= std::max<int64_t>(1, extent.get<int64_t>());
  auto fit = [&](int64_t limit, int64_t each) {
    return each > 0 ? limit / each : limit;
  };
  constexpr int64_t warp = 32, registerUnit = 256;
  int64_t warps = (threads + warp - 1) / warp;
  // A warp takes its registers in units of 256, a block 1 KiB of shared memory
  // for the system (CUDA C++ Programming Guide, compute capability 8 and 9).
  int64_t warpRegisters = getIntegerOr(launch, "registers", 0) * warp;
  warpRegisters =
      (warpRegisters + registerUnit - 1) / registerUnit * registerUnit;
  int64_t shared =
      getIntegerOr(launch, "shared_bytes", 0) +
      std::max<int64_t>(0, getIntegerOr(launch, "dynamic_shared_bytes", 0)) +
      1024;
  int64_t blocks =
      std::min({limits.blocksPerMultiprocessor,
                fit(limits.threadsPerMultiprocessor, warps * warp),
                fit(limits.registersPerMultiprocessor, warpRegisters * warps),
                fit(limits.sharedBytesPerMultiprocessor, shared)});
  return 100.0 * double(blocks * warps * warp) /
         double(std::max<int64_t>(1, limits.threadsPerMultiprocessor));
}

void referTo(Profile &profile, double timeNs) {
  double profiled = profile.value(counter::profiledTime).value_or(0);
  if (!(timeNs > 0) || !(profiled > timeNs))
    return;
  profile.values[counter::time] = timeNs;
  for (const char *name : {counter::memoryPercent, counter::computePercent})
    if (auto value = profile.values.find(name); value != profile.values.end())
      value->second = std::min(100.0, value->second * profiled / timeNs);
}

Profile modelledProfile(const Json &launches, const Target &target,
                        double leastBytes, double timeNs, std::string refused) {
  Profile profile;
  profile.refused = std::move(refused);
  profile.values[counter::leastBytes] = leastBytes;
  if (timeNs > 0 && target.dramBytesPerSecond > 0) {
    profile.values[counter::time] = timeNs;
    profile.values[counter::memoryPercent] =
        100 * leastBytes / (timeNs * 1e-9 * target.dramBytesPerSecond);
  }
  if (!launches.is_array() || launches.empty() || !target.gpu)
    return profile;
  double least = 100, spills = 0;
  for (const Json &launch : launches) {
    least = std::min(least, occupancy(launch, *target.gpu));
    spills += double(getIntegerOr(launch, "spill_bytes", 0));
  }
  profile.values[counter::occupancyPercent] = least;
  profile.values[counter::spillBytes] = spills;
  return profile;
}

static Json numbersToJson(const std::map<std::string, double> &numbers) {
  Json json = Json::object();
  for (const auto &[name, value] : numbers)
    json[name] = jsonNumber(value);
  return json;
}

static Result<std::map<std::string, double>> numbersFromJson(const Json &json) {
  std::map<std::string, double> numbers;
  if (!json.is_object())
    return Error{"expected an object of numbers"};
  JsonReader reader(json, "values");
  for (const auto &[name, value] : json.items())
    reader.required(name.c_str(), numbers[name]);
  if (Status status = reader.status(); !status)
    return status.error();
  return numbers;
}

Json toJson(const Profile &profile) {
  return {{"values", numbersToJson(profile.values)},
          {"stalls", numbersToJson(profile.stalls)},
          {"refused", profile.refused}};
}

Result<Profile> profileFromJson(const Json &json) {
  Profile profile;
  JsonReader reader(json, "profile");
  reader.required("values", profile.values, numbersFromJson)
      .optional("stalls", profile.stalls, numbersFromJson)
      .optional("refused", profile.refused);
  if (Status status = reader.status(); !status)
    return status.error();
  return profile;
}

const char *toString(Bottleneck bottleneck) {
  switch (bottleneck) {
  case Bottleneck::Unknown:
    return "unknown";
  case Bottleneck::Roofline:
    return "at the roofline";
  case Bottleneck::MemoryBandwidth:
    return "memory bandwidth";
  case Bottleneck::MemoryTraffic:
    return "excess memory traffic";
  case Bottleneck::Coalescing:
    return "scattered memory requests";
  case Bottleneck::Compute:
    return "arithmetic";
  case Bottleneck::TensorPipe:
    return "tensor pipe";
  case Bottleneck::BankConflicts:
    return "shared memory bank conflicts";
  case Bottleneck::SharedMemory:
    return "shared memory";
  case Bottleneck::Barriers:
    return "barriers";
  case Bottleneck::Occupancy:
    return "too few warps";
  case Bottleneck::MemoryLatency:
    return "memory latency";
  case Bottleneck::Underused:
    return "underused";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Diagnosis
//===----------------------------------------------------------------------===//

// KernelAgent's: at the roofline from 95% of a peak on, underused where both
// are under 60%, the tensor pipe in use above 5%.
static constexpr double atRooflinePercent = 95, underusedPercent = 60,
                        tensorInUsePercent = 5;
// Ours. A quarter more than the fewest bytes is more than partial sectors and
// an evicted line cost; 16 sectors are a warp's 16-byte accesses.
static constexpr double excessTraffic = 1.25, scatteredSectors = 20,
                        conflictedPercent = 20, fewWarpsPercent = 40,
                        standsOutShare = 0.3;

static std::string phrase(const char *format, double value,
                          const char *name = "") {
  char buffer[96];
  std::snprintf(buffer, sizeof buffer, format, value, name);
  return buffer;
}

/// The reason that most warps wait for, and its share of all that wait.
static std::pair<std::string, double> worstStall(const Profile &profile) {
  std::pair<std::string, double> worst;
  double sum = 0;
  for (const auto &[reason, warps] : profile.stalls) {
    sum += warps;
    if (warps > worst.second)
      worst = {reason, warps};
  }
  return {worst.first, sum > 0 ? worst.second / sum : 0};
}

/// Of a call that uses neither peak: what its warps wait for.
static Bottleneck latencyOf(const Profile &profile, Diagnosis &diagnosis) {
  double occupancy = profile.value(counter::occupancyPercent).value_or(100);
  if (profile.value(counter::occupancyPercent))
    diagnosis.evidence.push_back(phrase("occupancy %.0f%%", occupancy));
  auto [reason, share] = worstStall(profile);
  if (share < standsOutShare)
    return occupancy < fewWarpsPercent ? Bottleneck::Occupancy
                                       : Bottleneck::Underused;
  diagnosis.evidence.push_back(
      phrase("%.0f%% of waiting warps wait for ", 100 * share) + reason);
  if (reason == "barrier" || reason == "membar")
    return Bottleneck::Barriers;
  if (reason == "short_scoreboard" || reason == "mio_throttle")
    return Bottleneck::SharedMemory;
  if (reason == "math_pipe_throttle" || reason == "gmma" || reason == "wait" ||
      reason == "dispatch_stall")
    return Bottleneck::Compute;
  if (occupancy < fewWarpsPercent)
    return Bottleneck::Occupancy;
  return reason == "long_scoreboard" || reason == "lg_throttle"
             ? Bottleneck::MemoryLatency
             : Bottleneck::Underused;
}

Diagnosis diagnose(const Profile &profile) {
  Diagnosis diagnosis;
  if (!profile.refused.empty())
    diagnosis.evidence.push_back("no counters");
  auto memory = profile.value(counter::memoryPercent),
       compute = profile.value(counter::computePercent);
  if (!memory && !compute)
    return diagnosis;
  double memoryPercent = memory.value_or(0),
         computePercent = compute.value_or(0);
  double larger = std::max(memoryPercent, computePercent);
  diagnosis.rooflineShare = larger / 100;
  if (memory)
    diagnosis.evidence.push_back(phrase("memory %.0f%% of peak", *memory));
  if (compute)
    diagnosis.evidence.push_back(phrase("compute %.0f%% of peak", *compute));
  double moved = profile.value(counter::dramReadBytes).value_or(0) +
                 profile.value(counter::dramWriteBytes).value_or(0);
  double least = profile.value(counter::leastBytes).value_or(0);
  double traffic = least > 0 ? moved / least : 0;
  if (traffic > excessTraffic)
    diagnosis.evidence.push_back(
        phrase("moves %.2f times the bytes it has to", traffic));
  if (double spills = profile.value(counter::spillBytes).value_or(0))
    diagnosis.evidence.push_back(phrase("spills %.0f bytes", spills));
  double sectors = std::max(profile.value(counter::loadSectors).value_or(0),
                            profile.value(counter::storeSectors).value_or(0));
  double conflicts = profile.value(counter::conflictPercent).value_or(0);

  Bottleneck &bottleneck = diagnosis.bottleneck;
  if (larger >= atRooflinePercent && traffic <= excessTraffic) {
    bottleneck = Bottleneck::Roofline;
  } else if (memoryPercent >= underusedPercent &&
             memoryPercent >= computePercent) {
    bottleneck = traffic > excessTraffic ? Bottleneck::MemoryTraffic
                                         : Bottleneck::MemoryBandwidth;
  } else if (computePercent >= underusedPercent) {
    double tensor = profile.value(counter::tensorPercent).value_or(0);
    bottleneck = tensor > tensorInUsePercent ? Bottleneck::TensorPipe
                                             : Bottleneck::Compute;
    if (tensor > tensorInUsePercent)
      diagnosis.evidence.push_back(phrase("tensor pipe %.0f%%", tensor));
  } else if (conflicts > conflictedPercent) {
    bottleneck = Bottleneck::BankConflicts;
    diagnosis.evidence.push_back(
        phrase("%.0f%% of shared memory passes are conflicts", conflicts));
  } else if (sectors > scatteredSectors) {
    bottleneck = Bottleneck::Coalescing;
    diagnosis.evidence.push_back(phrase("%.0f sectors a request", sectors));
  } else {
    bottleneck = latencyOf(profile, diagnosis);
  }
  return diagnosis;
}

std::string describe(const Diagnosis &diagnosis) {
  std::string text = toString(diagnosis.bottleneck);
  for (size_t k = 0; k < diagnosis.evidence.size(); ++k)
    text += (k == 0 ? " (" : ", ") + diagnosis.evidence[k];
  return diagnosis.evidence.empty() ? text : text + ")";
}

} // namespace kernelbrain
