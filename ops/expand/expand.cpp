#include "engine/op/op_registry.h"
#include "ops/expand/expand_parts.h"

namespace opkit::ops::expand {
namespace {

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  const Shape target = args.integers(1);
  OPKIT_TRY(checkShape(target));
  OPKIT_ASSIGN(Shape shape, broadcastShapes(args.shape(0), target));
  return std::vector{TensorDesc{args.input(0).dtype, std::move(shape)}};
}

Result<std::vector<RegionList>> lower(const ShapeArgs& args, std::span<const TensorDesc> outputs) {
  const Shape& shape = outputs[0].shape;
  return std::vector{
      RegionList{{Region{0, 0, 0, shape, broadcastStrides(args.shape(0), shape), contiguousStrides(shape)}}}};
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add({.type = "Expand",
                .summary = "repeats a tensor to the shape it broadcasts to",
                .inputs = {{"x", kMovedDTypes}, {"shape", kIndexTypes, Port::Kind::Required, true}},
                .outputs = {{"y", kMovedDTypes}},
                .inferShapes = shapeRule,
                .lower = lower,
                .oracle = reference});
}

}  // namespace opkit::ops::expand
