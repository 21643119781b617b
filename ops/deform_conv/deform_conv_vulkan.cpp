#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/deform_conv/deform_conv.h"
#include "shaders/deform_conv/deform_columns.h"

namespace opkit::ops::deform_conv {
namespace {

using Shader = shaders::DeformColumns;

constexpr int64_t kMostChannels = 8;       // of one invocation
constexpr int64_t kInvocations = 1 << 16;  // that fill a device

/// Channels whose samples one invocation takes at one place.
int64_t channelsEach(const DeformPlan& plan) {
  const int64_t all = plan.batch * plan.channels * plan.taps * plan.positions;
  return std::clamp<int64_t>(all / kInvocations, 1, std::clamp<int64_t>(plan.groupChannels(), 1, kMostChannels));
}

class ColumnsVulkan final : public vulkan::VulkanExecution {
 public:
  ColumnsVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<DeformConvParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    OPKIT_ASSIGN(const DeformPlan plan, planDeform(params_, inputs[0]->desc.shape, params_.kernel_shape));
    if (plan.plane() == 0) return encoder.fillZero(*outputs[0]);  // nothing but padding
    const int64_t each = channelsEach(plan), parts = (plan.groupChannels() + each - 1) / each;
    const int64_t count = plan.batch * plan.offsetGroups * parts * plan.taps * plan.positions;
    Shader::PushConstants push{.count = count,
                               .positions = plan.positions,
                               .taps = plan.taps,
                               .channels = plan.groupChannels(),
                               .channelsEach = each,
                               .parts = parts};
    packWindow(plan.axes, push);
    const bool hasMask = has(inputs, 2);
    return encoder.dispatch<Shader>(
        {}, {.x = inputs[0], .offset = inputs[1], .mask = hasMask ? inputs[2] : inputs[1], .y = outputs[0]}, push,
        vulkan::Items{count}, {.axes = static_cast<uint32_t>(plan.given), .hasMask = hasMask});
  }

 private:
  DeformConvParamsT params_;
};

Status supports(const CreateArgs& args) {
  if (args.input(0).dtype == DType::Float32) return Status::ok();
  return Status::unsupported("{}: the Vulkan kernel has no {} variant", args.def.type, nameOf(args.input(0).dtype));
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "DeformColumns", vulkan::creatorOf<ColumnsVulkan>(supports));
}

}  // namespace opkit::ops::deform_conv
