#include "harness/shaders/shader_workshop.h"

#include <re2/re2.h>

#include <filesystem>
#include <sstream>

#include "engine/backend/vulkan/shader_build/variants.h"
#include "engine/base/checked_file.h"

namespace opkit::harness {

namespace {

bool isIncluded(const std::string& name) { return name.ends_with(".glsl"); }

}  // namespace

std::string shaderOf(const std::string& variantName) { return variantName.substr(0, variantName.find(' ')); }

std::string ShaderWorkshop::pathOf(const std::string& name) const {
  return fmt::format("{}/shaders/{}{}", root_, name, isIncluded(name) ? "" : ".comp");
}

Result<std::string> ShaderWorkshop::fileText(const std::string& name) const {
  auto text = readText(pathOf(name));
  if (!text) return Status::invalidArgument("{}; --source names the source tree", text.error().message());
  return text;
}

Result<std::set<std::string>> ShaderWorkshop::includedBy(const std::string& shader) const {
  static const re2::RE2 directive(R"re(^\s*#include\s+"([^"]+)")re");
  std::set<std::string> found;
  std::vector<std::string> open = {shader};
  while (!open.empty()) {
    const std::string from = std::move(open.back());
    open.pop_back();
    OPKIT_ASSIGN(const std::string text, fileText(from));
    std::istringstream lines(text);
    std::string written;
    for (std::string line; std::getline(lines, line);) {
      if (!re2::RE2::PartialMatch(line, directive, &written)) continue;
      const std::string rooted = written.starts_with("shaders/") ? written.substr(8) : "include/" + written;
      for (const std::string& name : {from.substr(0, from.find('/') + 1) + written, rooted}) {
        if (!std::filesystem::is_regular_file(pathOf(name))) continue;
        if (found.insert(name).second) open.push_back(name);
        break;
      }
    }
  }
  return found;
}

void ShaderWorkshop::setText(const std::string& name, std::string text) {
  const bool everywhere = isIncluded(name);
  if (everywhere)
    included_[std::filesystem::path(pathOf(name)).lexically_normal().string()] = std::move(text);
  else
    texts_[name] = std::move(text);
  for (auto at = compiled_.begin(); at != compiled_.end();) {
    if (!everywhere && shaderOf(at->first) != name) {
      ++at;
      continue;
    }
    retired_.push_back(std::move(at->second));
    at = compiled_.erase(at);
  }
}

Result<std::span<const uint32_t>> ShaderWorkshop::compile(const std::string& variantName,
                                                          shader_build::DebugInfo debug) {
  if (const auto found = compiled_.find(variantName); found != compiled_.end())
    return std::span<const uint32_t>(found->second);
  const std::string shader = shaderOf(variantName);
  const std::string wanted = variantName.size() > shader.size() ? variantName.substr(shader.size() + 1) : "";
  if (!texts_.contains(shader)) {
    OPKIT_ASSIGN(texts_[shader], fileText(shader));
  }
  const std::string path = pathOf(shader), &text = texts_[shader];
  dependencies_.insert(path);
  OPKIT_ASSIGN(const auto axes, shader_build::parseAxes(path, text));
  for (const shader_build::Choice& choice : shader_build::allChoices(axes)) {
    if (shader_build::describe(axes, choice) != wanted) continue;
    OPKIT_ASSIGN(auto made,
                 shader_build::compile(path, text, shader_build::definesOf(axes, choice),
                                       {root_ + "/shaders/include", root_}, dependencies_, included_, debug));
    return std::span<const uint32_t>(compiled_[variantName] = std::move(made.optimized));
  }
  return Status::invalidArgument("{}: has no variant '{}'", path, wanted);
}

}  // namespace opkit::harness
