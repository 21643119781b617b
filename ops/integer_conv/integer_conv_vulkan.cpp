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

constexpr int64_t kChannels = 4, kPositions = 4;  // of an invocation

/// Between the positions of an invocation: neighbours of a group take neighbouring positions. Small images would leave
/// most of a larger distance idle.
int64_t distanceOf(int64_t positions) { return std::min<int64_t>((positions + kPositions - 1) / kPositions, 64); }

/// Every tap of every position lies in the input.
bool isInside(const std::vector<WindowAxis>& axes) {
  return std::ranges::all_of(axes, [](const WindowAxis& axis) {
    return axis.padBegin == 0 && (axis.output - 1) * axis.stride + (axis.kernel - 1) * axis.dilation < axis.input;
  });
}

/// Output positions are input positions.
bool hasOneTap(const conv::ConvPlan& plan) {
  return plan.kernelTaps() == 1 && std::ranges::all_of(plan.axes, [](const WindowAxis& axis) {
           return axis.input == axis.output && axis.padBegin == 0 && axis.stride == 1;
         });
}

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
    const bool inside = isInside(conv.axes), byFours = inside && hasOneTap(conv) && conv.outputPositions() % 4 == 0;
    const int64_t distance = byFours ? 1 : distanceOf(conv.outputPositions()), together = kPositions * distance;
    const int64_t spans = (conv.outputPositions() + together - 1) / together * distance;
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
    push.distance = distance;
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
                                    push, vulkan::Items{push.items}, {.isInside = inside, .byFours = byFours});
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
