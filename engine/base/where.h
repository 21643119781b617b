// Where this process's program stands: the source tree and the build folder around it. A tree that was moved, or copied
// with its build folder, is found where it is now and not where it was configured.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace opkit {

/// The folder nearest above this program that holds `part`; else `fallback`.
inline std::filesystem::path folderAround(const std::filesystem::path& part, const std::filesystem::path& fallback) {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  for (std::filesystem::path folder = program.parent_path(); !folder.empty(); folder = folder.parent_path()) {
    if (std::filesystem::exists(folder / part, error)) return folder;
    if (folder == folder.root_path()) break;
  }
  return fallback;
}

/// The source tree; `configured` is where it stood when it was configured.
inline std::string sourceTreeAround(const std::string& configured) {
  return folderAround("ops/CMakeLists.txt", configured).string();
}

/// A program, folder or library of the build: the one around this program that ends in the same two names as what was
/// configured, as in BUILD/bin/op-run.
inline std::string partOfBuild(const std::string& configured) {
  const std::filesystem::path path = configured;
  const std::filesystem::path part = path.parent_path().filename() / path.filename();
  return (folderAround(part, path.parent_path().parent_path()) / part).string();
}

}  // namespace opkit
