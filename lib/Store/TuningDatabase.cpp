//===- TuningDatabase.cpp - Winners and their proof -----------------------===//

#include "kernelbrain/Store/TuningDatabase.h"

#include <algorithm>
#include <filesystem>
#include <sqlite3.h>

using namespace kernelbrain;
using namespace kernelbrain::store;

/// "KBdb": tells a tuning database from any other SQLite file.
static constexpr int64_t applicationId = 0x4b426462;

static const char *const schema = R"sql(
CREATE TABLE entries (
  kernel_hash TEXT NOT NULL,
  numerics TEXT NOT NULL,
  abi_version INTEGER NOT NULL,
  target TEXT NOT NULL,
  threads INTEGER NOT NULL,
  shape_bucket TEXT NOT NULL,
  placement TEXT NOT NULL,
  strategy_library TEXT NOT NULL,
  baseline TEXT NOT NULL,
  recipe_hash TEXT NOT NULL,
  recipe TEXT NOT NULL,
  code_hash TEXT NOT NULL,
  measurement TEXT NOT NULL,
  proof TEXT NOT NULL,
  run_hash TEXT NOT NULL,
  proven INTEGER NOT NULL,
  created_s INTEGER NOT NULL,
  PRIMARY KEY (kernel_hash, numerics, abi_version, target, threads,
               shape_bucket, placement, strategy_library, baseline,
               recipe_hash));
PRAGMA application_id = 1262642274;
PRAGMA user_version = 1;
)sql";
static_assert(applicationId == 1262642274 && databaseVersion == 1,
              "the text of the schema holds these numbers");

namespace {
/// A prepared statement with typed access by position.
class Statement {
public:
  Statement(sqlite3 *connection, const std::string &sql) {
    if (sqlite3_prepare_v2(connection, sql.c_str(), -1, &statement, nullptr) !=
        SQLITE_OK)
      statement = nullptr;
  }
  ~Statement() { sqlite3_finalize(statement); }
  Statement(const Statement &) = delete;
  Statement &operator=(const Statement &) = delete;

  explicit operator bool() const { return statement; }
  int step() { return sqlite3_step(statement); }
  void bind(const std::string &text) {
    sqlite3_bind_text(statement, ++bound, text.data(), int(text.size()),
                      SQLITE_TRANSIENT);
  }
  void bind(int64_t number) { sqlite3_bind_int64(statement, ++bound, number); }
  void bind(const TuningKey &key) {
    bind(key.kernelHash);
    bind(key.numerics);
    bind(int64_t(key.abiVersion));
    bind(key.target);
    bind(key.threads);
    bind(key.shapeBucket);
    bind(key.placement);
    bind(key.strategyLibrary);
    bind(key.baseline);
  }
  std::string text(int column) {
    const void *bytes = sqlite3_column_blob(statement, column);
    return bytes ? std::string(static_cast<const char *>(bytes),
                               sqlite3_column_bytes(statement, column))
                 : std::string();
  }
  int64_t integer(int column) {
    return sqlite3_column_int64(statement, column);
  }

private:
  sqlite3_stmt *statement = nullptr;
  int bound = 0;
};
} // namespace

void TuningDatabase::Close::operator()(sqlite3 *connection) const {
  sqlite3_close(connection);
}

