#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/batch_norm/batch_norm.h"
#include "shaders/batch_norm/batch_norm.h"

namespace opkit::ops::batch_norm {
namespace {

using Shader = shaders::BatchNorm;

class BatchNormVulkan final : public vulkan::VulkanExecution {
 public:
  BatchNormVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<BatchNormParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const Shape& shape = inputs[0]->desc.shape;
    const int64_t count = inputs[0]->desc.elements();
    return encoder.dispatch<Shader>(
        {*Shader::storageOf(outputs[0]->desc.dtype), *Shader::affineOf(inputs[1]->desc.dtype),
         *Shader::statisticOf(inputs[3]->desc.dtype)},
        {.x = inputs[0],
         .scale = inputs[1],
         .bias = inputs[2],
         .mean = inputs[3],
         .variance = inputs[4],
         .y = outputs[0]},
        {.count = static_cast<uint32_t>(count),
         .channels = static_cast<uint32_t>(shape.size() > 1 ? shape[1] : 1),
         .inner = static_cast<uint32_t>(shape.size() > 1 ? elementCount(shape, 2, shape.size()) : 1),
         .epsilon = params_.epsilon},
        vulkan::Groups::linear(count, 64));
  }

 private:
  BatchNormParamsT params_;
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
