#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/dynamic_quantize/dynamic_quantize_parts.h"
#include "shaders/dynamic_quantize/quantization_range.h"

namespace opkit::ops::dynamic_quantize {
namespace {

class RangeVulkan final : public vulkan::VulkanExecution {
 public:
  RangeVulkan(const CreateArgs&, Backend& backend) : VulkanExecution(backend) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    return encoder.dispatch<shaders::QuantizationRange>(
        {}, {.least = inputs[0], .greatest = inputs[1], .scale = outputs[0], .zeroPoint = outputs[1]}, {},
        vulkan::Groups{});
  }
};

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "QuantizationRange", vulkan::creatorOf<RangeVulkan>(vulkan::takeAll));
}

}  // namespace opkit::ops::dynamic_quantize
