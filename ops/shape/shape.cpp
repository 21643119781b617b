// Shape, Size and EyeLike: values that follow from shapes alone, computed at resize.
#include "ops/shape/shape.h"

#include <algorithm>

#include "engine/op/op_registry.h"

namespace opkit::ops::shape {
namespace {

/// The listed axes as [begin, end).
std::pair<int64_t, int64_t> axesOf(const ShapeParamsT& params, const Shape& shape) {
  const auto rank = static_cast<int64_t>(shape.size());
  const auto clampAxis = [&](int64_t axis) { return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank); };
  const int64_t begin = clampAxis(params.start);
  return {begin, std::max(begin, clampAxis(params.end))};
}

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  const auto [begin, end] = axesOf(args.params<ShapeParams>(), args.shape(0));
  return std::vector{TensorDesc{DType::Int64, {end - begin}}};
}

Status foldShape(const OracleArgs& args) {
  const Shape& shape = args.input(0).shape();
  const auto [begin, end] = axesOf(args.params<ShapeParams>(), shape);
  std::copy(shape.begin() + begin, shape.begin() + end, args.output().integer.begin());
  return Status::ok();
}

Result<std::vector<TensorDesc>> sizeRule(const ShapeArgs&) { return std::vector{TensorDesc{DType::Int64, {}}}; }

Status foldSize(const OracleArgs& args) {
  args.output().integer[0] = args.input(0).elements();
  return Status::ok();
}

Result<std::vector<TensorDesc>> eyeLikeRule(const ShapeArgs& args) {
  const auto params = args.params<EyeLikeParams>();
  if (args.shape(0).size() != 2) return Status::invalidArgument("x must be a matrix, got {}", toString(args.shape(0)));
  if (params.dtype != 0 && (!isValidDType(params.dtype) || !kAnyDType.contains(static_cast<DType>(params.dtype))))
    return Status::invalidArgument("dtype must be 0 or a valid type number, got {}", params.dtype);
  return std::vector{TensorDesc{params.dtype ? static_cast<DType>(params.dtype) : args.input(0).dtype, args.shape(0)}};
}

Status foldEyeLike(const OracleArgs& args) {
  const int64_t rows = args.output().shape()[0], columns = args.output().shape()[1];
  const int64_t diagonal = args.params<EyeLikeParams>().k;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t column = row + diagonal;
    if (column < 0 || column >= columns) continue;
    const auto at = static_cast<size_t>(row * columns + column);
    if (args.output().isReal())
      args.output().real[at] = 1;
    else
      args.output().integer[at] = 1;
  }
  return Status::ok();
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add({.type = "Shape",
                .summary = "the extents of a tensor",
                .params = paramsSchema<ShapeParams>(kShapeSchema),
                .inputs = {{"x"}},
                .outputs = {{"shape", DTypeSet{DType::Int64}}},
                .shapeOnly = true,
                .inferShapes = shapeRule,
                .oracle = shapeReference,
                .fold = foldShape});
  registry.add({.type = "Size",
                .summary = "the number of elements of a tensor",
                .inputs = {{"x"}},
                .outputs = {{"size", DTypeSet{DType::Int64}}},
                .shapeOnly = true,
                .inferShapes = sizeRule,
                .oracle = sizeReference,
                .fold = foldSize});
  registry.add({.type = "EyeLike",
                .summary = "ones on a diagonal of a matrix of the input's shape, zeros elsewhere",
                .params = paramsSchema<EyeLikeParams>(kEyeLikeSchema),
                .inputs = {{"x"}},
                .outputs = {{"y"}},
                .shapeOnly = true,
                .inferShapes = eyeLikeRule,
                .oracle = eyeLikeReference,
                .fold = foldEyeLike});
}

}  // namespace opkit::ops::shape
