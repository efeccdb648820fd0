//===- CudaTarget.cpp - NVIDIA GPUs by name -------------------------------===//

#include "kernelbrain/Core/Target.h"

namespace kernelbrain {

namespace {
/// A product that people have, per architecture: datasheets for memory and
/// clock, the CUDA C++ Programming Guide ("Technical Specifications per Compute
/// Capability") for the rest.
struct Chip {
  const char *name;
  GpuLimits limits;
  int64_t l2Bytes;
  double dramBytesPerSecond, clockHz;
};
} // namespace

static constexpr int64_t kib = 1 << 10, mib = 1 << 20;

static const Chip chips[] = {
    // A100 80 GB SXM.
    {"sm_80",
     {108, 2048, 32, 65536, 164 * kib, 163 * kib},
     40 * mib,
     2.039e12,
     1.41e9},
    // GeForce RTX 3090.
    {"sm_86",
     {82, 1536, 16, 65536, 100 * kib, 99 * kib},
     6 * mib,
     0.936e12,
     1.7e9},
    // GeForce RTX 4090.
    {"sm_89",
     {128, 1536, 24, 65536, 100 * kib, 99 * kib},
     72 * mib,
     1.008e12,
     2.52e9},
    // H200 SXM.
    {"sm_90",
     {132, 2048, 32, 65536, 228 * kib, 227 * kib},
     60 * mib,
     4.8e12,
     1.98e9},
    // B200 SXM.
    {"sm_100",
     {148, 2048, 32, 65536, 228 * kib, 227 * kib},
     126 * mib,
     8e12,
     1.96e9},
    // B300 SXM: a B200 with more memory.
    {"sm_103",
     {148, 2048, 32, 65536, 228 * kib, 227 * kib},
     126 * mib,
     8e12,
     1.96e9},
    // GeForce RTX 5090.
    {"sm_120",
     {170, 1536, 24, 65536, 100 * kib, 99 * kib},
     96 * mib,
     1.792e12,
     2.41e9},
    // GB10.
    {"sm_121",
     {48, 1536, 24, 65536, 100 * kib, 99 * kib},
     24 * mib,
     0.273e12,
     2.42e9},
    // A small one: tests are about what happens, not about how fast.
    {emulatedChip,
     {4, 2048, 32, 65536, 164 * kib, 163 * kib},
     1 * mib,
     1e10,
     1e9},
};

/// All names of a chip. Since compute capability 9.0, "a" adds what later chips
/// do not have.
static std::vector<std::string> namesOf(const Chip &chip) {
  std::string name = chip.name;
  static constexpr char generations[][6] = {"sm_9", "sm_10", "sm_12"};
  for (std::string generation : generations)
    if (name.rfind(generation, 0) == 0)
      return {name, name + "a"};
  return {name};
}

static const Chip *findChip(const std::string &name) {
  for (const Chip &chip : chips)
    for (const std::string &known : namesOf(chip))
      if (known == name)
        return &chip;
  return nullptr;
}

Result<Target> makeCudaTarget(const std::string &name) {
  const Chip *chip = findChip(name);
  if (!chip) {
    std::string known;
    for (const std::string &each : cudaChips())
      known += (known.empty() ? "" : ", ") + each;
    return Error{"unknown GPU '" + name + "'; known are " + known};
  }
  Target target;
  target.kind = "cuda";
  target.chip = name;
  target.gpu = chip->limits;
  target.l2Bytes = chip->l2Bytes;
  target.l1Bytes = chip->limits.sharedBytesPerMultiprocessor;
  target.l3Bytes = 0;
  target.dramBytesPerSecond = chip->dramBytesPerSecond;
  // The second-level caches of these chips give two to three times as much as
  // memory does.
  target.cacheBytesPerSecond = 2.5 * chip->dramBytesPerSecond;
  target.clockHz = chip->clockHz;
  return target;
}

std::vector<std::string> cudaChips() {
  std::vector<std::string> names;
  for (const Chip &chip : chips)
    for (const std::string &name : namesOf(chip))
      names.push_back(name);
  return names;
}

std::string cudaChipOf(int major, int minor) {
  std::string exact =
      "sm_" + std::to_string(major) + std::to_string(minor) + "a";
  // On later ones "a" adds nothing that kernels use.
  if (major < 12 && findChip(exact))
    return exact;
  for (; minor >= 0; --minor) {
    std::string name = "sm_" + std::to_string(major) + std::to_string(minor);
    if (findChip(name))
      return name;
  }
  return "";
}

} // namespace kernelbrain
