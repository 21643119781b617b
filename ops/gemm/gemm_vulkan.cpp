#include "engine/op/op_registry.h"
#include "ops/gemm/gemm.h"
#include "ops/gemm/gemm_shared_vulkan.h"
#include "ops/gemm/gemm_tiles_vulkan.h"

namespace opkit::ops::gemm {
namespace {

WeightLayout rowsOf(const GemmPlan& plan) {
  return {.rows = plan.rows, .channels = plan.depth, .rowStride = plan.aRowStride, .channelStride = plan.aDepthStride};
}

PositionLayout columnsOf(const GemmPlan& plan) {
  return {.channels = plan.depth,
          .columns = plan.columns,
          .width = plan.columns,
          .channelStride = plan.bDepthStride,
          .columnStride = plan.bColumnStride};
}

class GemmVulkan final : public vulkan::VulkanExecution {
 public:
  GemmVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<GemmParams>()), tiles_(backend) {
    const GemmPlan plan = *planGemm(params_, args.input(0).shape, args.input(1).shape, nullptr);
    packsA_ = args.constant(0) != nullptr;
    laysOutB_ = args.constant(1) != nullptr && !columnsOf(plan).isInPlace();
    if (packsA_) tiles_.setConstantWeights(*args.constant(0));
    if (laysOutB_) tiles_.setConstantPositions(*args.constant(1));
  }

  bool readsInput(size_t index) const override { return index == 0 ? !packsA_ : index == 1 ? !laysOutB_ : true; }

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const Tensor* c = inputs.size() > 2 ? inputs[2] : nullptr;
    OPKIT_ASSIGN(const GemmPlan plan,
                 planGemm(params_, inputs[0]->desc.shape, inputs[1]->desc.shape, c ? &c->desc.shape : nullptr));
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    const PositionLayout columns = columnsOf(plan);
    OPKIT_ASSIGN(const Tensor* w, tiles_.weights(rowsOf(plan), inputs[0], encoder));
    OPKIT_ASSIGN(const Tensor* x, tiles_.positions(columns, inputs[1], 0, encoder));
    return tiles_.multiply(*x, *w, c, *outputs[0],
                           {.rows = plan.rows,
                            .depth = plan.depth,
                            .outer = 1,
                            .width = plan.columns,
                            .positions4 = columns.pitch() / 4,
                            .groups = 1,
                            .xStep = columns.pitch() / 4,
                            .yStep = plan.columns,
                            .biasRow = plan.cRowStride,
                            .biasColumn = plan.cColumnStride,
                            .alpha = params_.alpha,
                            .beta = params_.beta,
                            .low = params_.clamp_low,
                            .high = params_.clamp_high},
                           1, encoder);
  }

 private:
  GemmParamsT params_;
  GemmTiles tiles_;
  bool packsA_ = false;
  bool laysOutB_ = false;
};

ProductSize sizeOf(const GemmPlan& plan) { return {plan.rows, plan.columns, plan.depth}; }

class GemmSharedVulkan final : public vulkan::VulkanExecution {
 public:
  GemmSharedVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<GemmParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const Tensor* c = has(inputs, 2) ? inputs[2] : nullptr;
    OPKIT_ASSIGN(const GemmPlan plan,
                 planGemm(params_, inputs[0]->desc.shape, inputs[1]->desc.shape, c ? &c->desc.shape : nullptr));
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    const SharedPart part{.w = {.depth = plan.aDepthStride, .outer = plan.aRowStride},
                          .x = {.depth = plan.bDepthStride, .outer = plan.bColumnStride}};
    const ProductEnd end{.biasRow = plan.cRowStride,
                         .biasColumn = plan.cColumnStride,
                         .alpha = params_.alpha,
                         .beta = params_.beta,
                         .low = params_.clamp_low,
                         .high = params_.clamp_high};
    return product_.encode(sizeOf(plan), {part}, end, inputs, outputs, encoder);
  }

 private:
  GemmParamsT params_;
  SharedProduct product_;
};

Status supportsShared(const CreateArgs& args) {
  OPKIT_ASSIGN(const GemmPlan plan,
               planGemm(args.params<GemmParams>(), args.input(0).shape, args.input(1).shape, nullptr));
  return SharedProduct::supports(args, sizeOf(plan));
}

Status supports(const CreateArgs& args) {
  OPKIT_ASSIGN(const GemmPlan plan,
               planGemm(args.params<GemmParams>(), args.input(0).shape, args.input(1).shape, nullptr));
  OPKIT_TRY(GemmTiles::supports(args, rowsOf(plan), columnsOf(plan)));
  return GemmTiles::requireLoops(args, rowsOf(plan), columnsOf(plan));
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "Gemm", vulkan::creatorOf<GemmSharedVulkan>(supportsShared, Layout::NCHW, "shared"));
  registry.addCreator("vulkan", "Gemm", vulkan::creatorOf<GemmVulkan>(supports));
}

}  // namespace opkit::ops::gemm
