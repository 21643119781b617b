#include <algorithm>
#include <filesystem>

#include "engine/base/checked_file.h"
#include "scaffold/disk.h"
#include "scaffold/plan.h"
#include "scaffold/transaction.h"

namespace opkit::scaffold {
namespace {

namespace fs = std::filesystem;

/// An absent folder is empty; one that cannot be read never is.
bool isAbsent(const std::error_code& error) {
  return error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
}

std::optional<std::string> textOf(const fs::path& path) {
  std::error_code error;
  const bool isFile = fs::is_regular_file(path, error);
  if (error && !isAbsent(error)) throw TreeError(fmt::format("cannot read '{}': {}", path.string(), error.message()));
  if (!isFile) return std::nullopt;
  auto text = readText(path.string());
  if (!text) throw TreeError(text.error().message());  // a file that is there is never taken for an absent one
  return *std::move(text);
}

template <typename Iterator, typename Take>
void eachEntry(const fs::path& folder, const Take& take) {
  std::error_code error;
  Iterator entry(folder, error);
  if (isAbsent(error)) return;
  for (; !error && entry != Iterator(); entry.increment(error)) take(*entry);
  if (error) throw TreeError(fmt::format("cannot read the folder '{}': {}", folder.string(), error.message()));
}

}  // namespace

Result<Tree> Tree::find(const std::string& folder) {
  std::error_code error;
  const fs::path start = fs::weakly_canonical(folder, error);
  if (error) return fileError("look at", folder, error);
  for (fs::path at = start;; at = at.parent_path()) {
    OPKIT_ASSIGN(const fs::file_type engine, typeOf(at / "engine/op/op_def.h", Links::Followed));
    OPKIT_ASSIGN(const fs::file_type ops, typeOf(at / "ops", Links::Followed));
    if (engine != fs::file_type::not_found && ops == fs::file_type::directory) return Tree(at.string());
    if (at == at.parent_path()) break;
  }
  return Status::invalidArgument("{} is not inside a source tree of OpKit; run there or give --root DIR",
                                 start.string());
}

bool Tree::exists(const std::string& path) const {
  const auto type = typeOf(absolute(path), Links::Followed);
  if (!type) throw TreeError(type.error().message());
  return *type != fs::file_type::not_found;
}

std::optional<std::string> Tree::read(const std::string& path) const { return textOf(absolute(path)); }

std::vector<std::string> Tree::list(const std::string& folder) const {
  std::vector<std::string> names;
  eachEntry<fs::directory_iterator>(
      absolute(folder), [&](const fs::directory_entry& entry) { names.push_back(entry.path().filename().string()); });
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> Tree::filesBelow(const std::string& folder) const {
  std::vector<std::string> paths;
  eachEntry<fs::recursive_directory_iterator>(absolute(folder), [&](const fs::directory_entry& entry) {
    if (entry.is_regular_file()) paths.push_back(entry.path().lexically_relative(root_).generic_string());
  });
  std::sort(paths.begin(), paths.end());
  return paths;
}

Status Tree::apply(const Plan& plan) const { return applyPlan(root_, plan); }

}  // namespace opkit::scaffold
