#include "harness/watch/edited_files.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "harness/shaders/shader_workshop.h"
#include "harness/watch/edited_operators.h"

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

}  // namespace opkit::harness
