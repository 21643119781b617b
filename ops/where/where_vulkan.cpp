#include "engine/backend/vulkan/broadcast_work.h"
#include "engine/op/op_registry.h"
#include "ops/where/where_parts.h"
#include "shaders/where/where.h"

namespace opkit::ops::where {
namespace {

using Shader = shaders::Where;
using vulkan::BroadcastWork;

constexpr size_t kWidestWord = 4;  // with vectors of four

class WhereVulkan final : public vulkan::VulkanExecution {
 public:
  WhereVulkan(const CreateArgs&, Backend& backend) : VulkanExecution(backend) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const TensorDesc& output = outputs[0]->desc;
    const Loops loops = loopsOver(output.shape, {inputs[0]->desc.shape, inputs[1]->desc.shape, inputs[2]->desc.shape});
    const size_t bytes = sizeOf(output.dtype);
    const BroadcastWork work = BroadcastWork::of(loops, encoder.caps(), bytes <= kWidestWord);
    Shader::PushConstants push{};
    push.conditionStrides = work.strides[0];
    push.xStrides = work.strides[1];
    push.yStrides = work.strides[2];
    return vulkan::dispatchBroadcast<Shader>(encoder, {*Shader::wordOfBytes(bytes)},
                                             {.condition = inputs[0], .x = inputs[1], .y = inputs[2], .z = outputs[0]},
                                             push, work);
  }
};

Status supports(const CreateArgs& args) {
  const size_t loops =
      loopsOver(args.outputs[0].shape, {args.input(0).shape, args.input(1).shape, args.input(2).shape}).size.size();
  if (loops <= BroadcastWork::kMaxLoops) return Status::ok();
  return Status::unsupported("Where: the Vulkan kernel broadcasts over up to {} merged axes, got {}",
                             BroadcastWork::kMaxLoops, loops);
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "Where", vulkan::creatorOf<WhereVulkan>(supports));
}

}  // namespace opkit::ops::where
