#pragma once
// SQLite without exceptions: every call returns a Result whose diagnostic names the file and what went wrong with it.
// Not thread-safe: one Database per thread. Used by storage only.
//
//   Result<Database> db = Database::open("work.planscope", {});
//   db->execute("INSERT INTO t(a, b) VALUES (?, ?)", {std::int64_t{1}, "text"});
//   auto names = db->select<std::string>("SELECT b FROM t", {}, [](const Row& r) { return r.text(0); });
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/base/diagnostic.h"

struct sqlite3;
struct sqlite3_stmt;

namespace planscope {

struct Done {};  // the value of a Result that has nothing to say but that it worked

using SqlValue = std::variant<std::nullptr_t, std::int64_t, double, std::string>;
using SqlValues = std::vector<SqlValue>;

class Row {
 public:
  explicit Row(sqlite3_stmt* statement) : statement_(statement) {}
  bool null(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  std::optional<std::int64_t> maybe_integer(int column) const;
  std::optional<std::string> maybe_text(int column) const;

 private:
  sqlite3_stmt* statement_;
};

class Database {
 public:
  // Opens or creates the file; waits at most `patience` for another process's lock, here and in every later call.
  static Result<Database> open(const std::string& path, std::chrono::milliseconds patience);
  // Of a file, or a folder, that may only be read: as the file stands, without what waits in a log beside it if that cannot be read.
  static Result<Database> open_read_only(const std::string& path, std::chrono::milliseconds patience);

  Result<Done> execute(const std::string& sql, const SqlValues& values = {});  // one statement
  Result<Done> execute_script(const std::string& sql);                         // several, without values
  Result<Done> execute_many(const std::string& sql, std::size_t count,         // one statement, `count` times
                            const std::function<SqlValues(std::size_t)>& values);
  Result<Done> transaction(const std::function<Result<Done>()>& body);  // rolled back if the body has errors
  Result<Done> for_each(const std::string& sql, const SqlValues& values, const std::function<void(const Row&)>& visit);
  Result<std::int64_t> insert(const std::string& sql, const SqlValues& values);  // the new row's id

  template <class T>
  Result<std::vector<T>> select(const std::string& sql, const SqlValues& values,
                                const std::function<T(const Row&)>& read) {
    std::vector<T> rows;
    Result<Done> r = for_each(sql, values, [&](const Row& row) { rows.push_back(read(row)); });
    if (!r.ok()) return r.diagnostics;
    return rows;
  }

  static constexpr const char* locked = "another program has locked it";  // Diagnostic::why
  const std::string& path() const { return path_; }
  Diagnostic failure(int code) const;  // what the last call's result code means for this file

 private:
  struct Close {
    void operator()(sqlite3* db) const;
  };
  std::unique_ptr<sqlite3, Close> db_;
  std::string path_;
};

}  // namespace planscope
