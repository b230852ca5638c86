#include "storage/database.h"

#include <sqlite3.h>

#include <cerrno>
#include <cstring>

namespace planscope {
namespace {

struct Finalize {
  void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

int bind_values(sqlite3_stmt* s, const SqlValues& values) {
  int code = SQLITE_OK;
  for (std::size_t i = 0; i < values.size() && code == SQLITE_OK; ++i) {
    const int at = static_cast<int>(i) + 1;
    const SqlValue& v = values[i];
    if (const auto* n = std::get_if<std::int64_t>(&v))
      code = sqlite3_bind_int64(s, at, *n);
    else if (const auto* x = std::get_if<double>(&v))
      code = sqlite3_bind_double(s, at, *x);
    else if (const auto* t = std::get_if<std::string>(&v))
      code = sqlite3_bind_text64(s, at, t->data(), t->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    else
      code = sqlite3_bind_null(s, at);
  }
  return code;
}

int prepare(sqlite3* db, const std::string& sql, Statement& out) {
  sqlite3_stmt* s = nullptr;
  const int code = sqlite3_prepare_v2(db, sql.c_str(), static_cast<int>(sql.size()), &s, nullptr);
  out.reset(s);
  return code;
}

}  // namespace

bool Row::null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
std::int64_t Row::integer(int column) const { return sqlite3_column_int64(statement_, column); }
double Row::real(int column) const { return sqlite3_column_double(statement_, column); }
std::string Row::text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return text == nullptr ? std::string{}
                         : std::string(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
}
std::optional<std::int64_t> Row::maybe_integer(int column) const {
  if (null(column)) return std::nullopt;
  return integer(column);
}
std::optional<std::string> Row::maybe_text(int column) const {
  if (null(column)) return std::nullopt;
  return text(column);
}

void Database::Close::operator()(sqlite3* db) const { sqlite3_close_v2(db); }

Diagnostic Database::failure(int code) const {
  Diagnostic d;
  d.file = path_;
  d.what = "the workspace cannot be used";
  const int kind = code & 0xff;
  const int of_system = db_ && (kind == SQLITE_IOERR || kind == SQLITE_CANTOPEN) ? sqlite3_system_errno(db_.get()) : 0;
  if (kind == SQLITE_FULL || of_system == ENOSPC) {
    d.why = std::strerror(ENOSPC);
    return d;
  }
  switch (kind) {
    case SQLITE_NOTADB:
      d.why = "it is not a workspace file, or its beginning is damaged";
      break;
    case SQLITE_CORRUPT:
      d.why = "the file is damaged";
      d.hint = "restore a copy, or move it away and start a new workspace";
      break;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      d.why = locked;
      d.hint = "close the other program and try again";
      break;
    case SQLITE_READONLY:
    case SQLITE_PERM:
      d.why = "it may not be written";
      break;
    case SQLITE_CANTOPEN:
      d.why = "the file cannot be opened";
      d.hint = "does its folder exist, and may it be written?";
      break;
    default:
      d.why = db_ ? sqlite3_errmsg(db_.get()) : sqlite3_errstr(code);
      if (of_system != 0) d.why += std::string(": ") + std::strerror(of_system);
  }
  return d;
}

Result<Database> Database::open(const std::string& path, std::chrono::milliseconds patience) {
  Database database;
  database.path_ = path;
  sqlite3* db = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  database.db_.reset(db);
  if (code != SQLITE_OK) return database.failure(code);
  sqlite3_extended_result_codes(db, 1);
  sqlite3_busy_timeout(db, static_cast<int>(patience.count()));
  return database;
}

namespace {

// As a URI: what would mean something there is written %xx.
std::string uri_of(const std::string& path, const char* query) {
  constexpr const char* digits = "0123456789ABCDEF";
  std::string out = "file:";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7F && c != '%' && c != '?' && c != '#')
      out += c;
    else
      out += {'%', digits[byte >> 4], digits[byte & 15]};
  }
  return out + query;
}

}  // namespace

Result<Database> Database::open_read_only(const std::string& path, std::chrono::milliseconds patience) {
  Database database;
  database.path_ = path;
  for (const char* query : {"?mode=ro", "?mode=ro&immutable=1"}) {
    sqlite3* db = nullptr;
    int code = sqlite3_open_v2(uri_of(path, query).c_str(), &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
    database.db_.reset(db);
    if (code != SQLITE_OK) continue;
    sqlite3_extended_result_codes(db, 1);
    sqlite3_busy_timeout(db, static_cast<int>(patience.count()));
    code = sqlite3_exec(db, "SELECT count(*) FROM sqlite_schema", nullptr, nullptr, nullptr);
    if (code == SQLITE_OK) return database;
    if ((code & 0xff) != SQLITE_CANTOPEN && (code & 0xff) != SQLITE_READONLY) return database.failure(code);
  }
  return database.failure(SQLITE_CANTOPEN);
}

Result<Done> Database::for_each(const std::string& sql, const SqlValues& values,
                                const std::function<void(const Row&)>& visit) {
  Statement s;
  int code = prepare(db_.get(), sql, s);
  if (code == SQLITE_OK) code = bind_values(s.get(), values);
  if (code != SQLITE_OK) return failure(code);
  while ((code = sqlite3_step(s.get())) == SQLITE_ROW) visit(Row(s.get()));
  if (code != SQLITE_DONE) return failure(code);
  return Done{};
}

Result<Done> Database::execute(const std::string& sql, const SqlValues& values) {
  return for_each(sql, values, [](const Row&) {});
}

Result<Done> Database::execute_script(const std::string& sql) {
  const int code = sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return failure(code);
  return Done{};
}

Result<Done> Database::execute_many(const std::string& sql, std::size_t count,
                                    const std::function<SqlValues(std::size_t)>& values) {
  Statement s;
  int code = prepare(db_.get(), sql, s);
  for (std::size_t i = 0; i < count && code == SQLITE_OK; ++i) {
    code = bind_values(s.get(), values(i));
    if (code == SQLITE_OK) code = sqlite3_step(s.get());
    if (code == SQLITE_DONE) code = sqlite3_reset(s.get());
  }
  if (code != SQLITE_OK) return failure(code);
  return Done{};
}

Result<Done> Database::transaction(const std::function<Result<Done>()>& body) {
  if (Result<Done> r = execute("BEGIN IMMEDIATE"); !r.ok()) return r;
  Result<Done> r = body();
  if (r.ok()) r = execute("COMMIT");
  if (!r.ok() && sqlite3_get_autocommit(db_.get()) == 0) execute("ROLLBACK");
  return r;
}

Result<std::int64_t> Database::insert(const std::string& sql, const SqlValues& values) {
  if (Result<Done> r = execute(sql, values); !r.ok()) return r.diagnostics;
  return sqlite3_last_insert_rowid(db_.get());
}

}  // namespace planscope
