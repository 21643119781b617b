#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/loops.h"
#include "engine/op/op_registry.h"
#include "ops/where/where_parts.h"
#include "shaders/where/where.h"

namespace opkit::ops::where {
namespace {

using Shader = shaders::Where;
constexpr size_t kMaxLoops = 6;

class WhereVulkan final : public vulkan::VulkanExecution {
 public:
  WhereVulkan(const CreateArgs&, Backend& backend) : VulkanExecution(backend) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const TensorDesc& output = outputs[0]->desc;
    const Loops loops = loopsOver(output.shape, {inputs[0]->desc.shape, inputs[1]->desc.shape, inputs[2]->desc.shape});
    const int64_t count = output.elements();
    return encoder.dispatch<Shader>({*Shader::wordOfBytes(sizeOf(output.dtype))},
                                    {.condition = inputs[0], .x = inputs[1], .y = inputs[2], .z = outputs[0]},
                                    {.count = count,
                                     .sizes = packed<kMaxLoops>(loops.size),
                                     .conditionStrides = packed<kMaxLoops>(loops.strides[0]),
                                     .xStrides = packed<kMaxLoops>(loops.strides[1]),
                                     .yStrides = packed<kMaxLoops>(loops.strides[2])},
                                    vulkan::Items{count}, {.loops = static_cast<uint32_t>(loops.size.size())});
  }
};

Status supports(const CreateArgs& args) {
  const size_t loops =
      loopsOver(args.outputs[0].shape, {args.input(0).shape, args.input(1).shape, args.input(2).shape}).size.size();
  if (loops <= kMaxLoops) return Status::ok();
  return Status::unsupported("Where: the Vulkan kernel broadcasts over up to {} merged axes, got {}", kMaxLoops, loops);
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "Where", vulkan::creatorOf<WhereVulkan>(supports));
}

}  // namespace opkit::ops::where
