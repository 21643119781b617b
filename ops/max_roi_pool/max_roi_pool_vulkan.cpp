#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/max_roi_pool/max_roi_pool.h"
#include "shaders/max_roi_pool/max_roi_pool.h"

namespace opkit::ops::max_roi_pool {
namespace {

using Shader = shaders::MaxRoiPool;

class MaxRoiPoolVulkan final : public vulkan::VulkanExecution {
 public:
  MaxRoiPoolVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<MaxRoiPoolParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const int64_t count = outputs[0]->desc.elements();
    if (count == 0) return Status::ok();
    const RoiPlan plan = planRoi(params_, inputs[0]->desc.shape, inputs[1]->desc.shape);
    const int64_t batches = plan.batches;
    if (batches == 0) return badImage(0, 0);
    const auto explain = [batches](std::span<const int32_t> words) {
      return badImage(batches, words[0] != 0 ? words[0] : words[1]);
    };
    OPKIT_ASSIGN(const Tensor* bad, encoder.report(2, explain));
    return encoder.dispatch<Shader>({*Shader::storageOf(outputs[0]->desc.dtype)},
                                    {.x = inputs[0], .rois = inputs[1], .y = outputs[0], .bad = bad},
                                    {.count = count,
                                     .lastImage = batches - 1,
                                     .channels = plan.channels,
                                     .height = plan.height,
                                     .width = plan.width,
                                     .rows = plan.rows,
                                     .columns = plan.columns,
                                     .spatialScale = params_.spatial_scale},
                                    vulkan::Items{count});
  }

 private:
  MaxRoiPoolParamsT params_;
};

Status supports(const CreateArgs& args) {
  const Shape& x = args.input(0).shape;
  return vulkan::requireLoops(args, vulkan::loopPasses({x[2], x[3]}));
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "MaxRoiPool", vulkan::creatorOf<MaxRoiPoolVulkan>(supports));
}

}  // namespace opkit::ops::max_roi_pool
