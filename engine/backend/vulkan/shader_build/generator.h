// The last stage of the shader build: the C++ header and source of one shader and all its variants.
#pragma once

#include <string>
#include <vector>

#include "engine/backend/vulkan/shader_build/reflection.h"
#include "engine/backend/vulkan/shader_build/variants.h"

namespace opkit::shader_build {

struct Variant {
  Choice choice;
  std::vector<uint32_t> spirv;
  Reflection reflection;
};

struct Shader {
  std::string name;  // "softmax/softmax"
  std::vector<Axis> axes;
  std::vector<Variant> variants;  // all choices, in the order of allChoices
};

/// The interface that all variants share: bindings and push constants must be equal, specialisation constants
/// agree where they occur. InvalidArgument names the variant that differs and how.
Result<Reflection> commonInterface(const Shader& shader);

/// Text of the header: struct opkit::shaders::<UpperCamel stem>.
std::string headerText(const Shader& shader, const Reflection& interface);
/// Text of the source that defines it.
std::string sourceText(const Shader& shader, const Reflection& interface);

}  // namespace opkit::shader_build
