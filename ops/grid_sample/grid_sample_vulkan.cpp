#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/grid_sample/grid_plan.h"
#include "ops/grid_sample/grid_sample_parts.h"
#include "shaders/grid_sample/grid_sample.h"

namespace opkit::ops::grid_sample {
namespace {

using Shader = shaders::GridSample;

constexpr int64_t kMostChannels = 8;       // of one invocation
constexpr int64_t kInvocations = 1 << 16;  // that fill a device

/// Channels whose elements one invocation samples at one place.
int64_t channelsEach(const GridPlan& plan) {
  const int64_t all = plan.batch * plan.channels * plan.positions;
  return std::clamp<int64_t>(all / kInvocations, 1, std::clamp<int64_t>(plan.channels, 1, kMostChannels));
}

class GridSampleVulkan final : public vulkan::VulkanExecution {
 public:
  GridSampleVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<GridSampleParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    const GridPlan plan = planGrid(inputs[0]->desc.shape, inputs[1]->desc.shape);
    const int64_t each = channelsEach(plan), parts = (plan.channels + each - 1) / each;
    const int64_t count = plan.batch * parts * plan.positions;
    Shader::PushConstants push{
        .count = count, .positions = plan.positions, .channels = plan.channels, .channelsEach = each, .parts = parts};
    for (size_t d = 0; d < kMaxAxes; ++d) push.inputs[d] = plan.inputs[d];
    return encoder.dispatch<Shader>({*Shader::storageOf(inputs[0]->desc.dtype), *Shader::gridOf(inputs[1]->desc.dtype)},
                                    {.x = inputs[0], .grid = inputs[1], .y = outputs[0]}, push, vulkan::Items{count},
                                    {.axes = static_cast<uint32_t>(plan.axes),
                                     .mode = static_cast<uint32_t>(params_.mode),
                                     .padding = static_cast<uint32_t>(params_.padding),
                                     .alignCorners = params_.align_corners});
  }

 private:
  GridSampleParamsT params_;
};

Status supports(const CreateArgs& args) {
  const GridPlan plan = planGrid(args.input(0).shape, args.input(1).shape);
  const int64_t taps = tapsOf(args.params<GridSampleParams>().mode);
  return vulkan::requireLoops(args, vulkan::loopPasses({channelsEach(plan), taps, taps, taps}));
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "GridSample", vulkan::creatorOf<GridSampleVulkan>(supports));
}

}  // namespace opkit::ops::grid_sample
