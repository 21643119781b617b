#include "ops/gemm/gemm_thin_vulkan.h"

#include <bit>

#include "engine/base/divide.h"
#include "shaders/gemm/gemm_thin.h"

namespace opkit::ops::gemm {
namespace {

using Shader = shaders::GemmThin;

constexpr int64_t kMostVectors = 8;
constexpr int64_t kThinShared = 2048;  // kShared of gemm_thin.comp
constexpr int64_t kRowsOfGroup = 32;   // along the depth: kBlock; else kTeam, times VECTOR
constexpr int64_t kLeastSliceDepth = 48;

// The operands as matrix and vectors.
struct Thin {
  bool vectorsAreW;
  int64_t rows;
  int64_t count;
  ProductOperand matrix;
  ProductOperand few;
  bool alongDepth;
  bool byVectors;

  Thin(const ProductSize& size, const SharedPart& part) : vectorsAreW(size.rows <= size.columns) {
    rows = vectorsAreW ? size.columns : size.rows;
    count = vectorsAreW ? size.rows : size.columns;
    matrix = vectorsAreW ? part.x : part.w;
    few = vectorsAreW ? part.w : part.x;
    alongDepth = matrix.depth == 1;
    const int64_t strided = alongDepth ? matrix.outer : matrix.depth;
    const int64_t multiples[] = {alongDepth ? size.depth : rows, strided, matrix.base, matrix.image, matrix.group};
    byVectors = std::ranges::all_of(multiples, [](int64_t value) { return value % 4 == 0; });
  }
  uint32_t vectors() const { return std::bit_ceil(static_cast<uint32_t>(count)); }
  // Of k, which all invocations of a team or of a work group take part in.
  int64_t step() const { return alongDepth && byVectors ? 64 : 16; }
  int64_t blocks() const { return ceilDiv(rows, kRowsOfGroup * (byVectors && !alongDepth ? 4 : 1)); }
};

Shader::PushConstants pushOf(const Thin& thin, const ProductSize& size, const SharedPart& part, const ProductEnd& end,
                             const ProductSlices& slices) {
  const bool transposed = !thin.vectorsAreW;  // y is [row][vector]
  return {.rows = thin.rows,
          .count = thin.count,
          .depth = size.depth,
          .slices = slices.count,
          .sliceDepth = slices.depth,
          .sliceStride = size.results(),
          .groups = part.groups,
          .matrixBase = thin.matrix.base,
          .matrixStride = thin.alongDepth ? thin.matrix.outer : thin.matrix.depth,
          .matrixImage = thin.matrix.image,
          .matrixGroup = thin.matrix.group,
          .fewBase = thin.few.base,
          .fewStride = thin.few.outer,
          .fewDepth = thin.few.depth,
          .fewImage = thin.few.image,
          .fewGroup = thin.few.group,
          .yBase = part.yBase,
          .yRow = transposed ? thin.count : 1,
          .yVector = transposed ? 1 : thin.rows,
          .biasRow = transposed ? end.biasRow : end.biasColumn,
          .biasVector = transposed ? end.biasColumn : end.biasRow,
          .biasGroup = end.biasGroup,
          .alpha = end.alpha,
          .beta = end.beta,
          .low = end.low,
          .high = end.high};
}

}  // namespace

bool isThin(const ProductSize& size) {
  const int64_t results = size.rows * size.columns;
  const bool isLoop = size.depth <= kLoopDepth && (results == 1 || results * size.depth <= kLoopProducts);
  return std::min(size.rows, size.columns) <= kMostVectors && !isLoop;
}

ProductSlices thinSlices(const ProductSize& size, const SharedPart& part, const DeviceCaps& device) {
  const Thin thin(size, part);
  const int64_t missing = ceilDiv(device.deviceClass->groupsToFill, thin.blocks() * size.matrices);
  const int64_t wanted = std::max<int64_t>(std::min(missing, size.depth / kLeastSliceDepth), 1);
  const int64_t slices = std::max(wanted, ceilDiv(size.depth, kThinShared / thin.vectors()));
  return ProductSlices::cut(size.depth, slices, true, thin.step());
}

Status encodeThin(const ProductSize& size, const std::vector<SharedPart>& parts, const ProductEnd& end,
                  TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) {
  const Tensor& y = *outputs[0];
  const Tensor* bias = inputs.size() > 2 ? inputs[2] : nullptr;
  const ProductSlices slices = thinSlices(size, parts.front(), encoder.caps());
  OPKIT_ASSIGN(const Tensor* partial, slices.scratch(y, encoder));
  const Tensor* target = partial ? partial : &y;
  encoder.beginDisjoint();
  for (const SharedPart& part : parts) {
    const Thin thin(size, part);
    const Tensor &matrix = *inputs[thin.vectorsAreW ? 1 : 0], &few = *inputs[thin.vectorsAreW ? 0 : 1];
    const Shader::Variant variant{*Shader::storageOf(y.desc.dtype),
                                  thin.alongDepth ? Shader::Along::Depth : Shader::Along::Outer,
                                  thin.byVectors ? Shader::Vector::V4 : Shader::Vector::V1};
    Shader::PushConstants push = pushOf(thin, size, part, end, slices);
    push.hasBias = bias ? 1 : 0;
    const int64_t layers = slices.count * part.images * part.groups;
    for (push.first = 0; push.first < layers; push.first += kMaxProductLayers)
      OPKIT_TRY(encoder.dispatch<Shader>(
          variant, {.matrix = &matrix, .few = &few, .bias = bias ? bias : &few, .y = target, .partial = target}, push,
          spreadGroups(thin.blocks(), std::min(kMaxProductLayers, layers - push.first)), {.vectors = thin.vectors()}));
  }
  encoder.endDisjoint();
  return !partial ? Status::ok() : addSlices(*partial, slices.count, size, end, bias, y, encoder);
}

int64_t thinLoopPasses() {
  constexpr int64_t kGroup = 128, kLayers = 4, kFolds = 4;  // loading vectors; k along rows; folding each of 4 rows
  return vulkan::loopPasses({kThinShared / kGroup}) + vulkan::loopPasses({kThinShared / kLayers}) +
         4 * vulkan::loopPasses({kFolds}) + vulkan::loopPasses({kRowsOfGroup * kMostVectors / kGroup});
}

}  // namespace opkit::ops::gemm
