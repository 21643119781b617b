#include "engine/op/internal_operators.h"

#include <algorithm>

namespace opkit {
namespace {

Result<const Tensor*> sourceOf(std::span<const Tensor* const> inputs, int source, DType expected) {
  const auto index = static_cast<size_t>(source);
  if (source < 0 || index >= inputs.size() || !inputs[index])
    return Status::internal("raster: a region reads source {}, there are {}", source, inputs.size());
  const DType found = inputs[index]->desc.dtype;
  if (bitsOf(found) != bitsOf(expected))
    return Status::internal("raster: source {} must be {}, found {}", source, nameOf(expected), nameOf(found));
  return inputs[index];
}

OpDef rasterDef() {
  OpDef def;
  def.type = "Raster";
  def.summary = "Strided copies of boxes of elements (internal)";
  def.inputs = {{"sources", kEveryDType, Port::Kind::Variadic}};
  def.outputs = {{"y", kEveryDType}};
  def.inferShapes = [](const ShapeArgs&) -> Result<std::vector<TensorDesc>> {
    return Status::internal("Raster: the operator that is lowered gives the shape");
  };
  def.computesAs = {};
  return def;
}

OpDef convertDef() {
  OpDef def;
  def.type = "Convert";
  def.summary = "Copies a tensor into another layout (internal)";
  def.inputs = {{"x", kEveryDType}};
  def.outputs = {{"y", kEveryDType}};
  def.inferShapes = [](const ShapeArgs& args) -> Result<std::vector<TensorDesc>> { return std::vector{args.input(0)}; };
  def.computesAs = {};
  return def;
}

}  // namespace

const OpDef& rasterCard() {
  static const OpDef card = rasterDef();
  return card;
}

const OpDef& convertCard() {
  static const OpDef card = convertDef();
  return card;
}

const OpDef* findInternalOperator(std::string_view type) {
  for (const OpDef* card : {&rasterCard(), &convertCard()})
    if (card->type == type) return card;
  return nullptr;
}

Status rasterOracle(const RegionList& list, std::span<const Tensor* const> inputs, const Tensor& output) {
  const DType dtype = output.desc.dtype;
  const size_t bytes = bytesOf(dtype, 1);
  const auto at = [bytes](const Tensor& tensor, int64_t element) {
    return tensor.bytes().begin() + element * static_cast<std::ptrdiff_t>(bytes);
  };
  if (list.fill == RegionList::Fill::Zero) std::ranges::fill(output.bytes(), std::byte{0});
  if (list.fill == RegionList::Fill::Input) {
    OPKIT_ASSIGN(const Tensor* value, sourceOf(inputs, list.fillInput, dtype));
    for (int64_t i = 0; i < output.desc.elements(); ++i) std::copy_n(at(*value, 0), bytes, at(output, i));
  }
  for (const Region& each : list.regions) {
    if (elementCount(each.size) == 0) continue;
    OPKIT_ASSIGN(const Tensor* source, sourceOf(inputs, each.source, dtype));
    OPKIT_ASSIGN(const Region region, inUnits(each, dtype));
    forEachIndex(region.size, [&](const DimVector& index) {
      int64_t from = region.sourceOffset, to = region.offset;
      for (size_t d = 0; d < index.size(); ++d) {
        from += index[d] * region.sourceStrides[d];
        to += index[d] * region.strides[d];
      }
      std::copy_n(at(*source, from), bytes, at(output, to));
    });
  }
  return Status::ok();
}

}  // namespace opkit
