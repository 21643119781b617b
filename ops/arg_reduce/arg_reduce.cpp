#include "ops/arg_reduce/arg_reduce.h"

#include "engine/op/op_registry.h"
#include "ops/arg_reduce/arg_reduce_schema.h"

namespace opkit::ops::arg_reduce {
namespace {

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  const auto params = args.params<ArgReduceParams>();
  TensorDesc output{DType::Int64, args.shape(0)};
  OPKIT_ASSIGN(const int axis, normalizeAxis(params.axis, output.shape.size()));
  const auto at = output.shape.begin() + axis;
  if (*at == 0) return Status::invalidArgument("axis {} of {} has no element to choose", axis, toString(output.shape));
  if (params.keep_dims)
    *at = 1;
  else
    output.shape.erase(at);
  return std::vector{output};
}

double flops(const ShapeArgs& args, std::span<const TensorDesc>) {
  return static_cast<double>(args.input(0).elements());
}

}  // namespace

Rows rowsOf(const ArgReduceParamsT& params, const Shape& shape) {
  const auto axis = static_cast<size_t>(*normalizeAxis(params.axis, shape.size()));
  return {elementCount(shape, 0, axis), shape[axis], elementCount(shape, axis + 1, shape.size())};
}

void define(OpRegistry& registry) {
  const auto add = [&](const char* type, const char* summary, OracleFn oracle) {
    registry.add({.type = type,
                  .summary = summary,
                  .params = paramsSchema<ArgReduceParams>(kArgReduceSchema),
                  .inputs = {{"x", kNumbers}},
                  .outputs = {{"index", DTypeSet{DType::Int64}}},
                  .inferShapes = shapeRule,
                  .flops = flops,
                  .oracle = std::move(oracle)});
  };
  add("ArgMax", "position of the largest element along an axis", maxReference);
  add("ArgMin", "position of the smallest element along an axis", minReference);
}

}  // namespace opkit::ops::arg_reduce
