// Database and Statement: SQLite with our Status, one owner per handle. A message says file, cause and what to do.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/status.h"

namespace opkit::reports {

class Database;

/// A parameter that is bytes.
struct Blob {
  const std::string& bytes;
};

/// A prepared statement; belongs to one thread and lives shorter than its Database.
class Statement {
 public:
  Statement() = default;
  ~Statement();
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&& other) noexcept;

  /// Sets parameters from 1 on, for the next run of the statement. Texts must live until its last step.
  template <class... Values>
  Statement& bind(const Values&... values) {
    sqlite3_reset(handle_);
    int index = 0;
    (set(++index, values), ...);
    return *this;
  }

  /// True if there is a row.
  Result<bool> step();
  /// Ends reading; the next bind does so too.
  void reset() { sqlite3_reset(handle_); }
  /// For a statement without rows.
  Status run();

  int64_t integer(int column) const { return sqlite3_column_int64(handle_, column); }
  double real(int column) const { return sqlite3_column_double(handle_, column); }
  std::string text(int column) const;
  std::string_view blob(int column) const;
  bool isNull(int column) const { return sqlite3_column_type(handle_, column) == SQLITE_NULL; }

 private:
  friend class Database;
  Statement(const Database* owner, sqlite3_stmt* handle) : owner_(owner), handle_(handle) {}
  void set(int index, int64_t value) { sqlite3_bind_int64(handle_, index, value); }
  void set(int index, uint64_t value) { set(index, static_cast<int64_t>(value)); }
  void set(int index, bool value) { set(index, static_cast<int64_t>(value)); }
  void set(int index, double value) { sqlite3_bind_double(handle_, index, value); }
  void set(int index, const std::string& value);
  void set(int index, const Blob& value);
  template <class T>
  void set(int index, const std::optional<T>& value) {
    if (value)
      set(index, *value);
    else
      sqlite3_bind_null(handle_, index);
  }

  const Database* owner_ = nullptr;
  sqlite3_stmt* handle_ = nullptr;
};

class Database {
 public:
  enum class Mode { Read, Write };
  /// Opens a file; Write makes it if there is none. A journal that a killed writer left is rolled back.
  static Result<Database> open(const std::string& path, Mode mode);
  ~Database();
  Database(Database&& other) noexcept;
  Database& operator=(Database&& other) noexcept;

  /// Statements without parameters and rows, separated by semicolons.
  Status execute(const std::string& sql) const;
  Result<Statement> prepare(const std::string& sql) const;
  /// Adds a function of SQL to this connection.
  Status define(const char* name, int arguments, void (*function)(sqlite3_context*, int, sqlite3_value**)) const;
  /// A copy in memory that keeps the path; changes to it do not reach the file.
  Result<Database> copy() const;
  int64_t lastId() const { return sqlite3_last_insert_rowid(handle_); }
  const std::string& path() const { return path_; }
  /// The last error, as a Status that names the file. Call it at once: the cause may be in errno alone.
  Status failure() const;

 private:
  int systemError() const;
  Database(std::string path, sqlite3* handle) : path_(std::move(path)), handle_(handle) {}

  std::string path_;
  sqlite3* handle_ = nullptr;
};

}  // namespace opkit::reports
