#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/loops.h"
#include "engine/op/op_registry.h"
#include "ops/variadic/variadic.h"
#include "shaders/variadic/variadic.h"

namespace opkit::ops::variadic {
namespace {

using Shader = shaders::Variadic;
constexpr size_t kMaxLoops = 6;

/// One dispatch per operand, into an fp32 accumulator, so that fp16 tensors are rounded once; a mean has two.
class VariadicVulkan final : public vulkan::VulkanExecution {
 public:
  VariadicVulkan(const CreateArgs& args, Backend& backend) : VulkanExecution(backend), mean_(args.def.type == "Mean") {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const TensorDesc& output = outputs[0]->desc;
    const int64_t count = output.elements();
    OPKIT_ASSIGN(const Tensor* sum, encoder.scratch({DType::Float32, {mean_ ? 2 * count : count}}));
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Loops loops = loopsOver(output.shape, {inputs[i]->desc.shape});
      OPKIT_TRY(encoder.dispatch<Shader>({*Shader::storageOf(output.dtype)},
                                         {.x = inputs[i], .sum = sum, .y = outputs[0]},
                                         {.count = count,
                                          .divisor = static_cast<float>(inputs.size()),
                                          .sizes = packed<kMaxLoops>(loops.size),
                                          .strides = packed<kMaxLoops>(loops.strides[0])},
                                         vulkan::Items{count},
                                         {.loops = static_cast<uint32_t>(loops.size.size()),
                                          .first = i == 0,
                                          .last = i + 1 == inputs.size(),
                                          .mean = mean_}));
    }
    return Status::ok();
  }

 private:
  bool mean_;
};

Status supports(const CreateArgs& args) {
  for (size_t i = 0; i < args.inputs.size(); ++i) {
    const size_t loops = loopsOver(args.outputs[0].shape, {args.input(i).shape}).size.size();
    if (loops > kMaxLoops)
      return Status::unsupported("{}: the Vulkan kernel broadcasts over up to {} merged axes, got {}", args.def.type,
                                 kMaxLoops, loops);
  }
  return vulkan::requireStorage<Shader>(args, args.outputs[0].dtype);
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  for (const char* type : {"Sum", "Mean"})
    registry.addCreator("vulkan", type, vulkan::creatorOf<VariadicVulkan>(supports));
}

}  // namespace opkit::ops::variadic
