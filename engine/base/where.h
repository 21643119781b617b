// The source tree and the build folder around this process's program. If a tree was moved, or copied with its build
// folder, the present location is found, not the configured one.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace opkit {

/// The nearest folder above this program that contains `part`; else `fallback`.
inline std::filesystem::path folderAround(const std::filesystem::path& part, const std::filesystem::path& fallback) {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  for (std::filesystem::path folder = program.parent_path(); !folder.empty(); folder = folder.parent_path()) {
    if (std::filesystem::exists(folder / part, error)) return folder;
    if (folder == folder.root_path()) break;
  }
  return fallback;
}

/// The source tree; `configured` is its path at configure time. An installed program has none: the prefix, in which no
/// source is found, whatever tree happens to be at the configured path.
inline std::string sourceTreeAround(const std::string& configured) {
  const std::filesystem::path tree = folderAround("ops/CMakeLists.txt", "");
  if (!tree.empty()) return tree.string();
  std::error_code error;
  const auto prefix = std::filesystem::read_symlink("/proc/self/exe", error).parent_path().parent_path();
  return std::filesystem::exists(prefix / "include/opkit/opkit_plugin.h", error) ? prefix.string() : configured;
}

/// A program, folder or library of the build: the path near this program with the same last two names as the configured
/// path, as in BUILD/bin/op-run.
inline std::string partOfBuild(const std::string& configured) {
  const std::filesystem::path path = configured;
  const std::filesystem::path part = path.parent_path().filename() / path.filename();
  return (folderAround(part, path.parent_path().parent_path()) / part).string();
}

}  // namespace opkit
