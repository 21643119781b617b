#include "ops/gemm/gemm_shared_vulkan.h"

#include "ops/gemm/gemm_thin_vulkan.h"
#include "shaders/gemm/gemm_shared.h"
#include "shaders/gemm/gemm_sum.h"

namespace opkit::ops::gemm {
namespace {

using Shader = shaders::GemmShared;

bool areMultiplesOf4(std::initializer_list<int64_t> values) {
  return std::ranges::all_of(values, [](int64_t value) { return value % 4 == 0; });
}

// True if vec4s along the contiguous axis are aligned and end with the matrix.
bool readsVectors(const ProductOperand& from, int64_t depth, int64_t outer) {
  const bool alongDepth = from.depth == 1;
  return areMultiplesOf4(
      {alongDepth ? depth : outer, alongDepth ? from.outer : from.depth, from.base, from.image, from.group});
}

bool hasVectors(const ProductSize& size, const SharedPart& part) {
  return areMultiplesOf4({size.columns, part.yBase}) && readsVectors(part.w, size.depth, size.rows) &&
         readsVectors(part.x, size.depth, size.columns);
}

Shader::PushConstants pushOf(const ProductSize& size, const SharedPart& part, const ProductEnd& end,
                             const ProductSlices& slices, const Tensor& y, bool hasBias) {
  return {.rows = size.rows,
          .columns = size.columns,
          .depth = size.depth,
          .slices = slices.count,
          .sliceDepth = slices.depth,
          .sliceStride = y.desc.elements(),
          .groups = part.groups,
          .wBase = part.w.base,
          .wRow = part.w.outer,
          .wDepth = part.w.depth,
          .wImage = part.w.image,
          .wGroup = part.w.group,
          .xBase = part.x.base,
          .xColumn = part.x.outer,
          .xDepth = part.x.depth,
          .xImage = part.x.image,
          .xGroup = part.x.group,
          .yBase = part.yBase,
          .hasBias = hasBias ? 1 : 0,
          .biasRow = end.biasRow,
          .biasColumn = end.biasColumn,
          .biasGroup = end.biasGroup,
          .alpha = end.alpha,
          .beta = end.beta,
          .low = end.low,
          .high = end.high};
}

Status multiply(const ProductTile& tile, const ProductSize& size, const std::vector<SharedPart>& parts,
                const ProductEnd& end, TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) {
  const Tensor &w = *inputs[0], &x = *inputs[1], &y = *outputs[0];
  const Tensor* bias = inputs.size() > 2 ? inputs[2] : nullptr;
  const ProductSlices slices = ProductSlices::of(size, tile, encoder.caps());
  OPKIT_ASSIGN(const Tensor* partial, slices.scratch(y, encoder));
  encoder.beginDisjoint();
  const Tensor *anyBias = bias ? bias : &w, *target = partial ? partial : &y;
  const Shader::Bindings bindings{
      .w = &w, .x = &x, .bias = anyBias, .biasUnits = anyBias, .y = target, .partial = target};
  for (const SharedPart& part : parts) {
    const Shader::Variant variant{*Shader::storageOf(y.desc.dtype),
                                  tile.block == 8 ? Shader::Block::V8 : Shader::Block::V4,
                                  hasVectors(size, part) ? Shader::Vector::V4 : Shader::Vector::V1};
    Shader::PushConstants push = pushOf(size, part, end, slices, y, bias != nullptr);
    const int64_t layers = slices.count * part.images * part.groups;
    for (push.first = 0; push.first < layers; push.first += kMaxProductLayers)
      OPKIT_TRY(encoder.dispatch<Shader>(variant, bindings, push,
                                         productGroups(tile, size, std::min(kMaxProductLayers, layers - push.first)),
                                         {.localSizeX = tile.localSizeX(), .localSizeY = tile.localSizeY()}));
  }
  encoder.endDisjoint();
  return !partial ? Status::ok() : addSlices(*partial, slices.count, size, end, bias, y, encoder);
}

}  // namespace

Status addSlices(const Tensor& partial, int64_t slices, const ProductSize& size, const ProductEnd& end,
                 const Tensor* bias, const Tensor& y, vulkan::Encoder& encoder) {
  using Sum = shaders::GemmSum;
  return encoder.dispatch<Sum>({*Sum::storageOf(y.desc.dtype)},
                               {.partial = &partial, .bias = bias ? bias : &partial, .y = &y},
                               {.count = y.desc.elements(),
                                .slices = slices,
                                .rows = size.rows,
                                .columns = size.columns,
                                .groups = end.biasGroups,
                                .hasBias = bias ? 1 : 0,
                                .biasRow = end.biasRow,
                                .biasColumn = end.biasColumn,
                                .biasGroup = end.biasGroup,
                                .alpha = end.alpha,
                                .beta = end.beta,
                                .low = end.low,
                                .high = end.high},
                               vulkan::Items{y.desc.elements()});
}

Status SharedProduct::supports(const CreateArgs& args, const ProductSize& size) {
  OPKIT_TRY(vulkan::requireStorage<Shader>(args, args.outputs[0].dtype));
  OPKIT_TRY(requireProductTiles(args, size));
  return isThin(size) ? vulkan::requireLoops(args, thinLoopPasses()) : Status::ok();
}

Status SharedProduct::encode(const ProductSize& size, const std::vector<SharedPart>& parts, const ProductEnd& end,
                             TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) {
  if (isThin(size)) return encodeThin(size, parts, end, inputs, outputs, encoder);
  const std::string kind =
      fmt::format("gemm_shared {}{}", nameOf(outputs[0]->desc.dtype), hasVectors(size, parts.front()) ? " by 4" : "");
  return encodeTuned(kind, size, inputs, outputs, encoder,
                     [&](const ProductTile& tile, TensorList in, TensorList out, vulkan::Encoder& target) {
                       return multiply(tile, size, parts, end, in, out, target);
                     });
}

}  // namespace opkit::ops::gemm
