#include "ops/unique/unique.h"

#include "engine/op/op_registry.h"

namespace opkit::ops::unique {
namespace {

/// y, indices, inverse, counts, all of the largest extent, and the number of slices that are used.
Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  const auto params = args.params<UniqueParams>();
  const TensorDesc& x = args.input(0);
  if (params.axis.has_value()) OPKIT_TRY(normalizeAxis(*params.axis, x.shape.size()).error());
  const int64_t slices = slicesOf(params, x.shape).extent;
  const TensorDesc list{DType::Int64, {slices}};
  return std::vector{TensorDesc{x.dtype, params.axis.has_value() ? x.shape : Shape{slices}}, list, list, list,
                     TensorDesc{DType::Int64, {1}}};
}

}  // namespace

void define(OpRegistry& registry) {
  constexpr DTypeSet kList{DType::Int64};
  registry.add({.type = "Unique",
                .summary = "the different elements or slices, where they are and how often",
                .params = paramsSchema<UniqueParams>(kUniqueSchema),
                .inputs = {{"x"}},
                .outputs = {{"y"},
                            {"indices", kList},
                            {"inverse", kList},
                            {"counts", kList},
                            {.name = "count", .dtypes = kList, .extent = true}},
                .inferShapes = shapeRule,
                .flops = [](const ShapeArgs& args, auto) { return static_cast<double>(args.input(0).elements()); },
                .oracle = reference});
}

}  // namespace opkit::ops::unique
