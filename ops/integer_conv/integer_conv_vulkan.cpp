#include "engine/op/op_registry.h"
#include "ops/integer_conv/integer_conv.h"
#include "ops/integer_matmul/scales_vulkan.h"
#include "shaders/integer_conv/integer_conv.h"
#include "shaders/integer_conv/integer_conv_pixels.h"
#include "shaders/integer_conv/integer_conv_weights.h"

namespace opkit::ops::integer_conv {
namespace {

using integer_matmul::deviceInput;
using integer_matmul::flipOf;
using integer_matmul::signFlipOf;
using Shader = shaders::IntegerConv;
using Pixels = shaders::IntegerConvPixels;
using Weights = shaders::IntegerConvWeights;

constexpr int64_t kChannels = 4, kPositions = 4;  // of an invocation; words hold bytes of as many input channels

int64_t quadsOf(int64_t channels) { return (channels + kChannels - 1) / kChannels; }

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

/// Words of the weights as integer_conv_weights.comp lays them out, sums included.
int64_t weightWords(const conv::ConvPlan& plan) {
  return plan.groups * quadsOf(plan.groupOutputs) * kChannels * (quadsOf(plan.groupInputs) * plan.kernelTaps() + 1);
}

/// Words of the input as integer_conv_pixels.comp lays it out.
int64_t pixelWords(const conv::ConvPlan& plan) {
  if (plan.groupInputs == 1) return 0;  // x is read as it is
  return plan.batch * plan.groups * quadsOf(plan.groupInputs) * plan.inputPositions();
}

/// The words that integer_conv_weights.comp writes, for constant weights.
Result<Tensor> layOutOnHost(const conv::ConvPlan& plan, const Tensor& w) {
  const int64_t taps = plan.kernelTaps(), depth = plan.groupInputs * taps, blocks = quadsOf(plan.groupOutputs);
  const int64_t blockWords = weightWords(plan) / (plan.groups * blocks);
  OPKIT_ASSIGN(Tensor words, Tensor::onHost({DType::UInt32, {weightWords(plan)}}));
  const std::span<uint32_t> to = words.data<uint32_t>();
  std::ranges::fill(to, 0);
  const auto flip = static_cast<uint8_t>(signFlipOf(w));
  const auto* bytes = reinterpret_cast<const uint8_t*>(w.bytes().data());
  for (int64_t channel = 0; channel < plan.groups * plan.groupOutputs; ++channel) {
    const int64_t group = channel / plan.groupOutputs, own = channel % plan.groupOutputs;
    const int64_t first = (group * blocks + own / kChannels) * blockWords + own % kChannels;
    uint32_t sum = 0;
    for (int64_t i = 0; i < depth; ++i) {
      const int64_t input = i / taps, tap = i % taps;
      const auto byte = static_cast<uint8_t>(bytes[channel * depth + i] ^ flip);
      to[static_cast<size_t>(first + (1 + input / kChannels * taps + tap) * kChannels)] |= uint32_t{byte}
                                                                                           << (8 * (input % kChannels));
      sum += static_cast<uint32_t>(static_cast<int8_t>(byte));
    }
    to[static_cast<size_t>(first)] = sum;
  }
  return words;
}

class IntegerConvVulkan final : public vulkan::VulkanExecution {
 public:
  IntegerConvVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend),
        backend_(backend),
        roles_(integer_matmul::rolesOf(args.def.type)),
        params_(args.params<conv::ConvParams>()),
        form_(args.device.byteDots ? Shader::Form::Dots : Shader::Form::Words) {
    if (const Tensor* weights = args.constant(static_cast<size_t>(roles_.a))) constantWeights_ = *weights;
    isCentred_ = zeroPointIsZero(args);
  }

  bool readsInput(size_t index) const override { return static_cast<int>(index) != roles_.a || !constantWeights_; }

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    OPKIT_ASSIGN(const IntegerConvPlan plan, planIntegerConv(params_, roles_, integer_matmul::shapesOf(inputs)));
    const Tensor &x = *deviceInput(inputs, roles_.b), &w = *deviceInput(inputs, roles_.a), &y = *outputs[0];
    if (y.desc.elements() == 0) return Status::ok();
    const Tensor* xZeroPoint = deviceInput(inputs, roles_.bZeroPoint);
    const Tensor* wZeroPoint = deviceInput(inputs, roles_.aZeroPoint);
    const Tensor* bias = deviceInput(inputs, roles_.bias);
    OPKIT_ASSIGN(const auto scales, integer_matmul::DeviceScales::of(roles_, inputs, x, encoder));

    const conv::ConvPlan& conv = plan.conv;
    OPKIT_ASSIGN(const Tensor* words, layOut(conv, w, encoder));
    const bool hasBytes = conv.groupInputs == 1;
    const Tensor* pixels = &x;
    if (!hasBytes) {
      OPKIT_ASSIGN(pixels, layOutPixels(conv, x, encoder));
    }
    const int64_t distance = distanceOf(conv.outputPositions()), together = kPositions * distance;
    const int64_t spans = (conv.outputPositions() + together - 1) / together * distance;
    Shader::PushConstants push{};
    packWindow(padWindowRank(conv.axes, 3), push);
    push.items = conv.batch * conv.groups * quadsOf(conv.groupOutputs) * spans;
    push.groups = conv.groups;
    push.groupInputs = conv.groupInputs;
    push.groupOutputs = conv.groupOutputs;
    push.flips = signFlipOf(x) | signFlipOf(w) << 8 | flipOf(y) << 16;
    push.has = (xZeroPoint ? 1 : 0) | (wZeroPoint ? 2 : 0) | (bias ? 4 : 0);
    push.wZeroStep = plan.wZeroPoint.step;
    push.wScaleStep = plan.wScale.step;
    push.distance = distance;
    return encoder.dispatch<Shader>({roles_.isQuantized() ? Shader::Y::U8 : Shader::Y::I32, form_},
                                    {.x = pixels,
                                     .w = words,
                                     .xZeroPoint = xZeroPoint ? xZeroPoint : &x,
                                     .wZeroPoint = wZeroPoint ? wZeroPoint : &x,
                                     .xScale = scales.b,
                                     .wScale = scales.a,
                                     .yScale = scales.y,
                                     .yZeroPoint = scales.yZeroPoint,
                                     .bias = bias ? bias : &x,
                                     .y = &y},
                                    push, vulkan::Items{push.items},
                                    {.isInside = isInside(conv.axes),
                                     .hasOneTap = hasOneTap(conv),
                                     .sumsWords = !isCentred_,
                                     .hasBytes = hasBytes});
  }

