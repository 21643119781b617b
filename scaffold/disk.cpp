#include "scaffold/disk.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <string_view>

namespace opkit::scaffold {
namespace {

namespace fs = std::filesystem;

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

std::error_code lastError() { return {errno, std::generic_category()}; }

}  // namespace

Status fileError(const char* what, const fs::path& path, const std::error_code& error) {
  return Status::invalidArgument("cannot {} '{}': {}", what, path.string(), error.message());
}

Status fileError(const char* what, const fs::path& path) { return fileError(what, path, lastError()); }

Result<fs::file_type> typeOf(const fs::path& path, Links links) {
  std::error_code error;
  const fs::file_status status = links == Links::Kept ? fs::symlink_status(path, error) : fs::status(path, error);
  if (status.type() == fs::file_type::none) return fileError("look at", path, error);
  return status.type();
}

Result<bool> isThere(const fs::path& path) {
  OPKIT_ASSIGN(const fs::file_type type, typeOf(path));
  return type != fs::file_type::not_found;
}

Status makeFolder(const fs::path& folder) {
  int code = ::mkdir(folder.c_str(), 0777);
  if (code != 0 && errno == ENOENT && folder.has_relative_path() && folder.has_parent_path()) {
    OPKIT_TRY(makeFolder(folder.parent_path()));
    code = ::mkdir(folder.c_str(), 0777);
  }
  if (code == 0) return Status::ok();
  const std::error_code error = lastError();
  if (error != std::errc::file_exists) return fileError("make the folder", folder, error);
  OPKIT_ASSIGN(const fs::file_type type, typeOf(folder, Links::Followed));
  if (type == fs::file_type::directory) return Status::ok();
  return fileError("make the folder", folder, std::make_error_code(std::errc::not_a_directory));
}

Status removeFile(const fs::path& path) {
  std::error_code error;
  return fs::remove(path, error) || !error ? Status::ok() : fileError("delete", path, error);
}

Status removeAll(const fs::path& path) {
  if (::remove(path.c_str()) == 0 || errno == ENOENT) return Status::ok();
  if (errno != ENOTEMPTY && errno != EEXIST) return fileError("delete", path);
  const std::unique_ptr<DIR, CloseFolder> folder(::opendir(path.c_str()));
  if (!folder) return fileError("delete", path);
  for (errno = 0; const dirent* entry = ::readdir(folder.get()); errno = 0) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") OPKIT_TRY(removeAll(path / name));
  }
  return errno == 0 && ::remove(path.c_str()) == 0 ? Status::ok() : fileError("delete", path);
}

bool removeIfEmpty(const fs::path& folder) { return ::rmdir(folder.c_str()) == 0 || errno == ENOENT; }

Status moveFile(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  return error ? fileError("change", to, error) : Status::ok();
}

Status keepFile(const fs::path& file, const fs::path& copy) {
  std::error_code error;
  fs::create_hard_link(file, copy, error);
  if (error) fs::copy(file, copy, fs::copy_options::copy_symlinks, error);
  return error ? fileError("keep", file, error) : Status::ok();
}

}  // namespace opkit::scaffold
