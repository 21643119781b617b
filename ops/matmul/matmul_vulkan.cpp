#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/backend/vulkan/vulkan_loop.h"
#include "engine/op/op_registry.h"
#include "ops/gemm/gemm_shared_vulkan.h"
#include "ops/gemm/gemm_thin_vulkan.h"
#include "ops/gemm/gemm_tiles_vulkan.h"
#include "ops/matmul/matmul.h"

namespace opkit::ops::matmul {
namespace {

using gemm::GemmTiles;

// One axis of the batch; strides count matrices, 0 where an operand is repeated.
struct BatchAxis {
  int64_t size = 1;
  int64_t a = 0;
  int64_t b = 0;
};

// The batch with axes of size 1 dropped and neighbours merged where both operands allow it.
std::vector<BatchAxis> mergedBatch(const MatMulPlan& plan) {
  std::vector<BatchAxis> axes;
  for (size_t d = 0; d < plan.batch.size(); ++d) {
    const BatchAxis axis{plan.batch[d], plan.aBatchStrides[d], plan.bBatchStrides[d]};
    if (axis.size == 1) continue;
    BatchAxis* last = axes.empty() ? nullptr : &axes.back();
    if (last && last->a == axis.a * axis.size && last->b == axis.b * axis.size)
      *last = {last->size * axis.size, axis.a, axis.b};
    else
      axes.push_back(axis);
  }
  return axes;
}

int64_t matrixCount(const Shape& shape) { return shape.size() > 2 ? elementCount(shape, 0, shape.size() - 2) : 1; }

gemm::WeightLayout rowsOf(const MatMulPlan& plan, const Shape& a) {
  return {.matrices = matrixCount(a),
          .rows = plan.rows,
          .channels = plan.depth,
          .matrixStride = plan.rows * plan.depth,
          .rowStride = plan.aRowStride,
          .channelStride = plan.aDepthStride};
}

gemm::PositionLayout columnsOf(const MatMulPlan& plan, const Shape& b) {
  return {.images = matrixCount(b),
          .channels = plan.depth,
          .columns = plan.columns,
          .width = plan.columns,
          .imageStride = plan.depth * plan.columns,
          .channelStride = plan.bDepthStride,
          .rowStride = plan.columns,
          .columnStride = plan.bColumnStride};
}

class MatMulVulkan final : public vulkan::VulkanExecution {
 public:
  MatMulVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<MatMulParams>()), tiles_(backend) {
    const MatMulPlan plan = *planMatMul(args.input(0).shape, args.input(1).shape, params_);
    packsA_ = args.constant(0) != nullptr;
    laysOutB_ = args.constant(1) != nullptr && !columnsOf(plan, args.input(1).shape).isInPlace();
    if (packsA_) tiles_.setConstantWeights(*args.constant(0));
    if (laysOutB_) tiles_.setConstantPositions(*args.constant(1));
  }

  bool readsInput(size_t index) const override { return index == 0 ? !packsA_ : !laysOutB_; }

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const Shape &a = inputs[0]->desc.shape, &b = inputs[1]->desc.shape;
    OPKIT_ASSIGN(const MatMulPlan plan, planMatMul(a, b, params_));
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    const std::string shapes = fmt::format("matmul {}x{}x{}x{} t{}{}", matrixCount(outputs[0]->desc.shape), plan.rows,
                                           plan.depth, plan.columns, params_.trans_a, params_.trans_b);
    return tiles_.encodeTuned(shapes, plan.rows, inputs, outputs, encoder,
                              [&](GemmTiles& tiles, TensorList in, TensorList out, vulkan::Encoder& target) {
                                return encode(plan, tiles, in, out, target);
                              });
  }

 private:
  Status encode(const MatMulPlan& plan, GemmTiles& tiles, TensorList inputs, TensorList outputs,
                vulkan::Encoder& encoder) const {
    const Shape &a = inputs[0]->desc.shape, &b = inputs[1]->desc.shape;
    const gemm::WeightLayout rows = rowsOf(plan, a);
    const gemm::PositionLayout columns = columnsOf(plan, b);
    OPKIT_ASSIGN(const Tensor* w, tiles.weights(rows, inputs[0], encoder));
    OPKIT_ASSIGN(const Tensor* x, tiles.positions(columns, inputs[1], 0, encoder));

    std::vector<BatchAxis> batch = mergedBatch(plan);
    batch.insert(batch.begin(), batch.size() < 2 ? 2 - batch.size() : 0, BatchAxis{});
    const BatchAxis image = batch[batch.size() - 2], group = batch.back();
    const int64_t outputMatrix = plan.rows * plan.columns;
    const int64_t wMatrix = tiles.packedVec4s(rows), xMatrix = columns.elementsPerImage() / 4;
    GemmTiles::Shader::PushConstants push{.rows = plan.rows,
                                          .depth = plan.depth,
                                          .outer = 1,
                                          .width = plan.columns,
                                          .positions4 = columns.pitch() / 4,
                                          .groups = group.size,
                                          .xStep = columns.pitch() / 4,
                                          .xImage = image.b * xMatrix,
                                          .xGroup = group.b * xMatrix,
                                          .wImage = image.a * wMatrix,
                                          .wGroup = group.a * wMatrix,
                                          .yStep = plan.columns,
                                          .yImage = group.size * outputMatrix,
                                          .yGroup = outputMatrix,
                                          .alpha = 1,
                                          .low = params_.clamp_low,
                                          .high = params_.clamp_high};
    // Axes beyond the two of a dispatch take one dispatch per index.
    Shape outer;
    for (size_t d = 0; d + 2 < batch.size(); ++d) outer.push_back(batch[d].size);
    Status status;
    int64_t done = 0;
    forEachIndex(outer, [&](const DimVector& index) {
      int64_t aMatrix = 0, bMatrix = 0;
      for (size_t d = 0; d < index.size(); ++d) {
        aMatrix += index[d] * batch[d].a;
        bMatrix += index[d] * batch[d].b;
      }
      push.wBase = aMatrix * wMatrix;
      push.xBase = bMatrix * xMatrix;
      push.yBase = done++ * image.size * group.size * outputMatrix;
      if (status.isOk()) status = tiles.multiply(*x, *w, nullptr, *outputs[0], push, image.size, encoder);
    });
    return status;
  }

