#include "ops/pool/pool_places_vulkan.h"

#include "engine/backend/vulkan/vulkan_execution.h"
#include "ops/pool/pool.h"
#include "shaders/pool/pool_places.h"

namespace opkit::ops::pool {
namespace {

using Shader = shaders::PoolPlaces;

constexpr uint32_t kNone = 0, kRowMajor = 1, kColumnMajor = 2;  // of the shader

class PoolPlacesVulkan final : public vulkan::VulkanExecution {
 public:
  PoolPlacesVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<PoolParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    OPKIT_ASSIGN(const PoolPlan plan, planPool(params_, inputs[0]->desc.shape));
    const int64_t count = outputs[0]->desc.elements();
    Shader::PushConstants push{.count = count};
    packWindow(padWindowRank(plan.axes, 3), push);
    const bool wanted = outputs.size() > 1 && outputs[1];
    const uint32_t places = !wanted ? kNone : params_.column_major ? kColumnMajor : kRowMajor;
    return encoder.dispatch<Shader>({*Shader::storageOf(outputs[0]->desc.dtype)},
                                    {.x = inputs[0], .y = outputs[0], .indices = wanted ? outputs[1] : outputs[0]},
                                    push, vulkan::Items{count}, {.places = places});
  }

 private:
  PoolParamsT params_;
};

Status supports(const CreateArgs& args) {
  const DType dtype = args.outputs[0].dtype;
  if (args.outputs.size() < 2 && (dtype == DType::Float32 || dtype == DType::Float16))
    return Status::unsupported("{}: this kernel is for indices", args.def.type);
  OPKIT_TRY(vulkan::requireStorage<Shader>(args, dtype));
  OPKIT_ASSIGN(const PoolPlan plan, planPool(args.params<PoolParams>(), args.input(0).shape));
  const std::vector<WindowAxis> axes = padWindowRank(plan.axes, 3);
  return vulkan::requireLoops(args, vulkan::loopPasses({axes[0].kernel, axes[1].kernel, axes[2].kernel}));
}

}  // namespace

Creator placesCreator() { return vulkan::creatorOf<PoolPlacesVulkan>(supports, Layout::NCHW, "places"); }

}  // namespace opkit::ops::pool
