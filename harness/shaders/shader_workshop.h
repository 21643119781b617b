// ShaderWorkshop: the GLSL of the source tree, compiled in this process, for mutation and for watching.
//
// A Runtime asks it for SPIR-V through VulkanRuntime::setShaderSource. Variants are compiled at first use. Used by one
// thread.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/backend/vulkan/shader_build/compiler.h"
#include "engine/base/status.h"

namespace opkit::harness {

class ShaderWorkshop {
 public:
  /// `root` is a source tree: root/shaders/<op>/<name>.comp.
  explicit ShaderWorkshop(std::string root) : root_(std::move(root)) {}

  /// From now on the shader "softmax/softmax", or the file "cast/codes.glsl" in shaders that include it, has this text
  /// instead of that of its file.
  void setText(const std::string& name, std::string text);
  Result<std::string> fileText(const std::string& name) const;
  std::string pathOf(const std::string& name) const;
  /// The files that a shader includes, also through others, as names: "cast/codes.glsl", "include/rows.glsl".
  Result<std::set<std::string>> includedBy(const std::string& shader) const;

  /// SPIR-V of a variant by ShaderCode::name, "softmax/softmax STORAGE=f16". The words live as long as this object.
  /// InvalidArgument holds "file:line: error: ..." lines.
  Result<std::span<const uint32_t>> compile(const std::string& variantName,
                                            shader_build::DebugInfo debug = shader_build::DebugInfo::Strip);

  /// Every file that was read for shaders compiled so far.
  const std::set<std::string>& dependencies() const { return dependencies_; }

 private:
  std::string root_;
  std::map<std::string, std::string> texts_;               // by shader
  std::map<std::string, std::string> included_;            // texts by path
  std::map<std::string, std::vector<uint32_t>> compiled_;  // by variant; of the present texts
  std::vector<std::vector<uint32_t>> retired_;             // of earlier texts: pipelines may still use them
  std::set<std::string> dependencies_;
};

/// "softmax/softmax" of "softmax/softmax STORAGE=f16".
std::string shaderOf(const std::string& variantName);

}  // namespace opkit::harness
