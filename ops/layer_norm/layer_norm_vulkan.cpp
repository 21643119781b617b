#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/layer_norm/layer_norm.h"
#include "shaders/layer_norm/layer_norm.h"

namespace opkit::ops::layer_norm {
namespace {

using Shader = shaders::LayerNorm;

constexpr int64_t kStrands = 8;      // the shader's
constexpr uint32_t kLocalSize = 32;  // rows are few and long: small groups spread them over more cores

// Statistics that nobody asked for are bound to y and not written.
Status encodeRows(const NormRows& rows, TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) {
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
                                  {.rows = static_cast<uint32_t>(rows.rows),
                                   .extent = static_cast<uint32_t>(rows.extent),
                                   .channels = static_cast<uint32_t>(rows.channels),
                                   .hasBias = hasBias ? 1u : 0u,
                                   .statistics = (mean ? 1u : 0u) | (deviation ? 2u : 0u),
                                   .epsilon = rows.epsilon},
                                  vulkan::Groups::linear(rows.extent > 0 ? rows.rows : 0, kLocalSize),
                                  {.localSizeX = kLocalSize});
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

Status supports(const CreateArgs& args, const NormRows& rows) {
  for (size_t i = 1; i < args.outputs.size(); ++i)
    if (args.outputs[0].elements() == 0 && args.outputs[i].elements() > 0)
      return Status::unsupported("{}: the Vulkan kernel gives no statistics of empty rows", args.def.type);
  for (size_t i = 1; i < args.outputs.size(); ++i)
    if (args.outputs[i].dtype != DType::Float32)
      return Status::unsupported("{}: the Vulkan kernel gives statistics as f32, not {}", args.def.type,
                                 nameOf(args.outputs[i].dtype));
  OPKIT_TRY(vulkan::requireStorage<Shader>(args, args.outputs[0].dtype));
  // Two folds of kStrands elements a pass, and one walk to write.
  const int64_t folds = (rows.extent + kStrands - 1) / kStrands;
  return vulkan::requireLoops(args, 2 * vulkan::loopPasses({folds}) + vulkan::loopPasses({rows.extent}));
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "LayerNormalization", vulkan::creatorOf<LayerNormVulkan>([](const CreateArgs& args) {
                        return supports(args, layerRows(args.params<LayerNormParams>(), args.input(0).shape));
                      }));
  registry.addCreator("vulkan", "InstanceNormalization",
                      vulkan::creatorOf<InstanceNormVulkan>([](const CreateArgs& args) {
                        return supports(args, instanceRows(args.params<InstanceNormParams>(), args.input(0).shape));
                      }));
}

}  // namespace opkit::ops::layer_norm
