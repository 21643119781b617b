#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/rotary_embedding/rotary_embedding.h"
#include "shaders/rotary_embedding/rotary_embedding.h"

namespace opkit::ops::rotary_embedding {
namespace {

using Shader = shaders::RotaryEmbedding;

class RotaryVulkan final : public vulkan::VulkanExecution {
 public:
  RotaryVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<RotaryEmbeddingParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const Tensor& y = *outputs[0];
    OPKIT_ASSIGN(const RotaryPlan plan, planRotary(params_, y.desc.shape, inputs[1]->desc.shape));
    const int64_t each = plan.size - plan.pairs;  // a pair, or one element that stays
    return encoder.dispatch<Shader>(
        {*Shader::storageOf(y.desc.dtype)}, {.x = inputs[0], .cosines = inputs[1], .sines = inputs[2], .y = &y},
        {.count = plan.rows() * each,
         .each = each,
         .pairs = plan.pairs,
         .size = plan.size,
         .heads = plan.heads,
         .tokens = plan.tokens},
        vulkan::Items{plan.rows() * each}, {.interleaved = params_.interleaved, .isPacked = plan.isPacked});
  }

 private:
  RotaryEmbeddingParamsT params_;
};

Status supports(const CreateArgs& args) { return vulkan::requireStorage<Shader>(args, args.outputs[0].dtype); }

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "RotaryEmbedding", vulkan::creatorOf<RotaryVulkan>(supports));
}

}  // namespace opkit::ops::rotary_embedding
