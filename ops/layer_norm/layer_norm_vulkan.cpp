#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/layer_norm/layer_norm.h"
#include "shaders/layer_norm/layer_norm.h"

namespace opkit::ops::layer_norm {
namespace {

using Shader = shaders::LayerNorm;

// Rows without elements are not dispatched.
vulkan::RowWork workOf(const NormRows& rows) {
  // Of each pass the steps of EACH_OF_ROW count too: compilers do not unroll a body of this size.
  constexpr int64_t kPasses = 3;
  return {.rows = rows.extent > 0 ? rows.rows : 0,
          .extent = rows.extent,
          .passes = kPasses,
          .tileRun = 1,
          .tilePasses = kPasses};
}

// Statistics that are not requested are bound to y and not written.
Status encodeRows(const NormRows& rows, TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) {
  const vulkan::RowWork work = workOf(rows).keeping();
  const bool hasBias = inputs.size() > 2 && inputs[2];
  const Tensor* mean = outputs.size() > 1 ? outputs[1] : nullptr;
  const Tensor* deviation = outputs.size() > 2 ? outputs[2] : nullptr;
  return encoder.dispatch<Shader>({*Shader::storageOf(outputs[0]->desc.dtype)},
                                  {.x = inputs[0],
                                   .scale = inputs[1],
                                   .bias = hasBias ? inputs[2] : inputs[1],
                                   .y = outputs[0],
                                   .mean = mean ? mean : outputs[0],
                                   .inverseDeviation = deviation ? deviation : outputs[0]},
                                  {.rows = work.rows,
                                   .extent = rows.extent,
                                   .channels = rows.channels,
                                   .rowChannels = rows.rowChannels,
                                   .centred = rows.centred ? 1u : 0u,
                                   .hasBias = hasBias ? 1u : 0u,
                                   .statistics = (mean ? 1u : 0u) | (deviation ? 2u : 0u),
                                   .epsilon = rows.epsilon},
                                  work);
}

class LayerNormVulkan final : public vulkan::VulkanExecution {
 public:
  LayerNormVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<LayerNormParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    return encodeRows(layerRows(params_, inputs[0]->desc.shape), inputs, outputs, encoder);
  }

 private:
  LayerNormParamsT params_;
};

class InstanceNormVulkan final : public vulkan::VulkanExecution {
 public:
  InstanceNormVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<InstanceNormParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    return encodeRows(instanceRows(params_, inputs[0]->desc.shape), inputs, outputs, encoder);
  }

 private:
  InstanceNormParamsT params_;
};

Status supports(const CreateArgs& args) {
  for (size_t i = 1; i < args.outputs.size(); ++i)
    if (args.outputs[0].elements() == 0 && args.outputs[i].elements() > 0)
      return Status::unsupported("{}: the Vulkan kernel gives no statistics of empty rows", args.def.type);
  for (size_t i = 1; i < args.outputs.size(); ++i)
    if (args.outputs[i].dtype != DType::Float32)
      return Status::unsupported("{}: the Vulkan kernel gives statistics as f32, not {}", args.def.type,
                                 nameOf(args.outputs[i].dtype));
  return vulkan::requireStorage<Shader>(args, args.outputs[0].dtype);
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "LayerNormalization", vulkan::creatorOf<LayerNormVulkan>(supports));
  registry.addCreator("vulkan", "InstanceNormalization", vulkan::creatorOf<InstanceNormVulkan>(supports));
}

}  // namespace opkit::ops::layer_norm
