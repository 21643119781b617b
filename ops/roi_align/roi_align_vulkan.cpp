#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/roi_align/roi_align.h"
#include "shaders/roi_align/roi_align.h"

namespace opkit::ops::roi_align {
namespace {

using Shader = shaders::RoiAlign;

constexpr uint32_t kLanes = 64;  // of a work group

vulkan::DataReport explain(int64_t batches) {
  return [batches](std::span<const int32_t> words) { return badImage(batches, words[0] != 0 ? words[0] : words[1]); };
}

/// Samples of a bin along an axis that may lie within an image of `extent`. An adaptive grid of n samples lies closer
/// than an element, by at most one part in n.
int64_t samplesWithin(const RoiAlignParamsT& params, int64_t extent) {
  return params.sampling_ratio > 0 ? params.sampling_ratio : std::min(kMostSamples, extent + 3);
}

/// Of the loops of an invocation of roi_align.comp.
int64_t passesOf(const RoiAlignParamsT& params, const RoiPlan& plan, int64_t team) {
  constexpr int64_t kSearches = 2 * 2 * 11, kFold = 7;
  const int64_t rows = (samplesWithin(params, plan.height) + team - 1) / team;
  return kSearches + kFold + vulkan::loopPasses({rows, samplesWithin(params, plan.width)});
}

/// Invocations that sum up one bin: one, unless the device ends loops before it is done.
uint32_t teamOf(const RoiAlignParamsT& params, const RoiPlan& plan, const DeviceCaps& device) {
  return static_cast<uint64_t>(passesOf(params, plan, 1)) <= device.loopIterations ? 1 : kLanes;
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
    const uint32_t team = teamOf(params_, plan, encoder.caps());
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
        vulkan::Items{count, team},
        {.team = team, .isMaximum = params_.mode == RoiMode::Maximum, .halfPixel = params_.half_pixel});
  }

 private:
  RoiAlignParamsT params_;
};

Status supports(const CreateArgs& args) {
  const auto params = args.params<RoiAlignParams>();
  const RoiPlan plan = planRoi(params, args.input(0).shape, args.input(1).shape);
  return vulkan::requireLoops(args, passesOf(params, plan, teamOf(params, plan, args.device)));
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "RoiAlign", vulkan::creatorOf<RoiAlignVulkan>(supports));
}

}  // namespace opkit::ops::roi_align
