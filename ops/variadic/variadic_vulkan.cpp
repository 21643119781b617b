#include "engine/backend/vulkan/broadcast_work.h"
#include "engine/op/op_registry.h"
#include "ops/variadic/variadic.h"
#include "shaders/variadic/variadic.h"
#include "shaders/variadic/variadic_few.h"

namespace opkit::ops::variadic {
namespace {

using Shader = shaders::Variadic;
using FewShader = shaders::VariadicFew;
using vulkan::BroadcastWork;

constexpr size_t kFew = 3;  // with the output, as many buffers as every device binds

/// Up to kFew operands in one dispatch; else one dispatch per operand, into an fp32 accumulator, so that fp16 tensors
/// are rounded once; a mean has two.
class VariadicVulkan final : public vulkan::VulkanExecution {
 public:
  VariadicVulkan(const CreateArgs& args, Backend& backend) : VulkanExecution(backend), mean_(args.def.type == "Mean") {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const TensorDesc& output = outputs[0]->desc;
    if (inputs.size() <= kFew) {
      std::vector<Shape> shapes;
      for (size_t i = 0; i < kFew; ++i) shapes.push_back(operand(inputs, i).desc.shape);
      const Loops loops = loopsOver(output.shape, shapes);
      if (loops.size.size() <= BroadcastWork::kMaxLoops) return encodeFew(loops, inputs, output, *outputs[0], encoder);
    }
    return encodeOneByOne(inputs, output, *outputs[0], encoder);
  }

 private:
  /// The first operand stands in for those that are not there.
  static const Tensor& operand(TensorList inputs, size_t i) { return *inputs[i < inputs.size() ? i : 0]; }

  Status encodeFew(const Loops& loops, TensorList inputs, const TensorDesc& output, const Tensor& y,
                   vulkan::Encoder& encoder) const {
    const BroadcastWork work = BroadcastWork::of(loops, encoder.caps());
    FewShader::PushConstants push{};
    push.xStrides = work.strides[0];
    push.uStrides = work.strides[1];
    push.vStrides = work.strides[2];
    return vulkan::dispatchBroadcast<FewShader>(
        encoder, {*FewShader::storageOf(output.dtype)},
        {.x = &operand(inputs, 0), .u = &operand(inputs, 1), .v = &operand(inputs, 2), .y = &y}, push, work,
        {.operands = static_cast<uint32_t>(inputs.size()), .mean = mean_});
  }

  Status encodeOneByOne(TensorList inputs, const TensorDesc& output, const Tensor& y, vulkan::Encoder& encoder) const {
    const int64_t hugeAt = (output.elements() + 3) / 4 * 4;
    OPKIT_ASSIGN(const Tensor* sum, encoder.scratch({DType::Float32, {mean_ ? 2 * hugeAt : hugeAt}}));
    for (size_t i = 0; i < inputs.size(); ++i) {
      const BroadcastWork work = BroadcastWork::of(loopsOver(output.shape, {inputs[i]->desc.shape}), encoder.caps());
      OPKIT_TRY(vulkan::dispatchBroadcast<Shader>(
          encoder, {*Shader::storageOf(output.dtype)}, {.x = inputs[i], .sum = sum, .y = &y},
          {.hugeAt = hugeAt, .divisor = static_cast<float>(inputs.size()), .xStrides = work.strides[0]}, work,
          {.first = i == 0, .last = i + 1 == inputs.size(), .mean = mean_}));
    }
    return Status::ok();
  }

  bool mean_;
};

Status supports(const CreateArgs& args) {
  for (size_t i = 0; i < args.inputs.size(); ++i) {
    const size_t loops = loopsOver(args.outputs[0].shape, {args.input(i).shape}).size.size();
    if (loops > BroadcastWork::kMaxLoops)
      return Status::unsupported("{}: the Vulkan kernel broadcasts over up to {} merged axes, got {}", args.def.type,
                                 BroadcastWork::kMaxLoops, loops);
  }
  return vulkan::requireStorage<Shader>(args, args.outputs[0].dtype);
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  for (const char* type : {"Sum", "Mean"})
    registry.addCreator("vulkan", type, vulkan::creatorOf<VariadicVulkan>(supports));
}

}  // namespace opkit::ops::variadic
