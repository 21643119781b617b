// The declarations of a compiled shader: bindings, push constants, specialisation constants, local size.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/backend/vulkan/shader_code.h"
#include "engine/base/status.h"

namespace opkit::shader_build {

struct BindingInfo {
  // Names of the arrays inside the blocks: `buffer X { float x[]; }` -> "x". Several blocks may view one binding,
  // floats and vec4s of the same buffer; a variant that does not use a block does not show it.
  std::vector<std::string> names;
  vulkan::Access access = vulkan::Access::ReadWrite;
  bool operator==(const BindingInfo&) const = default;
};

struct PushField {
  std::string name;
  std::string type;     // C++: "uint32_t"
  uint32_t count = 0;   // elements of a vector or array, 0 for a scalar
  uint32_t offset = 0;  // bytes
  bool operator==(const PushField&) const = default;
};

struct SpecConstant {
  uint32_t id = 0;
  std::string name;
  std::string type;  // "uint32_t", "int32_t", "float" or "bool"
  uint32_t defaultBits = 0;
  bool operator==(const SpecConstant&) const = default;
};

struct Reflection {
  std::map<uint32_t, BindingInfo> bindings;  // by binding number
  std::vector<PushField> push;               // by offset
  uint32_t pushBytes = 0;
  std::vector<SpecConstant> constants;  // by id
  std::array<uint32_t, 3> localSize{1, 1, 1};
  std::array<uint32_t, 3> localSizeConstants{vulkan::ShaderCode::kNoConstant, vulkan::ShaderCode::kNoConstant,
                                             vulkan::ShaderCode::kNoConstant};  // ids, per axis
};

/// Merges the declaration of another block or variant for the same binding.
void mergeBinding(const BindingInfo& from, BindingInfo& into);

/// InvalidArgument names the declaration that the pipeline cannot express and what it expects.
Result<Reflection> reflect(const std::vector<uint32_t>& spirv);

}  // namespace opkit::shader_build
