#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/softmax/softmax.h"
#include "shaders/softmax/softmax.h"

namespace opkit::ops::softmax {
namespace {

using Shader = shaders::Softmax;

class SoftmaxVulkan final : public vulkan::VulkanExecution {
 public:
  SoftmaxVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<SoftmaxParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const Rows rows = rowsOf(params_, inputs[0]->desc.shape);
    // Rows without elements have no first one to start from.
    const auto count = static_cast<uint32_t>(rows.extent == 0 ? 0 : rows.count());
    return encoder.dispatch<Shader>({*Shader::storageOf(outputs[0]->desc.dtype)}, {.x = inputs[0], .y = outputs[0]},
                                    {.rows = count,
                                     .extent = static_cast<uint32_t>(rows.extent),
                                     .inner = static_cast<uint32_t>(rows.inner),
                                     .logarithm = params_.log ? 1u : 0u},
                                    vulkan::Groups::linear(count, 64));
  }

 private:
  SoftmaxParamsT params_;
};

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "Softmax", vulkan::creatorOf<SoftmaxVulkan>([](const CreateArgs& args) {
                        OPKIT_TRY(vulkan::requireStorage<Shader>(args, args.outputs[0].dtype));
                        const Rows rows = rowsOf(args.params<SoftmaxParams>(), args.input(0).shape);
                        return vulkan::requireLoops(args, 3 * vulkan::loopPasses({rows.extent}));
                      }));
}

}  // namespace opkit::ops::softmax
