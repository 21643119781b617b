#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/conv_transpose/conv_transpose.h"
#include "ops/conv_transpose/conv_transpose_parts.h"
#include "shaders/conv_transpose/fold.h"

namespace opkit::ops::conv_transpose {
namespace {

using Shader = shaders::Fold;

class FoldVulkan final : public vulkan::VulkanExecution {
 public:
  FoldVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), axes_(foldAxes(args.params<FoldParams>())) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const TensorDesc& output = outputs[0]->desc;
    const bool hasBias = has(inputs, 1);
    Shader::PushConstants push{.count = output.elements(), .channels = output.shape[1], .hasBias = hasBias ? 1u : 0u};
    for (size_t d = 0; d < axes_.size(); ++d) {
      push.image[d] = axes_[d].image;
      push.positions[d] = axes_[d].positions;
      push.kernel[d] = axes_[d].kernel;
      push.stride[d] = axes_[d].stride;
      push.dilation[d] = axes_[d].dilation;
      push.pad[d] = axes_[d].pad;
    }
    // Without a bias its binding still needs a buffer; the kernel does not read it.
    return encoder.dispatch<Shader>({*Shader::storageOf(output.dtype)},
                                    {.columns = inputs[0], .bias = hasBias ? inputs[1] : inputs[0], .y = outputs[0]},
                                    push, vulkan::Items{output.elements()});
  }

 private:
  std::vector<FoldAxis> axes_;
};

Status supports(const CreateArgs& args) {
  OPKIT_TRY(vulkan::requireStorage<Shader>(args, args.input(0).dtype));
  const std::vector<FoldAxis> axes = foldAxes(args.params<FoldParams>());
  return vulkan::requireLoops(args, vulkan::loopPasses({axes[0].kernel, axes[1].kernel, axes[2].kernel}));
}

}  // namespace

void addVulkan(OpRegistry& registry) { registry.addCreator("vulkan", "Fold", vulkan::creatorOf<FoldVulkan>(supports)); }

}  // namespace opkit::ops::conv_transpose
