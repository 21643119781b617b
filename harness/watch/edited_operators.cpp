#include "harness/watch/edited_operators.h"

#include <filesystem>
#include <map>
#include <optional>
#include <sstream>

#include "engine/base/checked_file.h"
#include "engine/base/child_process.h"
#ifdef OPKIT_HAS_VULKAN
#include "harness/check/traced_cases.h"
#include "harness/watch/edited_files.h"
#endif

namespace opkit::harness {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostUsers = 24;  // folders of operators; a file of the engine with more is a part of all

/// The headers that a C++ file includes, by the file's path below the root.
using Includes = std::map<std::string, std::set<std::string>>;

/// Of the files below root/ops and root/engine/backend.
Includes includesIn(const std::string& root) {
  Includes includes;
  std::error_code ignored;
  for (const char* part : {"ops", "engine/backend"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(root) / part, ignored)) {
      const std::string path = fs::relative(entry.path(), root, ignored).string();
      if ((!path.ends_with(".cpp") && !path.ends_with(".h")) || path.ends_with("_test.cpp")) continue;
      includes[path] = headersIn(entry.path().string());
    }
  return includes;
}

/// "ops/gemm/thin.h" for "ops/gemm/thin.cpp".
std::string headerOf(const std::string& path) { return path.substr(0, path.rfind('.')) + ".h"; }

/// The folders below ops/ that include the header, directly or through other headers; none if the engine does and
/// `engineCounts`.
std::optional<std::set<std::string>> foldersWith(const std::string& header, const Includes& includes,
                                                 bool engineCounts = true) {
  std::set<std::string> folders, seen = {header};
  std::vector<std::string> open = {header};
  while (!open.empty()) {
    const std::string next = std::move(open.back());
    open.pop_back();
    for (const auto& [path, included] : includes) {
      if (!included.contains(next)) continue;
      const bool isEngine = path.starts_with("engine/");
      if (isEngine && engineCounts) return std::nullopt;
      if (isEngine) continue;
      folders.insert(path.substr(4, path.find('/', 4) - 4));
      const std::string own = headerOf(path);  // what a .cpp implements, others use
      if (includes.contains(own) && seen.insert(own).second) open.push_back(own);
    }
  }
  return folders;
}

#ifdef OPKIT_HAS_VULKAN
/// The operators that run a shader of the engine: their traced cases dispatch it, or they move data or are a loop.
std::set<std::string> operatorsOnEngineShader(const std::string& shader, const OpRegistry& registry) {
  std::set<std::string> operators = TracedCases::builtin().operatorsOf(shader);
  for (const OpDef* def : registry.all())
    if ((shader.starts_with("raster/") && def->lower) || (shader.starts_with("loop/") && def->loop))
      operators.insert(def->type);
  return operators;
}
#endif

}  // namespace

std::set<std::string> headersIn(const std::string& path) {
  std::set<std::string> headers;
  const auto text = readText(path);
  std::istringstream lines(text ? *text : "");
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("#include \""))
      if (const size_t end = line.find('"', 10); end != std::string::npos) headers.insert(line.substr(10, end - 10));
  return headers;
}

std::vector<std::string> operatorsOf(const std::string& shader, const std::string& root, const OpRegistry& registry) {
  const std::optional<std::set<std::string>> folders = foldersWith("shaders/" + shader + ".h", includesIn(root));
  std::vector<std::string> operators;
  for (const OpDef* def : registry.all())
    if (folders && folders->contains(def->folder)) operators.push_back(def->type);
  return operators;
}

std::vector<std::string> uncommittedFiles(const std::string& root) {
  const auto git = [&](const std::vector<std::string>& words) -> std::string {
    std::vector<std::string> all = {"git", "-C", root};
    all.insert(all.end(), words.begin(), words.end());
    const auto run = runChild(all);
    return run && run->exitCode == 0 ? run->output : "";
  };
  std::error_code ignored;
  if (!fs::exists(fs::path(root) / ".git", ignored)) return {};
  std::vector<std::string> paths;
  std::istringstream lines(git({"diff", "--name-only", "--no-renames", "HEAD"}) +
                           git({"ls-files", "--others", "--exclude-standard"}));
  for (std::string line; std::getline(lines, line);) paths.push_back(line);
  return paths;
}

std::set<std::string> operatorsOfFiles(const std::vector<std::string>& paths, const std::string& root,
                                       const OpRegistry& registry) {
  Includes includes;  // read once it is needed
  std::set<std::string> folders, operators;
  const auto addUsers = [&](const std::string& header) {
    if (includes.empty()) includes = includesIn(root);
    const auto found = foldersWith(header, includes);
    if (found) folders.insert(found->begin(), found->end());
    return found.has_value();
  };
  for (const std::string& path : paths) {
    if (path.ends_with("_test.cpp") || path.ends_with(".md")) continue;
    if (path.starts_with("shaders/")) {
#ifdef OPKIT_HAS_VULKAN
      for (const EditedFile& file : editedFiles(root, {path}))
        for (const std::string& shader : file.shaders)
          if (!addUsers("shaders/" + shader + ".h")) operators.merge(operatorsOnEngineShader(shader, registry));
    } else if (path.starts_with("engine/backend/vulkan/")) {
      // Code of the engine that dispatches shaders. Of other code of the engine every operator is a user.
      for (const std::string& header : headersIn((fs::path(root) / path).string()))
        if (header.starts_with("shaders/"))
          operators.merge(operatorsOnEngineShader(header.substr(8, header.rfind('.') - 8), registry));
      if (includes.empty()) includes = includesIn(root);
      const auto users = foldersWith(headerOf(path), includes, false);
      if (users->size() <= kMostUsers) folders.insert(users->begin(), users->end());
#endif
    } else if (const size_t end = path.find('/', 4); path.starts_with("ops/") && end != std::string::npos) {
      folders.insert(path.substr(4, end - 4));
      addUsers(headerOf(path));
    }
  }
  for (const OpDef* def : registry.all())
    if (folders.contains(def->folder)) operators.insert(def->type);
  return operators;
}

}  // namespace opkit::harness
