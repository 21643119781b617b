#include "harness/shaders/shader_workshop.h"

#include <fstream>
#include <sstream>

#include "engine/backend/vulkan/shader_build/variants.h"

namespace opkit::harness {

std::string shaderOf(const std::string& variantName) { return variantName.substr(0, variantName.find(' ')); }

std::string ShaderWorkshop::pathOf(const std::string& shader) const { return root_ + "/shaders/" + shader + ".comp"; }

Result<std::string> ShaderWorkshop::fileText(const std::string& shader) const {
  std::ifstream file(pathOf(shader), std::ios::binary);
  if (!file) return Status::invalidArgument("{}: cannot be read; --source names the source tree", pathOf(shader));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void ShaderWorkshop::setText(const std::string& shader, std::string text) {
  texts_[shader] = std::move(text);
  for (auto at = compiled_.begin(); at != compiled_.end();) {
    if (shaderOf(at->first) != shader) {
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
    OPKIT_ASSIGN(auto made, shader_build::compile(path, text, shader_build::definesOf(axes, choice),
                                                  {root_ + "/shaders/include", root_}, dependencies_, {}, debug));
    return std::span<const uint32_t>(compiled_[variantName] = std::move(made.optimized));
  }
  return Status::invalidArgument("{}: has no variant '{}'", path, wanted);
}

}  // namespace opkit::harness
