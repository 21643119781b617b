#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/batch_norm/batch_norm.h"
#include "shaders/batch_norm/batch_norm.h"

namespace opkit::ops::batch_norm {
namespace {

using Shader = shaders::BatchNorm;

constexpr int64_t kRun = 8;  // elements, or vec4s, that share one load of the channel's factors

class BatchNormVulkan final : public vulkan::VulkanExecution {
 public:
  BatchNormVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<BatchNormParams>()), caps_(args.device) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const Tensor& x = *inputs[0];
    const Shape& shape = x.desc.shape;
    if (x.desc.elements() == 0) return Status::ok();
    const int64_t channels = shape.size() > 1 ? shape[1] : 1;
    const int64_t elements = shape.size() > 1 ? elementCount(shape, 2, shape.size()) : 1;
    const bool texels =
        caps_.prefersTexels && elements % 4 == 0 && static_cast<uint64_t>(x.desc.elements()) / 4 <= caps_.maxTexels;
    const int64_t inner = texels ? elements / 4 : elements;
    const int64_t stride = (inner + kRun - 1) / kRun;
    const int64_t count = shape[0] * (shape.size() > 1 ? channels : 1) * stride;
    return encoder.dispatch<Shader>(
        {*Shader::storageOf(outputs[0]->desc.dtype), *Shader::affineOf(inputs[1]->desc.dtype),
         *Shader::statisticOf(inputs[3]->desc.dtype), texels ? Shader::Read::Texel : Shader::Read::Ssbo},
        {.x = &x, .scale = inputs[1], .bias = inputs[2], .mean = inputs[3], .variance = inputs[4], .y = outputs[0]},
        {.count = static_cast<uint32_t>(count),
         .stride = static_cast<uint32_t>(stride),
         .inner = static_cast<uint32_t>(inner),
         .channels = static_cast<uint32_t>(channels),
         .epsilon = params_.epsilon},
        vulkan::Groups::linear(count, 64));
  }

 private:
  BatchNormParamsT params_;
  DeviceCaps caps_;
};

Status supports(const CreateArgs& args) {
  for (size_t i = 0; i < args.inputs.size(); ++i) OPKIT_TRY(vulkan::requireStorage<Shader>(args, args.input(i).dtype));
  return Status::ok();
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "BatchNormalization", vulkan::creatorOf<BatchNormVulkan>(supports));
}

}  // namespace opkit::ops::batch_norm
