#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/lrn/lrn.h"
#include "shaders/lrn/lrn.h"

namespace opkit::ops::lrn {
namespace {

using Shader = shaders::Lrn;

class LrnVulkan final : public vulkan::VulkanExecution {
 public:
  LrnVulkan(const CreateArgs& args, Backend& backend) : VulkanExecution(backend), params_(args.params<LrnParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const LrnPlan plan = planLrn(params_, inputs[0]->desc.shape);
    const int64_t count = inputs[0]->desc.elements();
    return encoder.dispatch<Shader>({*Shader::storageOf(outputs[0]->desc.dtype)}, {.x = inputs[0], .y = outputs[0]},
                                    {.count = static_cast<uint32_t>(count),
                                     .channels = static_cast<uint32_t>(plan.channels),
                                     .inner = static_cast<uint32_t>(plan.inner),
                                     .before = static_cast<uint32_t>(plan.before),
                                     .after = static_cast<uint32_t>(plan.after),
                                     .scale = params_.alpha / static_cast<float>(params_.size),
                                     .beta = params_.beta,
                                     .bias = params_.bias},
                                    vulkan::Groups::linear(count, 64));
  }

 private:
  LrnParamsT params_;
};

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "LRN", vulkan::creatorOf<LrnVulkan>([](const CreateArgs& args) {
                        OPKIT_TRY(vulkan::requireStorage<Shader>(args, args.outputs[0].dtype));
                        const LrnPlan plan = planLrn(args.params<LrnParams>(), args.input(0).shape);
                        const int64_t window = std::min<int64_t>(plan.channels, plan.before + plan.after + 1);
                        return vulkan::requireLoops(args, vulkan::loopPasses({window}));
                      }));
}

}  // namespace opkit::ops::lrn
