#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/cast/cast.h"
#include "shaders/cast/cast.h"

namespace opkit::ops::cast {
namespace {

using Shader = shaders::Cast;

/// Cast and CastLike: the output gives the target dtype.
class CastVulkan final : public vulkan::VulkanExecution {
 public:
  CastVulkan(const CreateArgs&, Backend& backend) : VulkanExecution(backend) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const int64_t count = outputs[0]->desc.elements();
    return encoder.dispatch<Shader>({*Shader::fromOf(inputs[0]->desc.dtype), *Shader::toOf(outputs[0]->desc.dtype)},
                                    {.x = inputs[0], .y = outputs[0]}, {.count = count}, vulkan::Elements{count});
  }
};

Status supports(const CreateArgs& args) {
  for (const TensorDesc& desc : {args.input(0), args.outputs[0]})
    if (!Shader::toOf(desc.dtype))
      return Status::unsupported("{}: the Vulkan kernel has no {} variant", args.def.type, nameOf(desc.dtype));
  return Status::ok();
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  for (const char* type : {"Cast", "CastLike"})
    registry.addCreator("vulkan", type, vulkan::creatorOf<CastVulkan>(supports));
}

}  // namespace opkit::ops::cast
