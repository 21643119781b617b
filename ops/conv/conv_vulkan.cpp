#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/conv/conv.h"
#include "ops/conv/conv_depthwise_shared_vulkan.h"
#include "ops/conv/conv_depthwise_vulkan.h"
#include "ops/conv/conv_direct_vulkan.h"
#include "ops/conv/conv_image_vulkan.h"
#include "ops/conv/conv_shared_vulkan.h"
#include "ops/gemm/gemm_tiles_vulkan.h"

namespace opkit::ops::conv {
namespace {

using gemm::GemmTiles;

// A convolution as matrix products: the mapping of elements to rows, inner products and positions.
struct ConvProduct {
  gemm::WeightLayout w;
  gemm::PositionLayout x;  // of one image
  int64_t outputRows;      // rows of positions
  int64_t rowsPerOutput;   // stored rows from one output row to the next
  int64_t rowsPerKernel;   // and from one kernel row to the next
};

bool isPointwise(const ConvPlan& plan) {
  for (const WindowAxis& axis : plan.axes)
    if (axis.kernel != 1 || axis.stride != 1 || axis.padBegin != 0 || axis.padEnd != 0) return false;
  return true;
}

gemm::WeightLayout weightsOf(const ConvPlan& plan, int64_t kernelHeight, int64_t kernelWidth) {
  const int64_t taps = kernelHeight * kernelWidth;
  return {.matrices = plan.groups,
          .rows = plan.groupOutputs,
          .channels = plan.groupInputs,
          .kernelHeight = kernelHeight,
          .kernelWidth = kernelWidth,
          .matrixStride = plan.groupOutputs * plan.groupInputs * taps,
          .rowStride = plan.groupInputs * taps,
          .channelStride = taps,
          .kernelRowStride = kernelWidth,
          .kernelColumnStride = 1};
}

ConvProduct productOf(const ConvPlan& plan) {
  const std::vector<WindowAxis> axes = padWindowRank(plan.axes, 2);
  const WindowAxis &high = axes[0], &wide = axes[1];
  ConvProduct product{weightsOf(plan, high.kernel, wide.kernel), {}, 1, 0, 0};
  gemm::PositionLayout& x = product.x;
  x.channels = plan.groups * plan.groupInputs;
  x.channelStride = plan.inputPositions();
  x.imageStride = x.channels * x.channelStride;
  if (isPointwise(plan)) {  // the image is one long row
    x.columns = x.width = x.rowStride = plan.inputPositions();
    return product;
  }
  const bool oneKernelRow = high.kernel == 1;  // then only the rows that outputs read are stored
  product.outputRows = high.output;
  product.rowsPerOutput = oneKernelRow ? 1 : high.stride;
  product.rowsPerKernel = high.dilation;
  x.rows = oneKernelRow ? high.output
                        : std::max<int64_t>(high.output - 1, 0) * high.stride + (high.kernel - 1) * high.dilation + 1;
  x.kernelWidth = wide.kernel;
  x.columns = wide.output;
  x.height = high.input;
  x.width = wide.input;
  x.rowStride = wide.input;
  x.rowStep = oneKernelRow ? high.stride : 1;
  x.columnStep = wide.stride;
  x.dilation = wide.dilation;
  x.padTop = high.padBegin;
  x.padLeft = wide.padBegin;
  return product;
}

GemmTiles::Shader::PushConstants pushOf(const ConvPlan& plan, const ConvProduct& product, const GemmTiles& tiles) {
  const int64_t pitch4 = product.x.pitch() / 4;
  const int64_t step = product.x.rows * pitch4;
  const int64_t depth = plan.groupInputs * product.w.kernelWidth;
  const int64_t positions = plan.outputPositions();
  return {.rows = plan.groupOutputs,
          .depth = depth,
          .outer = product.w.kernelHeight,
          .width = product.x.columns,
          .positions4 = product.outputRows * pitch4,
          .groups = plan.groups,
          .xStep = step,
          .xOuter = product.rowsPerKernel * pitch4,
          .xRow = product.rowsPerOutput * pitch4,
          .xImage = product.x.elementsPerImage() / 4,
          .xGroup = depth * step,
          .wGroup = tiles.packedVec4s(product.w),
          .yStep = positions,
          .yImage = plan.groups * plan.groupOutputs * positions,
          .yGroup = plan.groupOutputs * positions,
          .biasRow = 1,
          .biasGroup = plan.groupOutputs,
          .alpha = 1,
          .beta = 1};
}

class ConvVulkan final : public vulkan::VulkanExecution {
 public:
  ConvVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend),
        params_(args.params<ConvParams>()),
        tiles_(backend),
        maxScratchBytes_(static_cast<int64_t>(std::min<uint64_t>(args.device.maxTensorBytes, UINT32_MAX))),
        constantWeights_(args.constant(1) != nullptr) {
    if (constantWeights_) tiles_.setConstantWeights(*args.constant(1));
  }

