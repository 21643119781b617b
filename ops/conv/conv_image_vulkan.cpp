#include "ops/conv/conv_image_vulkan.h"

#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/base/divide.h"
#include "ops/conv/conv.h"
#include "shaders/conv/conv_depthwise_image.h"
#include "shaders/conv/conv_image.h"

namespace opkit::ops::conv {
namespace {

using Dense = shaders::ConvImage;
using Depthwise = shaders::ConvDepthwiseImage;

constexpr int64_t kMaxGroups = 65535;

uint32_t u32(int64_t value) { return static_cast<uint32_t>(value); }

/// True if some tap of some output lies outside the input.
bool reachesOutside(const ConvPlan& plan) {
  return std::any_of(plan.axes.begin(), plan.axes.end(), [](const WindowAxis& axis) {
    return axis.padBegin > 0 ||
           (axis.output - 1) * axis.stride - axis.padBegin + (axis.kernel - 1) * axis.dilation >= axis.input;
  });
}

constexpr int64_t kBlocks[] = {1, 2, 4};

/// Blocks of four output channels per invocation, if nothing was measured.
int64_t blocksFor(int64_t outputBlocks) { return outputBlocks >= 3 ? 4 : outputBlocks; }

/// Words of T in the order of conv_image.comp: [tile][tap][input block][block of the tile][input channel][output
/// channel].
template <class T>
void packDense(const ConvPlan& plan, int64_t blocks, std::span<const T> from, std::span<T> to) {
  const int64_t taps = plan.kernelTaps(), inputBlocks = ceilDiv(plan.groupInputs, 4);
  size_t at = 0;
  for (int64_t tile = 0; tile * blocks * 4 < plan.groupOutputs; ++tile)
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t in = 0; in < inputBlocks; ++in)
        for (int64_t q = 0; q < blocks; ++q)
          for (int64_t c = in * 4; c < in * 4 + 4; ++c)
            for (int64_t o = (tile * blocks + q) * 4; o < (tile * blocks + q) * 4 + 4; ++o, ++at)
              if (c < plan.groupInputs && o < plan.groupOutputs)
                to[at] = from[static_cast<size_t>((o * plan.groupInputs + c) * taps + tap)];
}

/// [block][tap][channel of the block].
template <class T>
void packDepthwise(const ConvPlan& plan, std::span<const T> from, std::span<T> to) {
  const int64_t taps = plan.kernelTaps();
  for (int64_t c = 0; c < plan.groups; ++c)
    for (int64_t tap = 0; tap < taps; ++tap)
      to[static_cast<size_t>((c / 4 * taps + tap) * 4 + c % 4)] = from[static_cast<size_t>(c * taps + tap)];
}

/// A zeroed host tensor of `elements`, filled by `pack(from, to)` as words of their size.
template <class Pack>
Result<Tensor> packedBy(const Tensor& source, int64_t elements, Pack&& pack) {
  OPKIT_ASSIGN(Tensor result, Tensor::onHost({source.desc.dtype, {elements}}));
  const auto run = [&]<class T>(T) {
    pack(std::span<const T>(reinterpret_cast<const T*>(source.bytes().data()), source.bytes().size() / sizeof(T)),
         std::span<T>(reinterpret_cast<T*>(result.bytes().data()), static_cast<size_t>(elements)));
  };
  sizeOf(source.desc.dtype) == 2 ? run(uint16_t{}) : run(uint32_t{});
  return result;
}

/// State of both kernels: packed weights and a bias padded to whole vec4s.
class ImageConv : public vulkan::VulkanExecution {
 public:
  ImageConv(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend),
        backend_(backend),
        params_(args.params<ConvParams>()),
        hostWeights_(*args.constant(1)),
        texels_(args.device.deviceClass->prefersTexels),
        maxTexels_(args.device.maxTexels) {
    if (args.constant(2)) hostBias_ = *args.constant(2);
  }
  /// Weights and bias are packed here.
  bool readsInput(size_t index) const override { return index == 0; }

