#include "engine/backend/vulkan/broadcast_work.h"
#include "engine/op/op_registry.h"
#include "ops/quantized_binary/quantized_binary.h"
#include "shaders/quantized_binary/quantized_binary.h"

namespace opkit::ops::quantized_binary {
namespace {

using Shader = shaders::QuantizedBinary;
using vulkan::BroadcastWork;

int64_t flipOf(const Tensor& bytes) { return bytes.desc.dtype == DType::Int8 ? 0x80 : 0; }

class QuantizedBinaryVulkan final : public vulkan::VulkanExecution {
 public:
  QuantizedBinaryVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), function_(functionOf(args.def.type)) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const Tensor &a = *inputs[kA], &b = *inputs[kB], &y = *outputs[0];
    const BroadcastWork work = BroadcastWork::of(loopsOf(a.desc.shape, b.desc.shape), encoder.caps());
    Shader::PushConstants push{};
    push.xStrides = work.strides[0];
    push.yStrides = work.strides[1];
    push.xFlip = flipOf(a);
    push.yFlip = flipOf(b);
    push.zFlip = flipOf(y);
    return vulkan::dispatchBroadcast<Shader>(encoder, {Shader::Storage::U8},
                                             {.x = &a,
                                              .xScale = inputs[kAScale],
                                              .xZeroPoint = inputs[kAZeroPoint],
                                              .y = &b,
                                              .yScale = inputs[kBScale],
                                              .yZeroPoint = inputs[kBZeroPoint],
                                              .zScale = inputs[kYScale],
                                              .zZeroPoint = inputs[kYZeroPoint],
                                              .z = &y},
                                             push, work, {.function = function_});
  }

 private:
  const uint32_t function_;
};

Status supports(const CreateArgs& args) {
  const size_t loops = loopsOf(args.input(kA).shape, args.input(kB).shape).size.size();
  if (loops <= BroadcastWork::kMaxLoops) return Status::ok();
  return Status::unsupported("{}: the Vulkan kernel broadcasts over up to {} merged axes, got {}", args.def.type,
                             BroadcastWork::kMaxLoops, loops);
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  for (const char* type : {"QLinearAdd", "QLinearMul"})
    registry.addCreator("vulkan", type, vulkan::creatorOf<QuantizedBinaryVulkan>(supports));
}

}  // namespace opkit::ops::quantized_binary