 private:
  /// Whether signed weights have the zero point 0, or unsigned ones 128, so that no sums of words are needed.
  bool zeroPointIsZero(const CreateArgs& args) const {
    const bool isSigned = args.input(static_cast<size_t>(roles_.a)).dtype == DType::Int8;
    if (roles_.aZeroPoint < 0 || !args.hasInput(static_cast<size_t>(roles_.aZeroPoint))) return isSigned;
    const Tensor* zeros = args.constant(static_cast<size_t>(roles_.aZeroPoint));
    return zeros && std::ranges::all_of(zeros->bytes(), [&](std::byte zero) {
             return std::to_integer<int>(zero) == (isSigned ? 0 : 128);
           });
  }

  Result<const Tensor*> layOut(const conv::ConvPlan& plan, const Tensor& w, vulkan::Encoder& encoder) {
    if (constantWeights_) {
      const std::string form = fmt::format("integer conv {} x {} x {} x {}", plan.groups, plan.groupOutputs,
                                           plan.groupInputs, plan.kernelTaps());
      if (!words_) {
        OPKIT_ASSIGN(words_, vulkan::packConstant(backend_, *constantWeights_, form,
                                                  [&] { return layOutOnHost(plan, *constantWeights_); }));
      }
      return words_.get();
    }
    const int64_t items = plan.groups * quadsOf(plan.groupOutputs) * kChannels;
    OPKIT_ASSIGN(const Tensor* words, encoder.scratch({DType::UInt32, {weightWords(plan)}}));
    OPKIT_TRY(encoder.dispatch<Weights>({}, {.w = &w, .words = words},
                                        {.items = items,
                                         .blocks = quadsOf(plan.groupOutputs),
                                         .taps = plan.kernelTaps(),
                                         .groupInputs = plan.groupInputs,
                                         .groupOutputs = plan.groupOutputs,
                                         .flip = signFlipOf(w)},
                                        vulkan::Items{items}));
    return words;
  }

  static Result<const Tensor*> layOutPixels(const conv::ConvPlan& plan, const Tensor& x, vulkan::Encoder& encoder) {
    const int64_t positions = plan.inputPositions(), words = pixelWords(plan);
    const bool byFours = positions % 4 == 0;
    const int64_t items = byFours ? words / 4 : words;
    OPKIT_ASSIGN(const Tensor* pixels, encoder.scratch({DType::UInt32, {std::max<int64_t>(words, 1)}}));
    if (words == 0) return pixels;  // the windows see padding only
    OPKIT_TRY(encoder.dispatch<Pixels>(
        {}, {.x = &x, .words = pixels},
        {.items = items, .positions = positions, .groupInputs = plan.groupInputs, .flip = signFlipOf(x)},
        vulkan::Items{items}, {.byFours = byFours}));
    return pixels;
  }

  Backend& backend_;
  const integer_matmul::Roles& roles_;
  conv::ConvParamsT params_;
  Shader::Form form_;
  bool isCentred_ = false;
  std::optional<Tensor> constantWeights_;
  std::shared_ptr<const Tensor> words_;  // of constant weights
};

Status supports(const CreateArgs& args) {
  const integer_matmul::Roles& roles = integer_matmul::rolesOf(args.def.type);
  const Shape &w = args.input(static_cast<size_t>(roles.a)).shape, &x = args.input(static_cast<size_t>(roles.b)).shape;
  OPKIT_ASSIGN(const conv::ConvPlan plan, conv::planConv(args.params<conv::ConvParams>(), x, w, nullptr));
  const auto most = static_cast<int64_t>(std::min<uint64_t>(args.device.maxTensorBytes, UINT32_MAX));
  const int64_t words = std::max(pixelWords(plan), weightWords(plan));
  if (words > most / 4)
    return Status::unsupportedByDevice("{}: {} words of four bytes exceed the device limit of {} bytes per buffer",
                                       args.def.type, words, most);
  const auto tap = [&](size_t axis) { return axis < w.size() ? w[axis] : int64_t{1}; };
  // Each row of taps first looks at the rows of its positions.
  const int64_t rows = quadsOf(w[1]) * tap(2) * tap(3) * vulkan::loopPasses({kPositions});
  const int64_t sums = vulkan::loopPasses({quadsOf(w[1]), tap(2), tap(3), tap(4)}) + rows;
  return vulkan::requireLoops(args, 1 + sums + vulkan::loopPasses({kPositions, kChannels + kPositions}));
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  for (const char* type : {"ConvInteger", "QLinearConv"})
    registry.addCreator("vulkan", type, vulkan::creatorOf<IntegerConvVulkan>(supports));
}

}  // namespace opkit::ops::integer_conv