 protected:
  Result<ConvPlan> plan(TensorList inputs) const {
    return planConv(params_, inputs[0]->desc.shape, hostWeights_.desc.shape, nullptr);
  }
  /// One value per output channel, `elements` of them with the padding; zero if there is no bias.
  Result<std::shared_ptr<const Tensor>> bias(int64_t elements) {
    const Tensor& key = hostBias_ ? *hostBias_ : hostWeights_;
    return vulkan::packConstant(backend_, key, fmt::format("conv image bias {} {}", hostBias_.has_value(), elements),
                                [&]() -> Result<Tensor> {
                                  return packedBy(key, elements, [&](auto from, auto to) {
                                    if (hostBias_) std::copy(from.begin(), from.end(), to.begin());
                                  });
                                });
  }
  bool readsTexels(const Tensor& weights) const {
    return texels_ && static_cast<uint64_t>(weights.desc.elements()) / 4 <= maxTexels_;
  }

  Backend& backend_;
  ConvParamsT params_;
  Tensor hostWeights_;
  std::optional<Tensor> hostBias_;
  bool texels_;
  uint64_t maxTexels_;
};

class DenseImageConv final : public ImageConv {
 public:
  using ImageConv::ImageConv;

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    OPKIT_ASSIGN(const ConvPlan plan, this->plan(inputs));
    const std::string name =
        fmt::format("conv_image {} {} of {}x{} taps {} at {}", nameOf(outputs[0]->desc.dtype), plan.batch,
                    plan.groupOutputs, plan.groupInputs, plan.kernelTaps(), plan.outputPositions());
    const auto standard = std::find(std::begin(kBlocks), std::end(kBlocks), blocksFor(ceilDiv(plan.groupOutputs, 4)));
    const vulkan::Alternatives blocks{name, std::size(kBlocks), static_cast<size_t>(standard - std::begin(kBlocks)),
                                      [&](size_t choice, TensorList in, TensorList out, vulkan::Encoder& trial) {
                                        return encode(plan, kBlocks[choice], in, out, trial);
                                      }};
    OPKIT_ASSIGN(const size_t choice, encoder.choose(blocks, inputs, outputs));
    return encode(plan, kBlocks[choice], inputs, outputs, encoder);
  }

 private:
  Status encode(const ConvPlan& plan, int64_t blocks, TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) {
    const int64_t outputBlocks = ceilDiv(plan.groupOutputs, 4);
    const int64_t tiles = ceilDiv(outputBlocks, blocks), inputBlocks = ceilDiv(plan.groupInputs, 4);
    const int64_t elements = tiles * plan.kernelTaps() * inputBlocks * blocks * 16;
    OPKIT_ASSIGN(const auto weights,
                 vulkan::packConstant(backend_, hostWeights_,
                                      fmt::format("conv image {} {}", blocks, toString(hostWeights_.desc.shape)), [&] {
                                        return packedBy(hostWeights_, elements,
                                                        [&](auto from, auto to) { packDense(plan, blocks, from, to); });
                                      }));
    OPKIT_ASSIGN(const auto bias, this->bias(tiles * blocks * 4));
    Dense::PushConstants push{.inputBlocks = inputBlocks,
                              .outputBlocks = outputBlocks,
                              .outputChannels = plan.groupOutputs,
                              .low = params_.clamp_low,
                              .high = params_.clamp_high};
    packWindow(padWindowRank(plan.axes, 2), push);
    const bool texels = readsTexels(*weights);
    const Dense::Variant variant{.storage = *Dense::storageOf(outputs[0]->desc.dtype),
                                 .blocks = blocks == 1   ? Dense::Blocks::V1
                                           : blocks == 2 ? Dense::Blocks::V2
                                                         : Dense::Blocks::V4,
                                 .read = texels ? Dense::Read::Texel : Dense::Read::Ssbo};
    const uint32_t localSize = encoder.caps().deviceClass->tileGroup;
    const int64_t positions = int64_t{push.outputs[0]} * ceilDiv(push.outputs[1], 4);
    const vulkan::Groups groups{u32(ceilDiv(positions, localSize)), u32(tiles), u32(plan.batch)};
    return encoder.dispatch<Dense>(variant, {.x = inputs[0], .w = weights.get(), .bias = bias.get(), .y = outputs[0]},
                                   push, groups, {.localSizeX = localSize, .padded = reachesOutside(plan)});
  }
};

