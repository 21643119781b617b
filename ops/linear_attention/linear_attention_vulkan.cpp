#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/linear_attention/linear_attention.h"
#include "shaders/linear_attention/linear_attention.h"

namespace opkit::ops::linear_attention {
namespace {

using Shader = shaders::LinearAttention;

/// Passes of an invocation's loops for one token, and those that copy a past state.
int64_t passesOf(const LinearPlan& plan) {
  return 2 + vulkan::loopPasses({plan.keySize}) + vulkan::loopPasses({plan.group(), plan.keySize});
}

/// Tokens of a dispatch: as many as the device's loops allow.
int64_t tokensEach(const LinearPlan& plan, uint64_t limit) {
  const auto passes = static_cast<int64_t>(std::min<uint64_t>(limit, kMaxElements));
  return std::max<int64_t>((passes - vulkan::loopPasses({plan.keySize}) - 1) / passesOf(plan), 1);
}

class RecurrenceVulkan final : public vulkan::VulkanExecution {
 public:
  RecurrenceVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<LinearAttentionParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    std::vector<const TensorDesc*> descs;
    for (const Tensor* input : inputs) descs.push_back(input ? &input->desc : nullptr);
    OPKIT_ASSIGN(const LinearPlan plan, planLinear(params_, descs));
    const int64_t columns = plan.states() * plan.valueSize;
    if (columns == 0) return Status::ok();
    const Tensor* state = has(outputs, 1) ? outputs[1] : nullptr;
    if (!state) {
      OPKIT_ASSIGN(state, encoder.scratch({DType::Float32, {columns * plan.keySize}}));
    }
    const auto given = [&](size_t i, const Tensor* other) { return has(inputs, i) ? inputs[i] : other; };
    const Shader::Bindings tensors{.query = inputs[kQuery],
                                   .key = inputs[kKey],
                                   .value = inputs[kValue],
                                   .past = given(kPast, state),
                                   .decay = given(kDecay, inputs[kQuery]),
                                   .beta = given(kBeta, inputs[kQuery]),
                                   .y = outputs[0],
                                   .state = state};
    Shader::PushConstants push{.count = columns,
                               .heads = plan.heads,
                               .group = plan.group(),
                               .keySize = plan.keySize,
                               .valueSize = plan.valueSize,
                               .tokens = plan.tokens,
                               .scale = static_cast<float>(plan.scale)};
    const int64_t each = tokensEach(plan, encoder.caps().loopIterations);
    do {
      push.last = std::min(push.first + each, plan.tokens);
      OPKIT_TRY(encoder.dispatch<Shader>({*Shader::storageOf(outputs[0]->desc.dtype)}, tensors, push,
                                         vulkan::Items{columns},
                                         {.decaySize = static_cast<uint32_t>(plan.decaySize),
                                          .betaHeads = static_cast<uint32_t>(plan.betaHeads),
                                          .hasPast = has(inputs, kPast)}));
      push.first = push.last;
    } while (push.first < plan.tokens);
    return Status::ok();
  }

 private:
  LinearAttentionParamsT params_;
};

Status supports(const CreateArgs& args) {
  OPKIT_TRY(vulkan::requireStorage<Shader>(args, args.outputs[0].dtype));
  OPKIT_ASSIGN(const LinearPlan plan, planLinear(args.params<LinearAttentionParams>(), args.inputs));
  return vulkan::requireLoops(args, passesOf(plan) + vulkan::loopPasses({plan.keySize}));
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "LinearRecurrence", vulkan::creatorOf<RecurrenceVulkan>(supports));
}

}  // namespace opkit::ops::linear_attention
