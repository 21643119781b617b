#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/pool/pool.h"
#include "ops/pool/pool_image_vulkan.h"
#include "shaders/pool/pool.h"

namespace opkit::ops::pool {
namespace {

using Shader = shaders::Pool;

Result<PoolPlan> planOf(bool global, const PoolParamsT& params, const Shape& x) {
  return global ? planGlobalPool(x) : planPool(params, x);
}

template <Shader::Mode kMode, bool kGlobal>
class PoolVulkan final : public vulkan::VulkanExecution {
 public:
  PoolVulkan(const CreateArgs& args, Backend& backend) : VulkanExecution(backend) {
    if (!kGlobal) params_ = args.params<PoolParams>();
  }

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    OPKIT_ASSIGN(const PoolPlan plan, planOf(kGlobal, params_, inputs[0]->desc.shape));
    const std::vector<WindowAxis> axes = padWindowRank(plan.axes, 3);
    const int64_t count = outputs[0]->desc.elements();
    Shader::PushConstants push{.count = count, .countPadding = params_.count_include_pad ? 1u : 0u};
    packWindow(axes, push);
    return encoder.dispatch<Shader>({*Shader::storageOf(outputs[0]->desc.dtype), kMode},
                                    {.x = inputs[0], .y = outputs[0]}, push, vulkan::Items{count});
  }

 private:
  PoolParamsT params_;
};

template <bool kGlobal>
Status supports(const CreateArgs& args) {
  if (args.outputs.size() > 1) return Status::unsupported("{}: the Vulkan kernel gives no indices", args.def.type);
  OPKIT_TRY(vulkan::requireStorage<Shader>(args, args.outputs[0].dtype));
  PoolParamsT params;
  if (!kGlobal) params = args.params<PoolParams>();
  OPKIT_ASSIGN(const PoolPlan plan, planOf(kGlobal, params, args.input(0).shape));
  const std::vector<WindowAxis> axes = padWindowRank(plan.axes, 3);
  // The taps of each axis are counted first, then walked together.
  int64_t passes = vulkan::loopPasses({axes[0].kernel, axes[1].kernel, axes[2].kernel});
  for (const WindowAxis& axis : axes) passes += vulkan::loopPasses({axis.kernel});
  return vulkan::requireLoops(args, passes);
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  using Mode = Shader::Mode;
  addImageKernels(registry);
  registry.addCreator("vulkan", "MaxPool", vulkan::creatorOf<PoolVulkan<Mode::Maximum, false>>(supports<false>));
  registry.addCreator("vulkan", "AveragePool", vulkan::creatorOf<PoolVulkan<Mode::Mean, false>>(supports<false>));
  registry.addCreator("vulkan", "GlobalMaxPool", vulkan::creatorOf<PoolVulkan<Mode::Maximum, true>>(supports<true>));
  registry.addCreator("vulkan", "GlobalAveragePool", vulkan::creatorOf<PoolVulkan<Mode::Mean, true>>(supports<true>));
}

}  // namespace opkit::ops::pool
