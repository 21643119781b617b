#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/reverse_sequence/reverse_sequence.h"
#include "ops/reverse_sequence/reverse_sequence_parts.h"
#include "shaders/reverse_sequence/reverse_sequence.h"

namespace opkit::ops::reverse_sequence {
namespace {

using Shader = shaders::ReverseSequence;

constexpr int64_t kWidestWord = 16;

vulkan::DataReport explain(int64_t times) {
  return [times](std::span<const int32_t> words) { return badLength(times, words[0] != 0 ? words[0] : words[1]); };
}

class ReverseSequenceVulkan final : public vulkan::VulkanExecution {
 public:
  ReverseSequenceVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<ReverseSequenceParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const TensorDesc& desc = outputs[0]->desc;
    const ReversePlan plan = planReverse(params_, desc.shape);
    auto word = static_cast<int64_t>(sizeOf(desc.dtype));
    const int64_t bytes = plan.inner * word;
    while (word < kWidestWord && bytes % (2 * word) == 0) word *= 2;
    const int64_t words = bytes / word, count = plan.times * plan.batches * words;
    if (count == 0) return Status::ok();
    OPKIT_ASSIGN(const Tensor* bad, encoder.report(2, explain(plan.times)));
    return encoder.dispatch<Shader>({*Shader::wordOfBytes(static_cast<size_t>(word))},
                                    {.x = inputs[0], .lengths = inputs[1], .y = outputs[0], .bad = bad},
                                    {.count = count,
                                     .words = words,
                                     .times = plan.times,
                                     .batches = plan.batches,
                                     .timeStride = plan.timeStride,
                                     .batchStride = plan.batchStride},
                                    vulkan::Items{count});
  }

 private:
  ReverseSequenceParamsT params_;
};

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "ReverseSequence", vulkan::creatorOf<ReverseSequenceVulkan>(vulkan::takeAll));
}

}  // namespace opkit::ops::reverse_sequence
