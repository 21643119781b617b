#include "engine/backend/device_class.h"
#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/pool/pool.h"
#include "ops/pool/pool_image_vulkan.h"
#include "ops/pool/pool_places_vulkan.h"
#include "ops/pool/pool_tile_vulkan.h"
#include "shaders/pool/pool.h"
#include "shaders/reduce/reduce.h"

namespace opkit::ops::pool {
namespace {

using Shader = shaders::Pool;

Result<PoolPlan> planOf(bool global, const PoolParamsT& params, const Shape& x) {
  return global ? planGlobalPool(x) : planPool(params, x);
}

/// The global forms are reductions of planes, if the device shall read them by teams. Otherwise an invocation walks a
/// window, and that is the plane.
bool walksPlanes(const DeviceCaps& device, const PoolPlan& plan) {
  return device.deviceClass->rowTileBytes > 0 && plan.axes[0].input > 0;
}

Status encodePlanes(Shader::Mode mode, const PoolPlan& plan, const Tensor& x, const Tensor& y,
                    vulkan::Encoder& encoder) {
  using Fold = shaders::Reduce;
  constexpr uint32_t kMean = 1, kMax = 2;  // of the shader
  const int64_t extent = plan.axes[0].input;
  const vulkan::RowWork work = vulkan::RowWork{.rows = plan.planes, .extent = extent, .passes = 2}.keeping();
  const bool keeps = vulkan::RowTeam::of(work, encoder.caps()).keeps != vulkan::RowTeam::Keeps::Nothing;
  return encoder.dispatch<Fold>({*Fold::storageOf(x.desc.dtype)}, {.x = &x, .y = &y, .partSums = &y},
                                {.outputs = plan.planes,
                                 .folded = extent,
                                 .parts = 1,
                                 .partLength = extent,
                                 .keptSizes = {plan.planes},
                                 .keptStrides = {extent},
                                 .reducedSizes = {extent},
                                 .reducedStrides = {1}},
                                work, {.function = mode == Shader::Mode::Mean ? kMean : kMax, .keepsRows = keeps});
}

template <Shader::Mode kMode, bool kGlobal>
class PoolVulkan final : public vulkan::VulkanExecution {
 public:
  PoolVulkan(const CreateArgs& args, Backend& backend) : VulkanExecution(backend) {
    if (!kGlobal) params_ = args.params<PoolParams>();
  }

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    OPKIT_ASSIGN(const PoolPlan plan, planOf(kGlobal, params_, inputs[0]->desc.shape));
    if (kGlobal && walksPlanes(encoder.caps(), plan))
      return encodePlanes(kMode, plan, *inputs[0], *outputs[0], encoder);
    const std::vector<WindowAxis> axes = padWindowRank(plan.axes, 3);
    if (const auto tile = tileFor(plan.planes, axes, encoder.caps(), kMode == Shader::Mode::Norm)) {
      using Tile = shaders::PoolTile::Mode;
      constexpr auto kTileMode = kMode == Shader::Mode::Mean   ? Tile::Mean
                                 : kMode == Shader::Mode::Norm ? Tile::Norm
                                                               : Tile::Maximum;
      return encodeTile(*tile, kTileMode, params_, plan.planes, axes, *inputs[0], *outputs[0], encoder);
    }
    const int64_t count = outputs[0]->desc.elements();
    Shader::PushConstants push{.count = count, .countPadding = params_.count_include_pad ? 1u : 0u, .power = params_.p};
    packWindow(axes, push);
    return encoder.dispatch<Shader>({*Shader::storageOf(outputs[0]->desc.dtype), kMode},
                                    {.x = inputs[0], .y = outputs[0]}, push, vulkan::Items{count});
  }

 private:
  PoolParamsT params_;
};

template <bool kGlobal, bool kRepeats = false>
Status supports(const CreateArgs& args) {
  if (args.outputs.size() > 1) return Status::unsupported("{}: the Vulkan kernel gives no indices", args.def.type);
  OPKIT_TRY(vulkan::requireStorage<Shader>(args, args.outputs[0].dtype));
  PoolParamsT params;
  if (!kGlobal) params = args.params<PoolParams>();
  OPKIT_ASSIGN(const PoolPlan plan, planOf(kGlobal, params, args.input(0).shape));
  if (kGlobal && walksPlanes(args.device, plan)) return Status::ok();
  const std::vector<WindowAxis> axes = padWindowRank(plan.axes, 3);
  // The taps of each axis are counted first, then walked together; by a norm twice where powers vanish.
  int64_t passes = vulkan::loopPasses({axes[0].kernel, axes[1].kernel, axes[2].kernel});
  if (kRepeats) passes *= 2;
  for (const WindowAxis& axis : axes) passes += vulkan::loopPasses({axis.kernel});
  return vulkan::requireLoops(args, passes);
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  using Mode = Shader::Mode;
  addImageKernels(registry);
  registry.addCreator("vulkan", "MaxPool", vulkan::creatorOf<PoolVulkan<Mode::Maximum, false>>(supports<false>));
  registry.addCreator("vulkan", "MaxPool", placesCreator());
  registry.addCreator("vulkan", "AveragePool", vulkan::creatorOf<PoolVulkan<Mode::Mean, false>>(supports<false>));
  registry.addCreator("vulkan", "LpPool", vulkan::creatorOf<PoolVulkan<Mode::Norm, false>>(supports<false, true>));
  registry.addCreator("vulkan", "GlobalMaxPool", vulkan::creatorOf<PoolVulkan<Mode::Maximum, true>>(supports<true>));
  registry.addCreator("vulkan", "GlobalAveragePool", vulkan::creatorOf<PoolVulkan<Mode::Mean, true>>(supports<true>));
}

}  // namespace opkit::ops::pool
