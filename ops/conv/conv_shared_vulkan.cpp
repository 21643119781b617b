#include "ops/conv/conv_shared_vulkan.h"

#include "engine/backend/vulkan/vulkan_execution.h"
#include "ops/conv/conv.h"
#include "ops/gemm/gemm_shared_vulkan.h"
#include "shaders/conv/conv_shared.h"

namespace opkit::ops::conv {
namespace {

using Shader = shaders::ConvShared;
using gemm::ProductSize;
using gemm::ProductTile;

constexpr int64_t kMostTerms = 1 << 22;  // conv_shared.comp divides smaller numbers exactly

// True if y[channel, position] is a product of w and x as they are stored.
bool isProduct(const ConvPlan& plan) {
  return std::ranges::all_of(plan.axes, [](const WindowAxis& axis) {
    return axis.kernel == 1 && axis.stride == 1 && axis.padBegin == 0 && axis.padEnd == 0;
  });
}

ProductSize sizeOf(const ConvPlan& plan) {
  return {plan.groupOutputs, plan.outputPositions(), plan.groupInputs * plan.kernelTaps(), plan.batch * plan.groups};
}

class ConvSharedVulkan final : public vulkan::VulkanExecution {
 public:
  ConvSharedVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<ConvParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    OPKIT_ASSIGN(const ConvPlan plan, planConv(params_, inputs[0]->desc.shape, inputs[1]->desc.shape, nullptr));
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    return isProduct(plan) ? encodeProduct(plan, inputs, outputs, encoder)
                           : encodeWindows(plan, inputs, outputs, encoder);
  }

 private:
  gemm::ProductEnd endOf(const ConvPlan& plan) const {
    return {.biasRow = 1,
            .biasGroup = plan.groupOutputs,
            .biasGroups = plan.groups,
            .low = params_.clamp_low,
            .high = params_.clamp_high};
  }

  Status encodeProduct(const ConvPlan& plan, TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) {
    const int64_t positions = plan.outputPositions(), depth = plan.groupInputs;
    const gemm::SharedPart part{
        .w = {.depth = 1, .outer = depth, .group = plan.groupOutputs * depth},
        .x = {.depth = positions, .outer = 1, .image = plan.groups * depth * positions, .group = depth * positions},
        .images = plan.batch,
        .groups = plan.groups};
    std::vector<const Tensor*> operands(inputs.begin(), inputs.end());
    std::swap(operands[0], operands[1]);
    return product_.encode(sizeOf(plan), {part}, endOf(plan), operands, outputs, encoder);
  }

  Status encodeWindows(const ConvPlan& plan, TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) {
    const ProductSize size = sizeOf(plan);
    const std::string kind =
        fmt::format("conv_shared {} {}", nameOf(outputs[0]->desc.dtype), toString(inputs[1]->desc.shape));
    return gemm::encodeTuned(kind, size, inputs, outputs, encoder,
                             [&](const ProductTile& tile, TensorList in, TensorList out, vulkan::Encoder& target) {
                               return multiply(plan, size, tile, in, out, target);
                             });
  }

  Status multiply(const ConvPlan& plan, const ProductSize& size, const ProductTile& tile, TensorList inputs,
                  TensorList outputs, vulkan::Encoder& encoder) const {
    const Tensor &x = *inputs[0], &w = *inputs[1], &y = *outputs[0];
    const Tensor* bias = has(inputs, 2) ? inputs[2] : nullptr;
    const gemm::ProductSlices slices = gemm::ProductSlices::of(size, tile, encoder.caps());
    OPKIT_ASSIGN(const Tensor* partial, slices.scratch(y, encoder));
    const Tensor* target = partial ? partial : &y;
    const bool byVectors = size.depth % 4 == 0 && size.columns % 4 == 0;
    const Shader::Variant variant{*Shader::storageOf(y.desc.dtype),
                                  tile.block == 8 ? Shader::Block::V8 : Shader::Block::V4,
                                  byVectors ? Shader::Vector::V4 : Shader::Vector::V1};
    Shader::PushConstants push = pushOf(plan, size, slices, y, bias != nullptr);
    const int64_t layers = slices.count * size.matrices;
    encoder.beginDisjoint();
    for (push.first = 0; push.first < layers; push.first += gemm::kMaxProductLayers)
      OPKIT_TRY(encoder.dispatch<Shader>(
          variant, {.w = &w, .x = &x, .bias = bias ? bias : &w, .y = target, .partial = target}, push,
          gemm::productGroups(tile, size, std::min(gemm::kMaxProductLayers, layers - push.first)),
          {.localSizeX = tile.localSizeX(), .localSizeY = tile.localSizeY()}));
    encoder.endDisjoint();
    if (!partial) return Status::ok();
    return gemm::addSlices(*partial, slices.count, size, endOf(plan), bias, y, encoder);
  }

  Shader::PushConstants pushOf(const ConvPlan& plan, const ProductSize& size, const gemm::ProductSlices& slices,
                               const Tensor& y, bool hasBias) const {
    const std::vector<WindowAxis> axes = padWindowRank(plan.axes, 2);
    Shader::PushConstants push{.rows = size.rows,
                               .positions = size.columns,
                               .depth = size.depth,
                               .slices = slices.count,
                               .sliceDepth = slices.depth,
                               .sliceStride = y.desc.elements(),
                               .groups = plan.groups,
                               .groupInputs = plan.groupInputs,
                               .outputWidth = axes[1].output,
                               .perTaps = 1.0f / static_cast<float>(plan.kernelTaps()),
                               .perKernelWidth = 1.0f / static_cast<float>(axes[1].kernel),
                               .hasBias = hasBias ? 1 : 0,
                               .low = params_.clamp_low,
                               .high = params_.clamp_high};
    for (size_t d = 0; d < 2; ++d) {
      push.inputs[d] = axes[d].input;
      push.kernel[d] = axes[d].kernel;
      push.stride[d] = axes[d].stride;
      push.dilation[d] = axes[d].dilation;
      push.padBegin[d] = axes[d].padBegin;
    }
    return push;
  }

  ConvParamsT params_;
  gemm::SharedProduct product_;
};

Status supports(const CreateArgs& args) {
  OPKIT_TRY(vulkan::requireStorage<Shader>(args, args.outputs[0].dtype));
  const Shape &x = args.input(0).shape, &w = args.input(1).shape;
  OPKIT_ASSIGN(const ConvPlan plan, planConv(args.params<ConvParams>(), x, w, nullptr));
  const ProductSize size = sizeOf(plan);
  if (x.size() > 4 && !isProduct(plan))
    return Status::unsupported("Conv: tiles in shared memory take 1 or 2 spatial axes, got {}", x.size() - 2);
  if (size.depth >= kMostTerms)
    return Status::unsupported("Conv: tiles in shared memory take sums of less than {} terms, got {}", kMostTerms,
                               size.depth);
  if (elementCount(x) == 0) return Status::unsupported("Conv: tiles in shared memory take inputs with elements");
  return isProduct(plan) ? gemm::SharedProduct::supports(args, size) : gemm::requireProductTiles(args, size);
}

}  // namespace

Creator sharedCreator() { return vulkan::creatorOf<ConvSharedVulkan>(supports, Layout::NCHW, "shared"); }

}  // namespace opkit::ops::conv