  bool readsInput(size_t index) const override { return index != 1 || !constantWeights_; }

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    OPKIT_ASSIGN(const ConvPlan plan, planConv(params_, inputs[0]->desc.shape, inputs[1]->desc.shape, nullptr));
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    const std::string shapes = fmt::format("conv {} {}x{}x{} at {}", plan.batch, plan.groups, plan.groupOutputs,
                                           plan.groupInputs * plan.kernelTaps(), plan.outputPositions());
    return tiles_.encodeTuned(shapes, plan.groupOutputs, inputs, outputs, encoder,
                              [&](GemmTiles& tiles, TensorList in, TensorList out, vulkan::Encoder& target) {
                                return encode(plan, tiles, in, out, target);
                              });
  }

 private:
  Status encode(const ConvPlan& plan, GemmTiles& tiles, TensorList inputs, TensorList outputs,
                vulkan::Encoder& encoder) const {
    const Tensor* bias = inputs.size() > 2 ? inputs[2] : nullptr;
    ConvProduct product = productOf(plan);
    GemmTiles::Shader::PushConstants push = pushOf(plan, product, tiles);
    push.low = params_.clamp_low;
    push.high = params_.clamp_high;
    OPKIT_ASSIGN(const Tensor* w, tiles.weights(product.w, inputs[1], encoder));
    product.x.images = plan.batch;
    const int64_t imageBytes = product.x.elementsPerImage() * static_cast<int64_t>(sizeOf(outputs[0]->desc.dtype));
    const int64_t together =
        product.x.isInPlace() ? plan.batch : std::max<int64_t>(1, maxScratchBytes_ / std::max<int64_t>(imageBytes, 1));
    for (int64_t first = 0; first < plan.batch; first += together) {
      product.x.images = std::min(together, plan.batch - first);
      push.yBase = first * push.yImage;
      OPKIT_ASSIGN(const Tensor* x, tiles.positions(product.x, inputs[0], first, encoder));
      OPKIT_TRY(tiles.multiply(*x, *w, bias, *outputs[0], push, product.x.images, encoder));
    }
    return Status::ok();
  }

  ConvParamsT params_;
  GemmTiles tiles_;
  int64_t maxScratchBytes_;
  bool constantWeights_;
};

Status supports(const CreateArgs& args) {
  const Shape& x = args.input(0).shape;
  if (x.size() > 4)
    return Status::unsupported("Conv: the Vulkan kernel takes 1 or 2 spatial axes, got {}", x.size() - 2);
  OPKIT_ASSIGN(const ConvPlan plan, planConv(args.params<ConvParams>(), x, args.input(1).shape, nullptr));
  ConvProduct product = productOf(plan);
  OPKIT_TRY(GemmTiles::supports(args, product.w, product.x));
  product.x.images = plan.batch;
  return GemmTiles::requireLoops(args, product.w, product.x);
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "Conv", imageCreator());
  registry.addCreator("vulkan", "Conv", depthwiseImageCreator());
  registry.addCreator("vulkan", "Conv", depthwiseSharedCreator());
  registry.addCreator("vulkan", "Conv", depthwiseCreator());
  registry.addCreator("vulkan", "Conv", sharedCreator());
  registry.addCreator("vulkan", "Conv", vulkan::creatorOf<ConvVulkan>(supports));
  registry.addCreator("vulkan", "Conv", directCreator());
}

}  // namespace opkit::ops::conv
