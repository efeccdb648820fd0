//===- TuningDatabase.h - Winners and their proof ---------------*- C++ -*-===//

#ifndef KERNELBRAIN_STORE_TUNINGDATABASE_H
#define KERNELBRAIN_STORE_TUNINGDATABASE_H

#include "kernelbrain/Store/TuningEntry.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

struct sqlite3;

namespace kernelbrain::store {

/// The database's schema (PRAGMA user_version).
constexpr int databaseVersion = 1;

/// A SQLite file in rollback-journal mode, which works on network homes too.
/// Any number of processes may use it at once; a writer waits for another one
/// up to ten seconds. Every error names the file. Not thread-safe.
class TuningDatabase {
public:
  enum class Mode {
    ReadWrite, ///< made if it is missing
    ReadOnly   ///< an error if it is missing; nothing is written
  };

  /// A database that cannot be written is opened for reading in both modes. A
  /// newer schema, a file that is no tuning database and a damaged one are
  /// errors.
  static Result<TuningDatabase> open(const std::string &path, Mode mode);

  bool isReadOnly() const;
  const std::string &path() const { return file; }

  /// The best proven entry of a key.
  Result<std::optional<TuningEntry>> lookupProven(const TuningKey &key) const;
  /// All entries of a key, the best one first.
  Result<std::vector<TuningEntry>> lookup(const TuningKey &key) const;
  /// All entries, in an order that depends on content only.
  Result<std::vector<TuningEntry>> list() const;

  /// Adds an entry. A key has one entry a recipe: the newer one, but an
  /// unproven one never replaces a proven one.
  Status record(const TuningEntry &entry) { return recordAll(&entry, 1); }
  /// The same for several: all or none.
  Status record(const std::vector<TuningEntry> &entries) {
    return recordAll(entries.data(), entries.size());
  }

private:
  struct Close {
    void operator()(sqlite3 *connection) const;
  };
  explicit TuningDatabase(std::string file) : file(std::move(file)) {}
  Error error(const std::string &action) const;
  Status execute(const char *sql) const;
  Result<int64_t> integer(const char *sql) const;
  Status checkSchema(bool &empty) const;
  Status createSchema() const;
  Result<std::vector<TuningEntry>> select(const TuningKey *key) const;
  Status recordAll(const TuningEntry *entries, size_t count);
  Status insert(const TuningEntry &entry) const;

  std::string file;
  std::unique_ptr<sqlite3, Close> connection;
};

} // namespace kernelbrain::store

#endif // KERNELBRAIN_STORE_TUNINGDATABASE_H
