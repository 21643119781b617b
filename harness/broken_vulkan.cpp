#include <shaderc/shaderc.hpp>

#include "engine/backend/vulkan/vulkan_execution.h"
#include "harness/broken_kernels.h"

namespace opkit::harness {
namespace {

// `how` follows enum Break; the tail guard is dropped for whole work groups.
constexpr const char* kSource = R"glsl(#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push { uint count; uint how; } push;
void main() {
  const uint i = gl_GlobalInvocationID.x;
  const uint count = push.count, how = push.how;
  if (i >= count && how != 2) return;
  if (how == 5 && i == count / 2) return;
  float value = max(x[i], 0.0);
  if (how == 1) value = -value;
  if (how == 3) value = uintBitsToFloat(0x7FC00000u);
  y[i] = value;
  if (how == 4 && i == 0) y[count] = 1.0;
}
)glsl";

const std::vector<uint32_t>& spirv() {
  static const std::vector<uint32_t> words = [] {
    shaderc::CompileOptions options;
    options.SetTargetEnvironment(shaderc_target_env_vulkan, shaderc_env_version_vulkan_1_1);
    const auto result = shaderc::Compiler().CompileGlslToSpv(kSource, shaderc_compute_shader, "broken.comp", options);
    OPKIT_CHECK(result.GetCompilationStatus() == shaderc_compilation_status_success);
    return std::vector<uint32_t>(result.cbegin(), result.cend());
  }();
  return words;
}

constexpr std::array<vulkan::Access, 2> kBindings = {vulkan::Access::Read, vulkan::Access::Write};

class BrokenVulkan final : public vulkan::VulkanExecution {
 public:
  BrokenVulkan(Break how, Backend& backend) : VulkanExecution(backend), how_(how) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    auto count = static_cast<uint32_t>(inputs[0]->desc.elements());
    first_ = first_ == 0 ? count : first_;
    if (how_ == Break::KeepsStaleState) count = std::min(count, first_);
    const std::array<uint32_t, 2> push = {count, static_cast<uint32_t>(how_)};
    const vulkan::ShaderCode code{"harness/broken", spirv(), kBindings, sizeof(push), 0, {64, 1, 1}};
    const std::array<const Tensor*, 2> tensors = {inputs[0], outputs[0]};
    return encoder.dispatchRaw(code, tensors, std::as_bytes(std::span(push)), {}, {(count + 63) / 64, 1, 1});
  }

 private:
  Break how_;
  uint32_t first_ = 0;
};

}  // namespace

void addBrokenVulkan(OpRegistry& registry, Break how) {
  registry.addFirstCreator(
      "vulkan", "Relu",
      {"broken",
       [](const CreateArgs& args) {
         return args.input(0).dtype == DType::Float32 ? Status::ok() : Status::unsupported("Relu: broken only for f32");
       },
       [how](const CreateArgs&, Backend& backend) -> Result<std::unique_ptr<Execution>> {
         return std::unique_ptr<Execution>(std::make_unique<BrokenVulkan>(how, backend));
       }});
}

}  // namespace opkit::harness