Error TuningDatabase::error(const std::string &action) const {
  int code = sqlite3_extended_errcode(connection.get());
  std::string message = "cannot " + action + " the tuning database '" + file +
                        "': " + sqlite3_errmsg(connection.get());
  if ((code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB)
    message += "; move the file away to start a new one";
  return Error{message};
}

Status TuningDatabase::execute(const char *sql) const {
  if (sqlite3_exec(connection.get(), sql, nullptr, nullptr, nullptr) !=
      SQLITE_OK)
    return error("write to");
  return {};
}

Result<int64_t> TuningDatabase::integer(const char *sql) const {
  Statement statement(connection.get(), sql);
  if (!statement || statement.step() != SQLITE_ROW)
    return error("read");
  return statement.integer(0);
}

/// SQLite has a limit of its own, and no message for it.
static bool isTooLong(const std::string &path) {
  constexpr size_t journalBytes = 8; // "-journal"
  std::error_code ignored;
  std::string full = std::filesystem::absolute(path, ignored);
  std::string real = std::filesystem::weakly_canonical(path, ignored);
  const sqlite3_vfs *system = sqlite3_vfs_find(nullptr);
  return system && std::max(full.size(), real.size()) + journalBytes >
                       size_t(system->mxPathname);
}

Result<TuningDatabase> TuningDatabase::open(const std::string &path,
                                            Mode mode) {
  TuningDatabase database(path);
  auto connect = [&](int flags) {
    sqlite3 *connection = nullptr;
    int code = sqlite3_open_v2(path.c_str(), &connection, flags, nullptr);
    database.connection.reset(connection);
    return code;
  };
  int code = SQLITE_CANTOPEN;
  if (mode == Mode::ReadWrite)
    code = connect(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (code != SQLITE_OK) {
    std::error_code ignored;
    bool exists = std::filesystem::exists(path, ignored);
    if (mode == Mode::ReadOnly || exists)
      code = connect(SQLITE_OPEN_READONLY);
  }
  if (code != SQLITE_OK && isTooLong(path))
    return Error{"cannot open the tuning database '" + path +
                 "': its path is longer than SQLite takes; choose another "
                 "store with 'store=' or KB_STORE"};
  if (code != SQLITE_OK)
    return database.error("open");
  sqlite3_busy_timeout(database.connection.get(), 10000);
  // In one transaction: another process may be creating the schema.
  bool empty = false;
  Status status = database.execute("BEGIN");
  if (status)
    status = database.checkSchema(empty);
  sqlite3_exec(database.connection.get(), "ROLLBACK", nullptr, nullptr,
               nullptr);
  if (!status)
    return status.error();
  if (empty)
    if (Status status = database.createSchema(); !status)
      return status.error();
  return database;
}

Status TuningDatabase::checkSchema(bool &empty) const {
  Result<int64_t> version = integer("PRAGMA user_version");
  if (!version)
    return version.error();
  Result<int64_t> application = integer("PRAGMA application_id");
  if (!application)
    return application.error();
  Result<int64_t> objects = integer("SELECT count(*) FROM sqlite_master");
  if (!objects)
    return objects.error();
  empty = *objects == 0 && *version == 0;
  if (empty)
    return {};
  if (*application != applicationId)
    return Error{"'" + file + "' is not a tuning database"};
  if (*version != databaseVersion)
    return Error{"the tuning database '" + file + "' has schema version " +
                 std::to_string(*version) + ", expected " +
                 std::to_string(databaseVersion) +
                 "; use another store or a version of KernelBrain that "
                 "knows it"};
  return {};
}

Status TuningDatabase::createSchema() const {
  if (isReadOnly())
    return Error{"'" + file + "' is not a tuning database"};
  if (Status status = execute("BEGIN IMMEDIATE"); !status)
    return status;
  // Another process may have been first.
  bool empty = false;
  Status status = checkSchema(empty);
  if (status && empty)
    status = execute(schema);
  if (status)
    status = execute("COMMIT");
  if (!status)
    sqlite3_exec(connection.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  return status;
}

bool TuningDatabase::isReadOnly() const {
  return sqlite3_db_readonly(connection.get(), "main") == 1;
}

/// Reads one row of `SELECT *`; the order of columns is the schema's.
static Result<TuningEntry> readRow(Statement &row) {
  TuningEntry entry;
  entry.key.kernelHash = row.text(0);
  entry.key.numerics = row.text(1);
  entry.key.abiVersion = int(row.integer(2));
  entry.key.target = row.text(3);
  entry.key.threads = row.integer(4);
  entry.key.shapeBucket = row.text(5);
  entry.key.placement = row.text(6);
  entry.key.strategyLibrary = row.text(7);
  entry.key.baseline = row.text(8);
  Result<Json> recipeJson = parseJson(row.text(10));
  Result<Recipe> recipe =
      recipeJson ? recipeFromJson(*recipeJson) : recipeJson.error();
  if (!recipe)
    return recipe.error().withContext("recipe");
  Result<Json> measurementJson = parseJson(row.text(12));
  Result<Measurement> measurement = measurementJson
                                        ? measurementFromJson(*measurementJson)
                                        : measurementJson.error();
  if (!measurement)
    return measurement.error().withContext("measurement");
  Result<Json> proof = parseJson(row.text(13));
  if (!proof)
    return proof.error().withContext("proof");
  entry.recipe = std::move(*recipe);
  entry.codeHash = row.text(11);
  entry.measurement = std::move(*measurement);
  entry.proof = std::move(*proof);
  entry.runHash = row.text(14);
  entry.proven = row.integer(15) != 0;
  entry.createdSeconds = row.integer(16);
  return entry;
}

Result<std::vector<TuningEntry>>
TuningDatabase::select(const TuningKey *key) const {
  std::string sql = "SELECT * FROM entries";
  if (key)
    sql += " WHERE kernel_hash = ? AND numerics = ? AND abi_version = ? AND "
           "target = ? AND threads = ? AND shape_bucket = ? AND placement = ? "
           "AND strategy_library = ? AND baseline = ?";
  sql += " ORDER BY kernel_hash, numerics, abi_version, target, threads, "
         "shape_bucket, placement, strategy_library, baseline, recipe_hash";
  Statement statement(connection.get(), sql);
  if (!statement)
    return error("read");
  if (key)
    statement.bind(*key);
  std::vector<TuningEntry> entries;
  int code;
  while ((code = statement.step()) == SQLITE_ROW) {
    Result<TuningEntry> entry = readRow(statement);
    if (!entry)
      return entry.error().withContext("the tuning database '" + file +
                                       "' holds a damaged entry");
    entries.push_back(std::move(*entry));
  }
  if (code != SQLITE_DONE)
    return error("read");
  return entries;
}

Result<std::vector<TuningEntry>>
TuningDatabase::lookup(const TuningKey &key) const {
  Result<std::vector<TuningEntry>> entries = select(&key);
  if (entries)
    std::sort(entries->begin(), entries->end(), isBetter);
  return entries;
}

Result<std::optional<TuningEntry>>
TuningDatabase::lookupProven(const TuningKey &key) const {
  Result<std::vector<TuningEntry>> entries = lookup(key);
  if (!entries)
    return entries.error();
  if (entries->empty() || !entries->front().proven)
    return std::optional<TuningEntry>();
  return std::optional<TuningEntry>(std::move(entries->front()));
}

Result<std::vector<TuningEntry>> TuningDatabase::list() const {
  return select(nullptr);
}

Status TuningDatabase::insert(const TuningEntry &entry) const {
  Statement statement(
      connection.get(),
      "INSERT INTO entries VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) "
      "ON CONFLICT DO UPDATE SET recipe = excluded.recipe, "
      "code_hash = excluded.code_hash, measurement = excluded.measurement, "
      "proof = excluded.proof, run_hash = excluded.run_hash, "
      "proven = excluded.proven, created_s = excluded.created_s "
      "WHERE excluded.proven >= entries.proven");
  if (!statement)
    return error("write to");
  statement.bind(entry.key);
  statement.bind(entry.recipe.hash());
  statement.bind(dumpJson(kernelbrain::toJson(entry.recipe)));
  statement.bind(entry.codeHash);
  statement.bind(dumpJson(kernelbrain::toJson(entry.measurement)));
  statement.bind(dumpJson(entry.proof));
  statement.bind(entry.runHash);
  statement.bind(int64_t(entry.proven));
  statement.bind(entry.createdSeconds);
  return statement.step() == SQLITE_DONE ? Status() : error("write to");
}

Status TuningDatabase::recordAll(const TuningEntry *entries, size_t count) {
  // IMMEDIATE: a second writer waits here instead of failing half-way.
  if (Status status = execute("BEGIN IMMEDIATE"); !status)
    return status;
  Status status;
  for (size_t i = 0; i < count && status; ++i)
    status = insert(entries[i]);
  if (status)
    status = execute("COMMIT");
  if (!status)
    sqlite3_exec(connection.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  return status;
}
