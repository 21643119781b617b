#include "engine/backend/vulkan/shader_build/build_shader.h"

#include <fstream>
#include <sstream>

#include "engine/backend/vulkan/shader_build/compiler.h"
#include "engine/backend/vulkan/shader_build/generator.h"

namespace opkit::shader_build {
namespace {

Result<std::string> readText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Status::invalidArgument("{}: error: cannot be read", path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Status inFile(const Status& status, const std::string& path) {
  return status.isOk() ? status : Status::invalidArgument("{}:1: error: {}", path, status.message());
}

}  // namespace

Result<Output> buildShader(const Request& request) {
  OPKIT_ASSIGN(const std::string text, readText(request.path));
  Output output;
  output.dependencies.insert(request.path);
  Shader shader{request.name, {}, {}};
  OPKIT_ASSIGN(shader.axes, parseAxes(request.path, text));
  for (const Choice& choice : allChoices(shader.axes)) {
    auto compiled = compile(request.path, text, definesOf(shader.axes, choice), request.includes, output.dependencies);
    if (!compiled) {
      const std::string variant = describe(shader.axes, choice);
      return Status::invalidArgument("{}{}", compiled.error().message(),
                                     variant.empty() ? "" : fmt::format("(variant {})", variant));
    }
    auto reflection = reflect(compiled->plain);
    if (!reflection) return inFile(reflection.error(), request.path);
    shader.variants.push_back({choice, std::move(compiled->optimized), *std::move(reflection)});
  }
  auto interface = commonInterface(shader, text);
  if (!interface) return inFile(interface.error(), request.path);
  output.header = headerText(shader, *interface);
  output.source = sourceText(shader, *interface);
  return output;
}

}  // namespace opkit::shader_build
