#include "engine/backend/vulkan/shader_build/compiler.h"

#include <filesystem>
#include <fstream>
#include <shaderc/shaderc.hpp>
#include <spirv-tools/optimizer.hpp>
#include <sstream>

namespace opkit::shader_build {
namespace {

namespace fs = std::filesystem;

constexpr spv_target_env kEnvironment = SPV_ENV_VULKAN_1_2;

class Includer final : public shaderc::CompileOptions::IncluderInterface {
 public:
  Includer(const std::vector<std::string>& folders, std::set<std::string>& dependencies,
           const std::map<std::string, std::string>& embedded)
      : folders_(folders), dependencies_(dependencies), embedded_(embedded) {}

  shaderc_include_result* GetInclude(const char* requested, shaderc_include_type, const char* from, size_t) override {
    auto* file = new File;
    const fs::path found = find(requested, from);
    const auto text = embedded_.find(requested);
    if (found.empty() && text != embedded_.end()) {
      file->name = requested;
      file->content = text->second;
    } else if (found.empty()) {
      file->content = fmt::format("no such file beside {} or in the include folders", from);
    } else {
      file->name = found.string();
      std::ostringstream read;
      read << std::ifstream(found, std::ios::binary).rdbuf();
      file->content = read.str();
      dependencies_.insert(file->name);
    }
    file->result = {file->name.data(), file->name.size(), file->content.data(), file->content.size(), file};
    return &file->result;
  }

  void ReleaseInclude(shaderc_include_result* result) override { delete static_cast<File*>(result->user_data); }

 private:
  struct File {
    std::string name;  // empty tells shaderc that `content` is an error message
    std::string content;
    shaderc_include_result result;
  };

  fs::path find(const char* requested, const char* from) const {
    std::error_code ignored;
    fs::path candidate = fs::path(from).parent_path() / requested;
    if (fs::is_regular_file(candidate, ignored)) return candidate.lexically_normal();
    for (const std::string& folder : folders_) {
      candidate = fs::path(folder) / requested;
      if (fs::is_regular_file(candidate, ignored)) return candidate.lexically_normal();
    }
    return {};
  }

  const std::vector<std::string>& folders_;
  std::set<std::string>& dependencies_;
  const std::map<std::string, std::string>& embedded_;
};

Status validate(const std::vector<uint32_t>& spirv, const std::string& path, const char* stage) {
  std::string messages;
  spvtools::SpirvTools tools(kEnvironment);
  tools.SetMessageConsumer([&](spv_message_level_t, const char*, const spv_position_t& position, const char* text) {
    messages += fmt::format("{}:1: error: spirv-val ({}), word {}: {}\n", path, stage, position.index, text);
  });
  if (tools.Validate(spirv)) return Status::ok();
  return Status::invalidArgument("{}", messages);
}

Result<std::vector<uint32_t>> optimize(const std::vector<uint32_t>& spirv, const std::string& path) {
  std::string messages;
  spvtools::Optimizer optimizer(kEnvironment);
  optimizer.SetMessageConsumer([&](spv_message_level_t level, const char*, const spv_position_t&, const char* text) {
    if (level <= SPV_MSG_ERROR) messages += fmt::format("{}:1: error: spirv-opt: {}\n", path, text);
  });
  optimizer.RegisterPerformancePasses();
  optimizer.RegisterPass(spvtools::CreateStripDebugInfoPass());
  std::vector<uint32_t> result;
  if (!optimizer.Run(spirv.data(), spirv.size(), &result)) return Status::invalidArgument("{}", messages);
  return result;
}

}  // namespace

Result<Compiled> compile(const std::string& path, const std::string& source, const Defines& defines,
                         const std::vector<std::string>& includes, std::set<std::string>& dependencies,
                         const std::map<std::string, std::string>& embedded) {
  shaderc::CompileOptions options;
  options.SetTargetEnvironment(shaderc_target_env_vulkan, shaderc_env_version_vulkan_1_2);
  options.SetWarningsAsErrors();
  options.SetIncluder(std::make_unique<Includer>(includes, dependencies, embedded));
  for (const auto& [name, value] : defines) options.AddMacroDefinition(name, value);

  // Kept for the process: while one lives, glslang need not parse its built-ins again for every variant.
  static const shaderc::Compiler compiler;
  const auto result = compiler.CompileGlslToSpv(source, shaderc_glsl_compute_shader, path.c_str(), options);
  if (result.GetCompilationStatus() != shaderc_compilation_status_success)
    return Status::invalidArgument("{}", result.GetErrorMessage());

  Compiled compiled;
  compiled.plain.assign(result.cbegin(), result.cend());
  OPKIT_TRY(validate(compiled.plain, path, "compiled"));
  OPKIT_ASSIGN(compiled.optimized, optimize(compiled.plain, path));
  OPKIT_TRY(validate(compiled.optimized, path, "optimised"));
  return compiled;
}

}  // namespace opkit::shader_build
