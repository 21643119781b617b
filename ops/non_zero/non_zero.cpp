#include "ops/non_zero/non_zero_parts.h"

#include "engine/op/op_registry.h"

namespace opkit::ops::non_zero {
namespace {

/// indices [rank, elements], of which `count` columns are used; count [1]. A scalar has no index.
Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  const auto rank = static_cast<int64_t>(args.shape(0).size());
  return std::vector{TensorDesc{DType::Int64, {rank, args.input(0).elements()}}, TensorDesc{DType::Int64, {1}}};
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add({.type = "NonZero",
                .summary = "indices of the elements that are not zero, and their number",
                .inputs = {{"x"}},
                .outputs = {{"indices", DTypeSet{DType::Int64}},
                            {.name = "count", .dtypes = DTypeSet{DType::Int64}, .extent = true}},
                .inferShapes = shapeRule,
                .oracle = reference});
}

}  // namespace opkit::ops::non_zero
