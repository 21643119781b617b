#include "ops/conv/conv_depthwise_vulkan.h"

#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/base/divide.h"
#include "ops/conv/conv.h"
#include "ops/gemm/gemm_tiles_vulkan.h"
#include "shaders/conv/conv_depthwise.h"

namespace opkit::ops::conv {
namespace {

using Shader = shaders::ConvDepthwise;

constexpr int64_t kMaxGroups = 65535;

uint32_t u32(int64_t value) { return static_cast<uint32_t>(value); }

// The weights with every channel's taps padded to whole vec4s.
Result<Tensor> padTaps(const Tensor& weights, int64_t channels, int64_t taps) {
  const int64_t padded = ceilDiv(taps, 4) * 4;
  OPKIT_ASSIGN(Tensor result, Tensor::onHost({weights.desc.dtype, {channels, padded}}));
  const auto size = static_cast<int64_t>(sizeOf(weights.desc.dtype));
  for (int64_t c = 0; c < channels; ++c)
    std::copy_n(weights.bytes().begin() + c * taps * size, taps * size, result.bytes().begin() + c * padded * size);
  return result;
}

class ConvDepthwiseVulkan final : public vulkan::VulkanExecution {
 public:
  ConvDepthwiseVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend),
        backend_(backend),
        params_(args.params<ConvParams>()),
        hostWeights_(*args.constant(1)),
        caps_(args.device) {}

  bool readsInput(size_t index) const override { return index != 1; }

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const Tensor &x = *inputs[0], &y = *outputs[0];
    const Tensor* bias = inputs.size() > 2 ? inputs[2] : nullptr;
    OPKIT_ASSIGN(const ConvPlan plan, planConv(params_, x.desc.shape, inputs[1]->desc.shape, nullptr));
    if (y.desc.elements() == 0) return Status::ok();
    const int64_t channels = plan.groups * plan.groupOutputs, taps = plan.kernelTaps();
    if (!weights_) {
      OPKIT_ASSIGN(weights_, vulkan::packConstant(backend_, hostWeights_, fmt::format("taps {} x {}", channels, taps),
                                                  [&] { return padTaps(hostWeights_, channels, taps); }));
    }
    Shader::PushConstants push = pushOf(plan, bias != nullptr);
    push.low = params_.clamp_low;
    push.high = params_.clamp_high;
    const auto elements = static_cast<uint64_t>(x.desc.elements());  // 0 if the window sees padding only
    const bool texels =
        caps_.deviceClass->prefersTexels && elements > 0 && elements % 4 == 0 && elements / 4 <= caps_.maxTexels;
    uint32_t localSize = 8;
    while (localSize < 64 && localSize < push.outputs[1]) localSize *= 2;
    const vulkan::Groups groups{u32(ceilDiv(push.outputs[1], localSize)),
                                gemm::GemmTiles::groupsToFill(caps_, push.outputs[0]),
                                u32(std::min<int64_t>(push.planes, kMaxGroups))};
    return encoder.dispatch<Shader>(
        {*Shader::storageOf(y.desc.dtype), texels ? Shader::Read::Texel : Shader::Read::Ssbo},
        {.x = &x, .w = weights_.get(), .bias = bias ? bias : &x, .y = &y}, push, groups, {.localSizeX = localSize});
  }

 private:
  static Shader::PushConstants pushOf(const ConvPlan& plan, bool hasBias) {
    const int64_t channels = plan.groups * plan.groupOutputs;
    Shader::PushConstants push{.planes = plan.batch * channels,
                               .channels = channels,
                               .multiplier = plan.groupOutputs,
                               .taps4 = ceilDiv(plan.kernelTaps(), 4),
                               .hasBias = hasBias ? 1u : 0u};
    packWindow(padWindowRank(plan.axes, 2), push);
    return push;
  }

  Backend& backend_;
  ConvParamsT params_;
  Tensor hostWeights_;
  DeviceCaps caps_;
  std::shared_ptr<const Tensor> weights_;  // on the device; shared by all convolutions with these weights
};

Status supports(const CreateArgs& args) {
  const Shape &x = args.input(0).shape, &w = args.input(1).shape;
  if (x.size() > 4) return Status::unsupported("Conv: depthwise takes 1 or 2 spatial axes, got {}", x.size() - 2);
  if (w[1] != 1) return Status::unsupported("Conv: depthwise takes 1 input channel per group, got {}", w[1]);
  if (!args.constant(1)) return Status::unsupported("Conv: depthwise takes constant weights");
  OPKIT_TRY(vulkan::requireStorage<Shader>(args, args.outputs[0].dtype));
  OPKIT_ASSIGN(const ConvPlan plan, planConv(args.params<ConvParams>(), x, w, nullptr));
  const std::vector<WindowAxis> axes = padWindowRank(plan.axes, 2);
  const int64_t planes = std::max<int64_t>(plan.batch * plan.groups * plan.groupOutputs, 1);
  const int64_t rows = std::max<int64_t>(axes[0].output, 1);
  return vulkan::requireLoops(args, vulkan::loopPasses({ceilDiv(planes, std::min(planes, kMaxGroups)),
                                                        ceilDiv(rows, gemm::GemmTiles::groupsToFill(args.device, rows)),
                                                        axes[0].kernel, axes[1].kernel}));
}

}  // namespace

Creator depthwiseCreator() { return vulkan::creatorOf<ConvDepthwiseVulkan>(supports, Layout::NCHW, "depthwise"); }

}  // namespace opkit::ops::conv
