#include "reports/history/sqlite.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace opkit::reports {
namespace {

constexpr int kWaitMs = 20'000;  // for another writer

}  // namespace

Statement::~Statement() { sqlite3_finalize(handle_); }
Statement::Statement(Statement&& other) noexcept
    : owner_(other.owner_), handle_(std::exchange(other.handle_, nullptr)) {}
Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(owner_, other.owner_);
  std::swap(handle_, other.handle_);
  return *this;
}

void Statement::set(int index, const std::string& value) {
  sqlite3_bind_text64(handle_, index, value.data(), value.size(), SQLITE_STATIC, SQLITE_UTF8);
}

void Statement::set(int index, const Blob& value) {
  sqlite3_bind_blob64(handle_, index, value.bytes.data(), value.bytes.size(), SQLITE_STATIC);
}

Result<bool> Statement::step() {
  errno = 0;
  const int code = sqlite3_step(handle_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return owner_->failure();
}

Status Statement::run() {
  OPKIT_TRY(step().error());
  sqlite3_reset(handle_);
  return Status::ok();
}

std::string Statement::text(int column) const { return std::string(blob(column)); }

std::string_view Statement::blob(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(handle_, column));
  return data ? std::string_view(data, static_cast<size_t>(sqlite3_column_bytes(handle_, column))) : std::string_view();
}

namespace {

/// Without opening it: closing any descriptor of a file drops all locks of the process on it, also those of SQLite.
Status checkFile(const std::string& path) {
  struct stat facts {};
  std::string why;
  if (::stat(path.c_str(), &facts) != 0 || ::access(path.c_str(), R_OK) != 0)
    why = std::strerror(errno);
  else if (!S_ISREG(facts.st_mode))
    why = fmt::format("it is {}, not a file", S_ISDIR(facts.st_mode) ? "a folder" : "a pipe or a device");
  if (why.empty()) return Status::ok();
  return Status::invalidArgument("{}: expected a history of `op-report add`: cannot read '{}': {}", path, path, why);
}

}  // namespace

Result<Database> Database::open(const std::string& path, Mode mode) {
  std::error_code error;
  if (mode == Mode::Read || std::filesystem::exists(path, error)) OPKIT_TRY(checkFile(path));
  if (error) return Status::invalidArgument("{}: cannot be opened: {}", path, error.message());
  const std::string file = path.starts_with('/') ? path : "./" + path;  // ":memory:" and "file:x" are names of files
  sqlite3* handle = nullptr;
  const int create = mode == Mode::Write ? SQLITE_OPEN_CREATE : 0;
  // A reader writes too if it must roll back what a killed writer left.
  errno = 0;
  int code = sqlite3_open_v2(file.c_str(), &handle, SQLITE_OPEN_READWRITE | create, nullptr);
  if (code != SQLITE_OK && mode == Mode::Read) {
    sqlite3_close(handle);
    code = sqlite3_open_v2(file.c_str(), &handle, SQLITE_OPEN_READONLY, nullptr);
  }
  Database database(path, handle);
  if (code != SQLITE_OK) return database.failure();
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, kWaitMs);
  return database;
}

Database::~Database() { sqlite3_close(handle_); }
Database::Database(Database&& other) noexcept
    : path_(std::move(other.path_)), handle_(std::exchange(other.handle_, nullptr)) {}
Database& Database::operator=(Database&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(handle_, other.handle_);
  return *this;
}

Status Database::execute(const std::string& sql) const {
  errno = 0;
  return sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK ? Status::ok() : failure();
}

Result<Statement> Database::prepare(const std::string& sql) const {
  sqlite3_stmt* statement = nullptr;
  errno = 0;
  const int code = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                                      &statement, nullptr);
  if (code != SQLITE_OK) return failure();
  return Statement(this, statement);
}

Status Database::define(const char* name, int arguments,
                        void (*function)(sqlite3_context*, int, sqlite3_value**)) const {
  const int code = sqlite3_create_function_v2(handle_, name, arguments, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nullptr,
                                              function, nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? Status::ok() : failure();
}

Result<Database> Database::copy() const {
  sqlite3* handle = nullptr;
  errno = 0;
  const int code = sqlite3_open_v2(":memory:", &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, nullptr);
  Database database(path_, handle);
  if (code != SQLITE_OK) return database.failure();
  sqlite3_backup* backup = sqlite3_backup_init(handle, "main", handle_, "main");
  if (!backup) return database.failure();
  sqlite3_backup_step(backup, -1);
  if (sqlite3_backup_finish(backup) != SQLITE_OK) return database.failure();
  return database;
}

int Database::systemError() const {
  const int last = errno;  // SQLite forgets the cause of a failed commit
  if (const int known = sqlite3_system_errno(handle_)) return known;
  int ofFile = 0;
  if (handle_) sqlite3_file_control(handle_, "main", SQLITE_FCNTL_LAST_ERRNO, &ofFile);  // null: memory was refused
  return ofFile ? ofFile : last;
}

Status Database::failure() const {
  const int cause = systemError();
  int code = sqlite3_errcode(handle_) & 0xFF;
  if (code == SQLITE_CORRUPT && cause == EIO) code = SQLITE_IOERR;  // SQLite takes EIO for a damaged file system
  const std::string system = cause ? fmt::format(": {}", std::strerror(cause)) : "";
  switch (code) {
    case SQLITE_NOTADB:
      return Status::corrupt("{}: expected a history of `op-report add`, found no SQLite database", path_);
    case SQLITE_CORRUPT: return Status::corrupt("{}: the database is damaged ({})", path_, sqlite3_errmsg(handle_));
    case SQLITE_FULL:
      return Status::invalidArgument("{}: cannot be written: No space left on device; nothing was changed", path_);
    case SQLITE_IOERR:
      return Status::invalidArgument("{}: cannot be read or written{}; nothing was changed", path_, system);
    case SQLITE_READONLY:
      if (sqlite3_extended_errcode(handle_) == SQLITE_READONLY_DBMOVED)
        return Status::invalidArgument("{}: was moved while it was open{}; nothing was changed", path_, system);
      [[fallthrough]];
    case SQLITE_PERM: return Status::invalidArgument("{}: cannot be written: it or its folder is read-only", path_);
    case SQLITE_CANTOPEN: return Status::invalidArgument("{}: cannot be opened{}", path_, system);
    case SQLITE_NOMEM: return Status::outOfMemory("{}: the host is out of memory", path_);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Status::invalidArgument("{}: another program has been writing it for {} s", path_, kWaitMs / 1000);
    default: return Status::internal("{}: SQLite: {}", path_, sqlite3_errmsg(handle_));
  }
}

}  // namespace opkit::reports
