//===- TuningEntry.cpp - What is known to be fast -------------------------===//

#include "kernelbrain/Store/TuningEntry.h"

#include "kernelbrain/Core/Artifact.h"

#include <tuple>

using namespace kernelbrain;
using namespace kernelbrain::store;

static auto members(const TuningKey &key) {
  return std::tie(key.kernelHash, key.numerics, key.abiVersion, key.target,
                  key.threads, key.shapeBucket, key.placement,
                  key.strategyLibrary, key.baseline);
}

bool store::operator==(const TuningKey &a, const TuningKey &b) {
  return members(a) == members(b);
}

std::string store::shapeBucket(const std::vector<int64_t> &dimHints) {
  if (dimHints.empty())
    return "static";
  std::string text;
  for (int64_t extent : dimHints) {
    uint64_t bucket = 1;
    while (bucket < uint64_t(std::max<int64_t>(extent, 1)))
      bucket *= 2;
    text += (text.empty() ? "" : "x") + std::to_string(bucket);
  }
  return text;
}

TuningKey store::tuningKey(const Kernel &kernel, const Target &target,
                           const std::string &placement,
                           const std::string &strategyLibrary,
                           const std::string &baseline) {
  TuningKey key;
  key.kernelHash = kernel.hash;
  key.numerics = dumpJson(kernelbrain::toJson(kernel.numerics));
  key.abiVersion = kernelAbiVersion;
  key.target = target.key();
  key.threads = target.threads;
  key.shapeBucket = shapeBucket(kernel.dimHints);
  key.placement = placement;
  key.strategyLibrary = strategyLibrary;
  key.baseline = baseline;
  return key;
}

bool store::isBetter(const TuningEntry &a, const TuningEntry &b) {
  auto rank = [](const TuningEntry &entry) {
    double speedup =
        entry.measurement.speedup ? entry.measurement.speedup->low : 0;
    return std::make_tuple(entry.proven, speedup, -entry.createdSeconds);
  };
  if (rank(a) != rank(b))
    return rank(a) > rank(b);
  return a.recipe.hash() < b.recipe.hash();
}

Json store::toJson(const TuningEntry &entry) {
  const TuningKey &key = entry.key;
  return Json{{"kernel_hash", key.kernelHash},
              {"numerics", key.numerics},
              {"abi_version", key.abiVersion},
              {"target", key.target},
              {"threads", key.threads},
              {"shape_bucket", key.shapeBucket},
              {"placement", key.placement},
              {"strategy_library", key.strategyLibrary},
              {"baseline", key.baseline},
              {"recipe", kernelbrain::toJson(entry.recipe)},
              {"code_hash", entry.codeHash},
              {"measurement", kernelbrain::toJson(entry.measurement)},
              {"proof", entry.proof},
              {"run_hash", entry.runHash},
              {"proven", entry.proven},
              {"created_s", entry.createdSeconds}};
}

static Status readKey(const Json &json, TuningKey &key) {
  const std::pair<const char *, std::string *> texts[] = {
      {"kernel_hash", &key.kernelHash},
      {"numerics", &key.numerics},
      {"target", &key.target},
      {"shape_bucket", &key.shapeBucket},
      {"placement", &key.placement},
      {"strategy_library", &key.strategyLibrary},
      {"baseline", &key.baseline},
  };
  for (auto [name, member] : texts) {
    Result<std::string> text = getString(json, name);
    if (!text)
      return text.error();
    *member = std::move(*text);
  }
  Result<int64_t> abi = getInteger(json, "abi_version");
  if (!abi)
    return abi.error();
  Result<int64_t> threads = getInteger(json, "threads");
  if (!threads)
    return threads.error();
  key.abiVersion = int(*abi);
  key.threads = *threads;
  return {};
}

Result<TuningEntry> store::tuningEntryFromJson(const Json &json) {
  TuningEntry entry;
  if (Status status = readKey(json, entry.key); !status)
    return status.error();
  Result<Json> recipeJson = getObject(json, "recipe");
  if (!recipeJson)
    return recipeJson.error();
  Result<Recipe> recipe = recipeFromJson(*recipeJson);
  if (!recipe)
    return recipe.error().withContext("recipe");
  Result<Json> measurementJson = getObject(json, "measurement");
  if (!measurementJson)
    return measurementJson.error();
  Result<Measurement> measurement = measurementFromJson(*measurementJson);
  if (!measurement)
    return measurement.error().withContext("measurement");
  Result<Json> proof = getObject(json, "proof");
  if (!proof)
    return proof.error();
  Result<std::string> codeHash = getString(json, "code_hash");
  if (!codeHash)
    return codeHash.error();
  Result<std::string> runHash = getString(json, "run_hash");
  if (!runHash)
    return runHash.error();
  Result<bool> proven = getBool(json, "proven");
  if (!proven)
    return proven.error();
  Result<int64_t> created = getInteger(json, "created_s");
  if (!created)
    return created.error();
  entry.recipe = std::move(*recipe);
  entry.measurement = std::move(*measurement);
  entry.proof = std::move(*proof);
  entry.codeHash = std::move(*codeHash);
  entry.runHash = std::move(*runHash);
  entry.proven = *proven;
  entry.createdSeconds = *created;
  return entry;
}