  MatMulParamsT params_;
  GemmTiles tiles_;
  bool packsA_ = false;
  bool laysOutB_ = false;
};

// The left matrices as one tall one if all are multiplied by the same right matrix.
MatMulPlan tall(MatMulPlan plan) {
  const std::vector<BatchAxis> batch = mergedBatch(plan);
  if (batch.size() != 1 || batch[0].a != 1 || batch[0].b != 0 || plan.aDepthStride != 1) return plan;
  plan.rows *= batch[0].size;
  plan.batch.clear();
  plan.aBatchStrides.clear();
  plan.bBatchStrides.clear();
  return plan;
}

gemm::ProductSize sizeOf(const MatMulPlan& plan) { return {plan.rows, plan.columns, plan.depth, plan.batchCount()}; }

// One part per index of the batch axes beyond the last two, which a dispatch covers.
std::vector<gemm::SharedPart> partsOf(const MatMulPlan& plan) {
  std::vector<BatchAxis> batch = mergedBatch(plan);
  batch.insert(batch.begin(), batch.size() < 2 ? 2 - batch.size() : 0, BatchAxis{});
  const BatchAxis image = batch[batch.size() - 2], group = batch.back();
  const int64_t w = plan.rows * plan.depth, x = plan.depth * plan.columns, y = plan.rows * plan.columns;
  Shape outer;
  for (size_t d = 0; d + 2 < batch.size(); ++d) outer.push_back(batch[d].size);
  std::vector<gemm::SharedPart> parts;
  forEachIndex(outer, [&](const DimVector& index) {
    int64_t aMatrix = 0, bMatrix = 0;
    for (size_t d = 0; d < index.size(); ++d) {
      aMatrix += index[d] * batch[d].a;
      bMatrix += index[d] * batch[d].b;
    }
    const auto done = static_cast<int64_t>(parts.size()) * image.size * group.size;
    parts.push_back({.w = {aMatrix * w, plan.aDepthStride, plan.aRowStride, image.a * w, group.a * w},
                     .x = {bMatrix * x, plan.bDepthStride, plan.bColumnStride, image.b * x, group.b * x},
                     .images = image.size,
                     .groups = group.size,
                     .yBase = done * y});
  });
  return parts;
}

class MatMulSharedVulkan final : public vulkan::VulkanExecution {
 public:
  MatMulSharedVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<MatMulParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    OPKIT_ASSIGN(const MatMulPlan plan, planMatMul(inputs[0]->desc.shape, inputs[1]->desc.shape, params_));
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    const MatMulPlan product = tall(plan);
    return product_.encode(sizeOf(product), partsOf(product), {.low = params_.clamp_low, .high = params_.clamp_high},
                           inputs, outputs, encoder);
  }

 private:
  MatMulParamsT params_;
  gemm::SharedProduct product_;
};

Status supportsShared(const CreateArgs& args) {
  OPKIT_ASSIGN(const MatMulPlan plan,
               planMatMul(args.input(0).shape, args.input(1).shape, args.params<MatMulParams>()));
  return gemm::SharedProduct::supports(args, sizeOf(tall(plan)));
}

Status supports(const CreateArgs& args) {
  const Shape &a = args.input(0).shape, &b = args.input(1).shape;
  OPKIT_ASSIGN(const MatMulPlan plan, planMatMul(a, b, args.params<MatMulParams>()));
  OPKIT_TRY(GemmTiles::supports(args, rowsOf(plan, a), columnsOf(plan, b)));
  return GemmTiles::requireLoops(args, rowsOf(plan, a), columnsOf(plan, b));
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  // Small products (measured: 0017), and those of types that the tiles do not take.
  const auto fitsLoop = [](const CreateArgs& args) {
    const DType dtype = args.input(0).dtype;
    const bool hasTiles = dtype == DType::Float32 || dtype == DType::Float16;
    return hasTiles ? requireSmallProducts(args, gemm::kLoopProducts) : Status::ok();
  };
  registry.addCreator("vulkan", "MatMul", vulkan::loopCreator(fitsLoop, "small"));
  registry.addCreator("vulkan", "MatMul",
                      vulkan::creatorOf<MatMulSharedVulkan>(supportsShared, Layout::NCHW, "shared"));
  registry.addCreator("vulkan", "MatMul", vulkan::creatorOf<MatMulVulkan>(supports));
}

}  // namespace opkit::ops::matmul
