#include "ops/gather/gather.h"

#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"
#include "ops/gather/gather_nd_schema.h"
#include "ops/gather/gather_schema.h"

namespace opkit::ops::gather {
namespace {

Result<std::vector<TensorDesc>> gatherShapeRule(const ShapeArgs& args) {
  const Shape &data = args.shape(0), &indices = args.shape(1);
  OPKIT_ASSIGN(const int axis, normalizeAxis(args.params<GatherParams>().axis, data.size()));
  Shape shape(data.begin(), data.begin() + axis);
  shape.insert(shape.end(), indices.begin(), indices.end());
  shape.insert(shape.end(), data.begin() + axis + 1, data.end());
  return std::vector{TensorDesc{args.input(0).dtype, shape}};
}

Result<std::vector<TensorDesc>> elementsShapeRule(const ShapeArgs& args) {
  const Shape &data = args.shape(0), &indices = args.shape(1);
  OPKIT_ASSIGN(const int axis, normalizeAxis(args.params<GatherParams>().axis, data.size()));
  OPKIT_TRY(checkIndicesFit(data, indices, axis));
  return std::vector{TensorDesc{args.input(0).dtype, indices}};
}

Result<std::vector<TensorDesc>> ndShapeRule(const ShapeArgs& args) {
  const Shape &data = args.shape(0), &indices = args.shape(1);
  const int64_t batchAxes = args.params<GatherNdParams>().batch_dims;
  const auto axes = static_cast<int64_t>(std::min(data.size(), indices.size()));
  if (data.empty() || indices.empty() || batchAxes < 0 || batchAxes >= axes)
    return Status::invalidArgument("batch_dims must be in [0, {}), got {}", axes, batchAxes);
  if (!std::equal(data.begin(), data.begin() + batchAxes, indices.begin()))
    return Status::invalidArgument("the first {} extents must be equal, got {} and {}", batchAxes, toString(data),
                                   toString(indices));
  const int64_t depth = indices.back();
  const int64_t deepest = static_cast<int64_t>(data.size()) - batchAxes;
  if (depth > deepest)
    return Status::invalidArgument("the last extent of indices must be in [0, {}], got {}", deepest, toString(indices));
  Shape shape(indices.begin(), indices.end() - 1);
  shape.insert(shape.end(), data.begin() + batchAxes + depth, data.end());
  return std::vector{TensorDesc{args.input(0).dtype, shape}};
}

double noFlops(const ShapeArgs&, std::span<const TensorDesc>) { return 0; }

}  // namespace

GatherPlan planGather(const GatherParamsT& params, const Shape& data) {
  const auto axis = static_cast<size_t>(*normalizeAxis(params.axis, data.size()));
  return {elementCount(data, 0, axis), data[axis], elementCount(data, axis + 1, data.size())};
}

void define(OpRegistry& registry) {
  const std::vector<Port> inputs{{"data", kMovedDTypes}, {"indices", kIndexTypes}};
  registry.add({.type = "Gather",
                .summary = "slices of the data along an axis, chosen by indices",
                .params = paramsSchema<GatherParams>(kGatherSchema),
                .inputs = inputs,
                .outputs = {{"y", kMovedDTypes}},
                .inferShapes = gatherShapeRule,
                .loop = gatherLoop,
                .flops = noFlops,
                .oracle = gatherReference});
  registry.add({.type = "GatherElements",
                .summary = "single elements of the data, each with its own index along an axis",
                .params = paramsSchema<GatherParams>(kGatherSchema),
                .inputs = inputs,
                .outputs = {{"y", kMovedDTypes}},
                .inferShapes = elementsShapeRule,
                .loop = gatherElementsLoop,
                .flops = noFlops,
                .oracle = gatherElementsReference});
  registry.add({.type = "GatherND",
                .summary = "slices of the data, chosen by tuples of indices",
                .params = paramsSchema<GatherNdParams>(kGatherNdSchema),
                .inputs = inputs,
                .outputs = {{"y", kMovedDTypes}},
                .inferShapes = ndShapeRule,
                .loop = gatherNdLoop,
                .flops = noFlops,
                .oracle = gatherNdReference});
}

}  // namespace opkit::ops::gather
