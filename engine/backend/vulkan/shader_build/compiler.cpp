#include "engine/backend/vulkan/shader_build/compiler.h"

#include <spirv_cross/spirv.h>
#include <filesystem>
#include <fstream>
#include <set>
#include <shaderc/shaderc.hpp>
#include <span>
#include <spirv-tools/optimizer.hpp>
#include <sstream>

namespace opkit::shader_build {
namespace {

namespace fs = std::filesystem;

constexpr spv_target_env kEnvironment = SPV_ENV_VULKAN_1_2;

class Includer final : public shaderc::CompileOptions::IncluderInterface {
 public:
  Includer(const std::vector<std::string>& folders, std::set<std::string>& dependencies,
           const std::map<std::string, std::string>& texts)
      : folders_(folders), dependencies_(dependencies), texts_(texts) {}

  shaderc_include_result* GetInclude(const char* requested, shaderc_include_type, const char* from, size_t) override {
    auto* file = new File;
    const fs::path found = find(requested, from);
    if (const auto text = texts_.find(found.empty() ? requested : found.string()); text != texts_.end()) {
      file->name = text->first;
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
  const std::map<std::string, std::string>& texts_;
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

constexpr size_t kHeaderWords = 5;

/// Calls body(opcode, words of the instruction, offset) for every instruction.
template <class Body>
void forEachInstruction(const std::vector<uint32_t>& spirv, Body&& body) {
  for (size_t at = kHeaderWords; at < spirv.size() && spirv[at] >> 16 > 0; at += spirv[at] >> 16)
    body(static_cast<SpvOp>(spirv[at] & 0xFFFF), std::span(spirv).subspan(at, spirv[at] >> 16), at);
}

bool isFloatArithmetic(SpvOp op) {
  return op == SpvOpFNegate || op == SpvOpFAdd || op == SpvOpFSub || op == SpvOpFMul || op == SpvOpFDiv ||
         op == SpvOpVectorTimesScalar || op == SpvOpDot;
}

bool isExact(SpvOp op, std::span<const uint32_t> words) {
  return op == SpvOpDecorate && words[2] == SpvDecorationNoContraction;
}

/// When spirv-opt copies instructions, for example to unroll loops, the copies lose `precise`. A shader that uses
/// `precise` anywhere gets it everywhere.
std::vector<uint32_t> withExactArithmetic(const std::vector<uint32_t>& plain, std::vector<uint32_t> optimized) {
  bool wanted = false;
  forEachInstruction(plain, [&](SpvOp op, auto words, size_t) { wanted = wanted || isExact(op, words); });
  if (!wanted) return optimized;
  std::set<uint32_t> exact;
  std::vector<uint32_t> decorations;
  size_t firstType = 0;
  forEachInstruction(optimized, [&](SpvOp op, auto words, size_t at) {
    if (isExact(op, words)) exact.insert(words[1]);
    if (firstType == 0 && op >= SpvOpTypeVoid && op <= SpvOpTypeForwardPointer) firstType = at;
    if (isFloatArithmetic(op) && !exact.contains(words[2]))
      decorations.insert(decorations.end(), {3u << 16 | SpvOpDecorate, words[2], SpvDecorationNoContraction});
  });
  optimized.insert(optimized.begin() + static_cast<std::ptrdiff_t>(firstType), decorations.begin(), decorations.end());
  return optimized;
}

Result<std::vector<uint32_t>> optimize(const std::vector<uint32_t>& spirv, const std::string& path, DebugInfo debug) {
  std::string messages;
  spvtools::Optimizer optimizer(kEnvironment);
  optimizer.SetMessageConsumer([&](spv_message_level_t level, const char*, const spv_position_t&, const char* text) {
    if (level <= SPV_MSG_ERROR) messages += fmt::format("{}:1: error: spirv-opt: {}\n", path, text);
  });
  optimizer.RegisterPerformancePasses();
  if (debug == DebugInfo::Strip) optimizer.RegisterPass(spvtools::CreateStripDebugInfoPass());
  std::vector<uint32_t> result;
  if (!optimizer.Run(spirv.data(), spirv.size(), &result)) return Status::invalidArgument("{}", messages);
  return withExactArithmetic(spirv, std::move(result));
}

}  // namespace

Result<Compiled> compile(const std::string& path, const std::string& source, const Defines& defines,
                         const std::vector<std::string>& includes, std::set<std::string>& dependencies,
                         const std::map<std::string, std::string>& texts, DebugInfo debug) {
  shaderc::CompileOptions options;
  options.SetTargetEnvironment(shaderc_target_env_vulkan, shaderc_env_version_vulkan_1_2);
  options.SetWarningsAsErrors();
  if (debug == DebugInfo::Keep) options.SetGenerateDebugInfo();
  options.SetIncluder(std::make_unique<Includer>(includes, dependencies, texts));
  for (const auto& [name, value] : defines) options.AddMacroDefinition(name, value);

  // Kept for the whole process: while one exists, glslang does not parse its built-ins again for every variant.
  static const shaderc::Compiler compiler;
  const auto result = compiler.CompileGlslToSpv(source, shaderc_glsl_compute_shader, path.c_str(), options);
  if (result.GetCompilationStatus() != shaderc_compilation_status_success)
    return Status::invalidArgument("{}", result.GetErrorMessage());

  Compiled compiled;
  compiled.plain.assign(result.cbegin(), result.cend());
  OPKIT_TRY(validate(compiled.plain, path, "compiled"));
  OPKIT_ASSIGN(compiled.optimized, optimize(compiled.plain, path, debug));
  OPKIT_TRY(validate(compiled.optimized, path, "optimised"));
  return compiled;
}

}  // namespace opkit::shader_build
