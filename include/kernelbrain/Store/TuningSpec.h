//===- TuningSpec.h - Tuning entries as text --------------------*- C++ -*-===//
//
// A tuning spec is a text that people check into git. It is MLIR that any
// mlir-opt parses and prints, of builtin.module with discardable attributes:
//
//   module @kb.tuning_spec attributes {kb.spec_version = 1 : i64} {
//     module @entry_0 attributes {kb.entry = {kernel_hash = "...", ...}} {
//     }
//   }
//
// It is written and read here without MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_STORE_TUNINGSPEC_H
#define KERNELBRAIN_STORE_TUNINGSPEC_H

#include "kernelbrain/Store/TuningDatabase.h"

#include <string>
#include <vector>

namespace kernelbrain::store {

constexpr int tuningSpecVersion = 1;

/// The text of a spec; equal entries give equal text.
std::string printTuningSpec(const std::vector<TuningEntry> &entries);

/// Reads what printTuningSpec or mlir-opt wrote. The error begins with
/// "<name>:<line>: ".
Result<std::vector<TuningEntry>> parseTuningSpec(const std::string &text,
                                                 const std::string &name);

/// Writes the entries of a database to `path`; only proven ones unless
/// `unproven`. Returns their number.
Result<size_t> exportSpec(const TuningDatabase &database,
                          const std::string &path, bool unproven = false);

/// Records the entries of the spec in `path`: all or none. Returns their
/// number.
Result<size_t> importSpec(TuningDatabase &database, const std::string &path);

} // namespace kernelbrain::store

#endif // KERNELBRAIN_STORE_TUNINGSPEC_H
