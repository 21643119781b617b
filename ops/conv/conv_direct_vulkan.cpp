#include "ops/conv/conv_direct_vulkan.h"

#include "engine/backend/vulkan/vulkan_execution.h"
#include "ops/conv/conv.h"
#include "shaders/conv/conv_direct.h"

namespace opkit::ops::conv {
namespace {

using Shader = shaders::ConvDirect;

constexpr size_t kAxes = 3;
constexpr int64_t kOutputs = 4;  // channels of an invocation, as in conv_direct.comp

class ConvDirectVulkan final : public vulkan::VulkanExecution {
 public:
  ConvDirectVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<ConvParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const Tensor &x = *inputs[0], &w = *inputs[1], &y = *outputs[0];
    const Tensor* bias = inputs.size() > 2 ? inputs[2] : nullptr;
    OPKIT_ASSIGN(const ConvPlan plan, planConv(params_, x.desc.shape, w.desc.shape, nullptr));
    if (y.desc.elements() == 0) return Status::ok();
    const int64_t positions = plan.outputPositions(), blocks = (plan.groupOutputs + kOutputs - 1) / kOutputs;
    const int64_t count = plan.batch * plan.groups * blocks * positions;
    Shader::PushConstants push{.count = count,
                               .positions = positions,
                               .groups = plan.groups,
                               .groupInputs = plan.groupInputs,
                               .groupOutputs = plan.groupOutputs,
                               .blocks = blocks,
                               .hasBias = bias != nullptr,
                               .low = params_.clamp_low,
                               .high = params_.clamp_high};
    packWindow(padWindowRank(plan.axes, kAxes), push);
    return encoder.dispatch<Shader>({*Shader::storageOf(y.desc.dtype)},
                                    {.x = &x, .w = &w, .bias = bias ? bias : &x, .y = &y}, push, vulkan::Items{count});
  }

 private:
  ConvParamsT params_;
};

Status supports(const CreateArgs& args) {
  const Shape &x = args.input(0).shape, &w = args.input(1).shape;
  const DType dtype = args.outputs[0].dtype;
  if (x.size() > 2 + kAxes)
    return Status::unsupported("Conv: the direct kernel takes up to {} spatial axes, got {}", kAxes, x.size() - 2);
  if (x.size() < 2 + kAxes && dtype != DType::Float64)
    return Status::unsupported("Conv: the direct kernel is for volumes and f64");
  OPKIT_TRY(vulkan::requireStorage<Shader>(args, dtype));
  OPKIT_ASSIGN(const ConvPlan plan, planConv(args.params<ConvParams>(), x, w, nullptr));
  const std::vector<WindowAxis> axes = padWindowRank(plan.axes, kAxes);
  return vulkan::requireLoops(args,
                              vulkan::loopPasses({plan.groupInputs, axes[0].kernel, axes[1].kernel, axes[2].kernel}));
}

}  // namespace

Creator directCreator() { return vulkan::creatorOf<ConvDirectVulkan>(supports, Layout::NCHW, "direct"); }

}  // namespace opkit::ops::conv
