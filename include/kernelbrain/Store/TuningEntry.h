//===- TuningEntry.h - What is known to be fast -----------------*- C++ -*-===//

#ifndef KERNELBRAIN_STORE_TUNINGENTRY_H
#define KERNELBRAIN_STORE_TUNINGENTRY_H

#include "kernelbrain/Core/Kernel.h"
#include "kernelbrain/Core/Measurement.h"
#include "kernelbrain/Core/Recipe.h"
#include "kernelbrain/Core/Target.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kernelbrain::store {

/// The circumstances under which a recipe was tuned. Entries are only ever
/// used where all of them are equal.
struct TuningKey {
  std::string kernelHash;
  std::string numerics; ///< canonical JSON of the policy
  int abiVersion = 0;
  std::string target; ///< Target::key
  int64_t threads = 1;
  std::string shapeBucket;     ///< see shapeBucket()
  std::string placement;       ///< "host" or "device"
  std::string strategyLibrary; ///< hash
  std::string baseline;        ///< name of what had to be beaten

  friend bool operator==(const TuningKey &a, const TuningKey &b);
};

/// Each extent rounded up to a power of two: "1024x64"; "static" without
/// dynamic dimensions.
std::string shapeBucket(const std::vector<int64_t> &dimHints);

TuningKey tuningKey(const Kernel &kernel, const Target &target,
                    const std::string &placement,
                    const std::string &strategyLibrary,
                    const std::string &baseline);

struct TuningEntry {
  TuningKey key;
  Recipe recipe;
  std::string codeHash; ///< Manifest::codeHash of the proven artifact
  Measurement measurement;
  Json proof = Json::object(); ///< evidence of acceptance
  std::string runHash;         ///< the run that found it
  bool proven = false;         ///< accepted on the device
  int64_t createdSeconds = 0;  ///< since 1970, UTC
};

/// True if `a` is to be preferred: proven first, then the higher lower end of
/// the speedup's interval, then the older one; a total order for one key.
bool isBetter(const TuningEntry &a, const TuningEntry &b);

Json toJson(const TuningEntry &entry);
/// The error names the member that is missing or ill-typed.
Result<TuningEntry> tuningEntryFromJson(const Json &json);

} // namespace kernelbrain::store

#endif // KERNELBRAIN_STORE_TUNINGENTRY_H
