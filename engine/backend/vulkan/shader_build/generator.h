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

/// The C++ interface of a shader, the same for all variants.
struct Interface {
  std::vector<std::string> bindingNames;  // by binding number; views of one binding take the first declared name
  std::vector<vulkan::Access> access;
  std::vector<PushField> push;
  uint32_t pushBytes = 0;
  std::vector<SpecConstant> constants;
};

/// Collects the interface of all variants. A variant may leave declarations unused but must not contradict another:
/// InvalidArgument names the variant and the difference. `source` is the shader's text.
Result<Interface> commonInterface(const Shader& shader, const std::string& source);

/// Text of the header: struct opkit::shaders::<UpperCamel stem>.
std::string headerText(const Shader& shader, const Interface& interface);
/// Text of the source that defines it.
std::string sourceText(const Shader& shader, const Interface& interface);

}  // namespace opkit::shader_build
