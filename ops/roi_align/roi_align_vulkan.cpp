#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/roi_align/roi_align.h"
#include "shaders/roi_align/roi_align.h"

namespace opkit::ops::roi_align {
namespace {

using Shader = shaders::RoiAlign;

vulkan::DataReport explain(int64_t batches) {
  return [batches](std::span<const int32_t> words) { return badImage(batches, words[0] != 0 ? words[0] : words[1]); };
}

class RoiAlignVulkan final : public vulkan::VulkanExecution {
 public:
  RoiAlignVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<RoiAlignParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const int64_t count = outputs[0]->desc.elements();
    if (count == 0) return Status::ok();
    const RoiPlan plan = planRoi(params_, inputs[0]->desc.shape, inputs[1]->desc.shape);
    if (plan.batches == 0) return badImage(0, 0);
    OPKIT_ASSIGN(const Tensor* bad, encoder.report(2, explain(plan.batches)));
    return encoder.dispatch<Shader>(
        {*Shader::storageOf(outputs[0]->desc.dtype)},
        {.x = inputs[0], .rois = inputs[1], .images = inputs[2], .y = outputs[0], .bad = bad},
        {.count = count,
         .lastImage = plan.batches - 1,
         .channels = plan.channels,
         .height = plan.height,
         .width = plan.width,
         .rows = plan.rows,
         .columns = plan.columns,
         .samplingRatio = params_.sampling_ratio,
         .spatialScale = params_.spatial_scale},
        vulkan::Items{count}, {.isMaximum = params_.mode == RoiMode::Maximum, .halfPixel = params_.half_pixel});
  }

 private:
  RoiAlignParamsT params_;
};

/// Adaptive grids depend on data: a region may be twice as large as the image.
Status supports(const CreateArgs& args) {
  const auto params = args.params<RoiAlignParams>();
  const RoiPlan plan = planRoi(params, args.input(0).shape, args.input(1).shape);
  const auto samples = [&](int64_t extent, int64_t bins) {
    return params.sampling_ratio > 0 ? params.sampling_ratio : std::min(kMostSamples, 2 * extent / bins + 1);
  };
  return vulkan::requireLoops(args,
                              vulkan::loopPasses({samples(plan.height, plan.rows), samples(plan.width, plan.columns)}));
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "RoiAlign", vulkan::creatorOf<RoiAlignVulkan>(supports));
}

}  // namespace opkit::ops::roi_align
