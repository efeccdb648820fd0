//===- Entries.h - Tuning entries for tests ---------------------*- C++ -*-===//

#ifndef KERNELBRAIN_UNITTESTS_STORE_ENTRIES_H
#define KERNELBRAIN_UNITTESTS_STORE_ENTRIES_H

#include "kernelbrain/Store/TuningEntry.h"

namespace kernelbrain::store {

inline TuningEntry makeEntry(const std::string &kernelHash, int64_t unroll,
                             double speedup, bool proven = true) {
  TuningEntry entry;
  entry.key.kernelHash = kernelHash;
  entry.key.numerics = R"({"contract":true})";
  entry.key.abiVersion = 1;
  entry.key.target = "host;znver4;+avx2";
  entry.key.shapeBucket = "static";
  entry.key.placement = "host";
  entry.key.strategyLibrary = "lib";
  entry.key.baseline = "stock-fused";
  entry.recipe.strategy = "row-reduction";
  entry.recipe.strategyHash = "v1";
  entry.recipe.knobs = {{"unroll", unroll}, {"exp", std::string("fast")}};
  entry.codeHash = "c0de";
  entry.measurement.disposition = Disposition::Passed;
  entry.measurement.rung = 6;
  entry.measurement.timeNs = 5310;
  entry.measurement.speedup = Ratio{speedup - 0.125, speedup, speedup + 0.125};
  entry.measurement.error = 0.1;
  entry.measurement.details = Json::object();
  entry.proof = Json{{"seeds", {1, 2}}, {"sets", 9}};
  entry.runHash = "run";
  entry.proven = proven;
  entry.createdSeconds = 1700000000;
  return entry;
}

} // namespace kernelbrain::store

#endif // KERNELBRAIN_UNITTESTS_STORE_ENTRIES_H
