#include <array>

#include "engine/backend/vulkan/vulkan_execution.h"
#include "harness/testing/broken_kernels.h"

namespace opkit::harness {
namespace {

// Compiled by the build from test_shaders/broken.comp.
constexpr uint32_t kSpirv[] = {
#include "harness/broken_spirv.inc"
};

constexpr std::array<vulkan::Access, 2> kBindings = {vulkan::Access::Read, vulkan::Access::Write};

class BrokenVulkan final : public vulkan::VulkanExecution {
 public:
  BrokenVulkan(Break how, Backend& backend) : VulkanExecution(backend), how_(how) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    auto count = static_cast<uint32_t>(inputs[0]->desc.elements());
    first_ = first_ == 0 ? count : first_;
    if (how_ == Break::KeepsStaleState) count = std::min(count, first_);
    const std::array<uint32_t, 2> push = {count, static_cast<uint32_t>(how_)};
    const vulkan::ShaderCode code{"harness/broken", kSpirv, kBindings, sizeof(push), 0, {64, 1, 1}};
    const std::array<const Tensor*, 2> tensors = {inputs[0], outputs[0]};
    return encoder.dispatchRaw(code, tensors, std::as_bytes(std::span(push)), {}, {(count + 63) / 64, 1, 1});
  }

 private:
  Break how_;
  uint32_t first_ = 0;
};

}  // namespace

void addBrokenVulkan(OpRegistry& registry, Break how, const std::shared_ptr<Instances>& instances) {
  registry.addFirstCreator(
      "vulkan", "Relu",
      {"broken",
       [](const CreateArgs& args) {
         return args.input(0).dtype == DType::Float32 ? Status::ok() : Status::unsupported("Relu: broken only for f32");
       },
       [how, instances](const CreateArgs&, Backend& backend) -> Result<std::unique_ptr<Execution>> {
         const size_t number = ++instances->made;
         const bool broken = instances->broken == 0 || instances->broken == number;
         return std::unique_ptr<Execution>(std::make_unique<BrokenVulkan>(broken ? how : Break::Nothing, backend));
       }});
}

}  // namespace opkit::harness