class DepthwiseImageConv final : public ImageConv {
 public:
  using ImageConv::ImageConv;

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    OPKIT_ASSIGN(const ConvPlan plan, this->plan(inputs));
    const int64_t blocks = ceilDiv(plan.groups, 4), elements = blocks * plan.kernelTaps() * 4;
    OPKIT_ASSIGN(const auto weights,
                 vulkan::packConstant(backend_, hostWeights_,
                                      fmt::format("depthwise image {}", toString(hostWeights_.desc.shape)), [&] {
                                        return packedBy(hostWeights_, elements,
                                                        [&](auto from, auto to) { packDepthwise(plan, from, to); });
                                      }));
    OPKIT_ASSIGN(const auto bias, this->bias(blocks * 4));
    Depthwise::PushConstants push{.blocks = blocks, .low = params_.clamp_low, .high = params_.clamp_high};
    packWindow(padWindowRank(plan.axes, 2), push);
    push.count = plan.batch * blocks * push.outputs[0] * push.outputs[1];
    return encoder.dispatch<Depthwise>({*Depthwise::storageOf(outputs[0]->desc.dtype),
                                        readsTexels(*weights) ? Depthwise::Read::Texel : Depthwise::Read::Ssbo},
                                       {.x = inputs[0], .w = weights.get(), .bias = bias.get(), .y = outputs[0]}, push,
                                       vulkan::Items{push.count});
  }
};

Status supportsBoth(const CreateArgs& args) {
  const TensorDesc* tensors[] = {&args.input(0), args.outputs.data()};
  OPKIT_TRY(vulkan::requireImages(args, tensors));
  if (args.input(0).shape.size() < 3) return Status::unsupported("Conv: images take a spatial axis");
  if (!args.constant(1) || (args.hasInput(2) && !args.constant(2)))
    return Status::unsupported("Conv: the image kernel takes constant weights and bias");
  OPKIT_ASSIGN(const ConvPlan plan,
               planConv(args.params<ConvParams>(), args.input(0).shape, args.input(1).shape, nullptr));
  const int64_t outputs = plan.groups * plan.groupOutputs;
  const int64_t elements = (outputs + 12) * (plan.groupInputs + 3) * plan.kernelTaps();
  if (elements * 4 > static_cast<int64_t>(std::min<uint64_t>(args.device.maxTensorBytes, UINT32_MAX)))
    return Status::unsupportedByDevice("Conv: {} packed weights exceed the device's buffers", elements);
  if (plan.batch > kMaxGroups) return Status::unsupported("Conv: the image kernel takes up to {} images", kMaxGroups);
  return Status::ok();
}

Status supportsDense(const CreateArgs& args) {
  OPKIT_TRY(supportsBoth(args));
  OPKIT_ASSIGN(const ConvPlan plan,
               planConv(args.params<ConvParams>(), args.input(0).shape, args.input(1).shape, nullptr));
  if (plan.groups != 1) return Status::unsupported("Conv: the image kernel takes 1 group, got {}", plan.groups);
  constexpr int64_t kColumns = 4;  // stored by one invocation, in a loop
  const std::vector<WindowAxis> axes = padWindowRank(plan.axes, 2);
  return vulkan::requireLoops(args, vulkan::loopPasses({axes[0].kernel, axes[1].kernel, ceilDiv(plan.groupInputs, 4)}) +
                                        vulkan::loopPasses({kColumns}));
}

Status supportsDepthwise(const CreateArgs& args) {
  OPKIT_TRY(supportsBoth(args));
  OPKIT_ASSIGN(const ConvPlan plan,
               planConv(args.params<ConvParams>(), args.input(0).shape, args.input(1).shape, nullptr));
  if (plan.groupInputs != 1 || plan.groupOutputs != 1)
    return Status::unsupported("Conv: the depthwise image kernel takes 1 channel per group, got {} to {}",
                               plan.groupInputs, plan.groupOutputs);
  const std::vector<WindowAxis> axes = padWindowRank(plan.axes, 2);
  return vulkan::requireLoops(args, vulkan::loopPasses({axes[0].kernel, axes[1].kernel}));
}

}  // namespace

Creator imageCreator() { return vulkan::creatorOf<DenseImageConv>(supportsDense, Layout::NC4HW4, "image"); }

Creator depthwiseImageCreator() {
  return vulkan::creatorOf<DepthwiseImageConv>(supportsDepthwise, Layout::NC4HW4, "depthwise image");
}

}  // namespace opkit::ops::conv
