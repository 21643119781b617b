#include "engine/op/op_registry.h"
#include "ops/integer_conv/integer_conv.h"
#include "ops/integer_matmul/scales_vulkan.h"
#include "shaders/integer_conv/integer_conv.h"
#include "shaders/integer_conv/integer_conv_weights.h"

namespace opkit::ops::integer_conv {
namespace {

using integer_matmul::deviceInput;
using integer_matmul::flipOf;
using Shader = shaders::IntegerConv;

using Weights = shaders::IntegerConvWeights;

constexpr int64_t kChannels = 4;                   // of an invocation
constexpr int64_t kPositions = 4, kDistance = 64;  // of an invocation, and between them

class IntegerConvVulkan final : public vulkan::VulkanExecution {
 public:
  IntegerConvVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend),
        roles_(integer_matmul::rolesOf(args.def.type)),
        params_(args.params<conv::ConvParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    OPKIT_ASSIGN(const IntegerConvPlan plan, planIntegerConv(params_, roles_, integer_matmul::shapesOf(inputs)));
    const Tensor &x = *deviceInput(inputs, roles_.b), &w = *deviceInput(inputs, roles_.a), &y = *outputs[0];
    if (y.desc.elements() == 0) return Status::ok();
    const Tensor* xZeroPoint = deviceInput(inputs, roles_.bZeroPoint);
    const Tensor* wZeroPoint = deviceInput(inputs, roles_.aZeroPoint);
    const Tensor* bias = deviceInput(inputs, roles_.bias);
    OPKIT_ASSIGN(const auto scales, integer_matmul::DeviceScales::of(roles_, inputs, x, encoder));

    const conv::ConvPlan& conv = plan.conv;
    const int64_t blocks = (conv.groupOutputs + kChannels - 1) / kChannels;
    OPKIT_ASSIGN(const Tensor* fours, layOut(conv, blocks, w, encoder));
    const int64_t spans = (conv.outputPositions() + kPositions * kDistance - 1) / (kPositions * kDistance) * kDistance;
    Shader::PushConstants push{};
    packWindow(padWindowRank(conv.axes, 3), push);
    push.items = conv.batch * conv.groups * blocks * spans;
    push.groups = conv.groups;
    push.groupInputs = conv.groupInputs;
    push.groupOutputs = conv.groupOutputs;
    push.flips = flipOf(x) | flipOf(w) << 8 | flipOf(y) << 16;
    push.has = (xZeroPoint ? 1 : 0) | (wZeroPoint ? 2 : 0) | (bias ? 4 : 0);
    push.wZeroStep = plan.wZeroPoint.step;
    push.wScaleStep = plan.wScale.step;
    return encoder.dispatch<Shader>({roles_.isQuantized() ? Shader::Y::U8 : Shader::Y::I32},
                                    {.x = &x,
                                     .w = fours,
                                     .xZeroPoint = xZeroPoint ? xZeroPoint : &x,
                                     .wZeroPoint = wZeroPoint ? wZeroPoint : &w,
                                     .xScale = scales.b,
                                     .wScale = scales.a,
                                     .yScale = scales.y,
                                     .yZeroPoint = scales.yZeroPoint,
                                     .bias = bias ? bias : &x,
                                     .y = &y},
                                    push, vulkan::Items{push.items});
  }

 private:
  /// The weights as u32[groups * blocks * depth], four channels a word.
  static Result<const Tensor*> layOut(const conv::ConvPlan& plan, int64_t blocks, const Tensor& w,
                                      vulkan::Encoder& encoder) {
    const int64_t depth = plan.groupInputs * plan.kernelTaps(), count = plan.groups * blocks * depth;
    OPKIT_ASSIGN(const Tensor* fours, encoder.scratch({DType::UInt32, {std::max<int64_t>(count, 1)}}));
    OPKIT_TRY(encoder.dispatch<Weights>(
        {}, {.w = &w, .fours = fours},
        {.count = count, .blocks = blocks, .depth = std::max<int64_t>(depth, 1), .groupOutputs = plan.groupOutputs},
        vulkan::Items{count}));
    return fours;
  }

  const integer_matmul::Roles& roles_;
  conv::ConvParamsT params_;
};

Status supports(const CreateArgs& args) {
  const Shape& w = args.input(static_cast<size_t>(integer_matmul::rolesOf(args.def.type).a)).shape;
  const auto tap = [&](size_t axis) { return axis < w.size() ? w[axis] : int64_t{1}; };
  return vulkan::requireLoops(args, vulkan::loopPasses({w[1], tap(2), tap(3), tap(4)}));
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  for (const char* type : {"ConvInteger", "QLinearConv"})
    registry.addCreator("vulkan", type, vulkan::creatorOf<IntegerConvVulkan>(supports));
}

}  // namespace opkit::ops::integer_conv
