#include "ops/pool/pool_image_vulkan.h"

#include "engine/backend/vulkan/vulkan_execution.h"
#include "ops/pool/pool.h"
#include "shaders/pool/pool_image.h"

namespace opkit::ops::pool {
namespace {

using Shader = shaders::PoolImage;
using Mode = Shader::Mode;

/// The window over rows and columns. A global pool has one axis for both; an image keeps them apart.
Result<PoolPlan> planOf(bool global, const PoolParamsT& params, const Shape& x) {
  if (!global) return planPool(params, x);
  PoolPlan plan{x[0] * x[1], {}};
  for (size_t d = 2; d < x.size(); ++d) {
    WindowAxis axis{};
    axis.input = axis.kernel = x[d];
    axis.output = axis.stride = axis.dilation = 1;
    plan.axes.push_back(axis);
  }
  return plan;
}

template <Mode kMode, bool kGlobal>
class PoolImage final : public vulkan::VulkanExecution {
 public:
  PoolImage(const CreateArgs& args, Backend& backend) : VulkanExecution(backend) {
    if (!kGlobal) params_ = args.params<PoolParams>();
  }

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const Shape& x = inputs[0]->desc.shape;
    OPKIT_ASSIGN(const PoolPlan plan, planOf(kGlobal, params_, x));
    const std::vector<WindowAxis> axes = padWindowRank(plan.axes, 2);
    const int64_t blocks = (x[1] + 3) / 4;
    const int64_t count = x[0] * blocks * axes[0].output * axes[1].output;
    Shader::PushConstants push{
        .count = count, .blocks = blocks, .channels = x[1], .countPadding = params_.count_include_pad ? 1u : 0u};
    packWindow(axes, push);
    return encoder.dispatch<Shader>({*Shader::storageOf(outputs[0]->desc.dtype), kMode},
                                    {.x = inputs[0], .y = outputs[0]}, push, vulkan::Items{count});
  }

 private:
  PoolParamsT params_;
};

template <bool kGlobal>
Status supports(const CreateArgs& args) {
  if (args.outputs.size() > 1) return Status::unsupported("{}: the image kernel gives no indices", args.def.type);
  const TensorDesc* tensors[] = {&args.input(0), args.outputs.data()};
  if (args.input(0).shape.size() < 3) return Status::unsupported("{}: images take a spatial axis", args.def.type);
  OPKIT_TRY(vulkan::requireImages(args, tensors));
  PoolParamsT params;
  if (!kGlobal) params = args.params<PoolParams>();
  OPKIT_ASSIGN(const PoolPlan plan, planOf(kGlobal, params, args.input(0).shape));
  const std::vector<WindowAxis> axes = padWindowRank(plan.axes, 2);
  return vulkan::requireLoops(args, vulkan::loopPasses({axes[0].kernel, axes[1].kernel}));
}

template <Mode kMode, bool kGlobal>
void add(OpRegistry& registry, const char* type) {
  registry.addCreator("vulkan", type,
                      vulkan::creatorOf<PoolImage<kMode, kGlobal>>(supports<kGlobal>, Layout::NC4HW4, "image"));
}

}  // namespace

void addImageKernels(OpRegistry& registry) {
  add<Mode::Maximum, false>(registry, "MaxPool");
  add<Mode::Mean, false>(registry, "AveragePool");
  add<Mode::Maximum, true>(registry, "GlobalMaxPool");
  add<Mode::Mean, true>(registry, "GlobalAveragePool");
}

}  // namespace opkit::ops::pool
