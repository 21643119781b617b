#include "harness/watch/edited_files.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "harness/shaders/shader_workshop.h"

namespace opkit::harness {
namespace {

namespace fs = std::filesystem;

/// "gemm/gemm_thin" of every .comp below root/shaders.
std::vector<std::string> allShaders(const std::string& root) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& folder : fs::directory_iterator(fs::path(root) / "shaders", ignored))
    for (const auto& file : fs::directory_iterator(folder.path(), ignored))
      if (file.path().extension() == ".comp")
        names.push_back(folder.path().filename().string() + "/" + file.path().stem().string());
  return names;
}

/// "ops/gemm/gemm_thin_vulkan.h" of each line that includes a header of the tree.
std::set<std::string> headersIn(const fs::path& path) {
  std::set<std::string> headers;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("#include \""))
      if (const size_t end = line.find('"', 10); end != std::string::npos) headers.insert(line.substr(10, end - 10));
  return headers;
}

/// Those of each C++ file below root/ops and root/engine/backend, by path below the root.
std::map<std::string, std::set<std::string>> includesIn(const std::string& root) {
  std::map<std::string, std::set<std::string>> includes;
  std::error_code ignored;
  for (const char* part : {"ops", "engine/backend"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(root) / part, ignored)) {
      const std::string path = fs::relative(entry.path(), root, ignored).string();
      if ((!path.ends_with(".cpp") && !path.ends_with(".h")) || path.ends_with("_test.cpp")) continue;
      includes[path] = headersIn(entry.path());
    }
  return includes;
}

/// The shaders that include each .glsl, by its name below shaders/.
std::map<std::string, std::set<std::string>> shadersByInclude(const std::string& root) {
  const ShaderWorkshop workshop(root);
  std::map<std::string, std::set<std::string>> including;
  for (const std::string& shader : allShaders(root))
    if (const auto found = workshop.includedBy(shader))
      for (const std::string& included : *found)
        including[fs::path(included).lexically_normal().string()].insert(shader);
  return including;
}

std::set<std::string> shadersOfCode(const fs::path& path) {
  std::set<std::string> shaders;
  for (const std::string& header : headersIn(path))
    if (header.starts_with("shaders/")) shaders.insert(header.substr(8, header.size() - 10));
  return shaders;
}

}  // namespace

std::vector<EditedFile> editedFiles(const std::string& root, const std::set<std::string>& paths) {
  std::vector<EditedFile> edited;
  std::optional<std::map<std::string, std::set<std::string>>> including;  // read once it is needed
  for (const std::string& path : paths) {
    const std::string name = path.substr(std::min<size_t>(path.find('/') + 1, path.size()));
    if (path.ends_with(".comp")) {
      edited.push_back({path, {name.substr(0, name.size() - 5)}});
    } else if (path.ends_with(".glsl")) {
      if (!including) including = shadersByInclude(root);
      edited.push_back({path, (*including)[name]});
    } else if (path.ends_with(".cpp")) {
      if (auto shaders = shadersOfCode(fs::path(root) / path); !shaders.empty())
        edited.push_back({path, std::move(shaders)});
    }
  }
  return edited;
}

std::vector<std::string> operatorsOf(const std::string& shader, const std::string& root, const OpRegistry& registry) {
  const auto includes = includesIn(root);
  std::set<std::string> folders, seen;
  std::vector<std::string> open = {"shaders/" + shader + ".h"};
  while (!open.empty()) {
    const std::string header = std::move(open.back());
    open.pop_back();
    for (const auto& [path, included] : includes) {
      if (!included.contains(header)) continue;
      if (path.starts_with("engine/")) return {};
      folders.insert(path.substr(4, path.find('/', 4) - 4));
      const std::string own = path.substr(0, path.rfind('.')) + ".h";  // what a .cpp implements, others use
      if (includes.contains(own) && seen.insert(own).second) open.push_back(own);
    }
  }
  std::vector<std::string> operators;
  for (const OpDef* def : registry.all())
    if (folders.contains(def->folder)) operators.push_back(def->type);
  return operators;
}

}  // namespace opkit::harness
