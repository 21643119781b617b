#include "harness/run/source_table.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>

#include "engine/base/checked_file.h"

namespace opkit::harness {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolders[] = {"engine", "harness", "ops", "shaders"};
constexpr std::string_view kEndings[] = {".cpp", ".h", ".cpp.in", ".fbs", ".comp", ".glsl", ".cases.json"};

bool isSource(const fs::path& path) {
  const std::string name = path.filename().string();
  if (name.starts_with('.') || name.ends_with("_test.cpp")) return false;
  return std::ranges::any_of(kEndings, [&](std::string_view ending) { return name.ends_with(ending); });
}

/// What cannot be read may not count as changed or absent.
void require(bool isRead, const fs::path& path, int cause) {
  if (!isRead) throw fs::filesystem_error("", path, std::error_code(cause, std::generic_category()));
}

uint64_t hashOf(const fs::path& path) {
  errno = 0;
  const auto bytes = readText(path.string());
  require(bytes.has_value(), path, errno);
  return XXH3_64bits(bytes->data(), bytes->size());
}

}  // namespace

std::vector<SourceFile> sourcesOf(const std::string& root) {
  std::vector<SourceFile> files;
  for (const char* folder : kFolders) {
    const fs::path place = fs::path(root) / folder;
    std::error_code error;
    for (fs::recursive_directory_iterator at(place, error), end; !error && at != end; at.increment(error))
      if (isSource(at->path()) && at->is_regular_file(error))
        files.push_back({at->path().lexically_relative(root).generic_string(), hashOf(at->path())});
    require(!error || error == std::errc::no_such_file_or_directory, place, error.value());
  }
  std::ranges::sort(files, {}, &SourceFile::path);
  return files;
}

std::vector<std::string> changedSources(std::span<const SourceHash> built, const std::string& root) {
  const std::vector<SourceFile> now = sourcesOf(root);
  std::error_code ignored;
  const bool isWhole = fs::exists(fs::path(root) / "CMakeLists.txt", ignored);
  std::vector<std::string> changed, appeared, vanished;
  auto old = built.begin();
  for (const SourceFile& file : now) {
    for (; old != built.end() && old->path < file.path; ++old) vanished.emplace_back(old->path);
    if (old == built.end() || old->path != file.path)
      appeared.push_back(file.path);
    else if ((old++)->hash != file.hash)
      changed.push_back(file.path);
  }
  for (; old != built.end(); ++old) vanished.emplace_back(old->path);
  std::ranges::move(appeared, std::back_inserter(changed));
  if (isWhole) std::ranges::move(vanished, std::back_inserter(changed));
  return changed;
}

std::string listOf(const std::vector<std::string>& paths) {
  if (paths.empty()) return "";
  return paths.size() == 1 ? paths.front() : fmt::format("{} and {} more", paths.front(), paths.size() - 1);
}

}  // namespace opkit::harness
