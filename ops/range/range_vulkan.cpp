#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/range/range.h"
#include "shaders/range/range.h"

namespace opkit::ops::range {
namespace {

using Shader = shaders::Range;

class RangeVulkan final : public vulkan::VulkanExecution {
 public:
  RangeVulkan(const CreateArgs&, Backend& backend) : VulkanExecution(backend) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const int64_t count = outputs[0]->desc.elements();
    return encoder.dispatch<Shader>({*Shader::storageOf(outputs[0]->desc.dtype)},
                                    {.start = inputs[0], .delta = inputs[2], .y = outputs[0]},
                                    {.count = static_cast<uint32_t>(count)}, vulkan::Groups::linear(count, 64));
  }
};

Status supports(const CreateArgs& args) {
  if (args.outputs[0].dtype == DType::Int64 && !args.device.int64)
    return Status::unsupported("Range: the device has no 64-bit integers");
  return vulkan::requireStorage<Shader>(args, args.outputs[0].dtype);
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "Range", vulkan::creatorOf<RangeVulkan>(supports));
}

}  // namespace opkit::ops::range
