// AffineGrid: the product of evenly spaced places, a table made at resize, with the matrix of each image.
#include "engine/op/decomposition.h"
#include "engine/op/shape_rules.h"
#include "ops/cast/cast_generated.h"
#include "ops/grid_sample/grid_sample.h"
#include "ops/reshape/reshape_generated.h"
#include "ops/transpose/transpose_generated.h"

namespace opkit::ops::grid_sample {
namespace {

using Value = Decomposition::Value;

/// Element i of an axis, between -1 and 1; the middle of an axis of one.
double placeOf(int64_t i, int64_t extent, bool alignCorners) {
  const auto at = static_cast<double>(2 * i), count = static_cast<double>(extent);
  if (alignCorners) return extent == 1 ? 0 : (at - (count - 1)) / (count - 1);
  return (at + 1 - count) / count;  // a difference of quotients would cancel in the middle
}

/// [places, axes + 1]: the coordinates of each place, innermost axis first, and 1.
template <class T>
std::vector<T> placesOf(const Shape& spatial, bool alignCorners) {
  const int64_t count = elementCount(spatial);
  std::vector<T> places;
  places.reserve(static_cast<size_t>(count) * (spatial.size() + 1));
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i;
    for (size_t d = spatial.size(); d-- > 0; rest /= spatial[d])
      places.push_back(static_cast<T>(placeOf(rest % spatial[d], spatial[d], alignCorners)));
    places.push_back(1);
  }
  return places;
}

}  // namespace

Result<std::vector<TensorDesc>> affineGridRule(const ShapeArgs& args) {
  OPKIT_TRY(requireList(args, 1, "size"));
  const std::vector<int64_t> size = args.integers(1);
  if (size.size() != 4 && size.size() != 5)
    return Status::invalidArgument("size must list 4 or 5 extents, got {}", size.size());
  for (const int64_t extent : size)
    if (extent < 0 || extent > kMaxElements)
      return Status::invalidArgument("extents must be in [0, {}], got {}", kMaxElements, extent);
  const auto axes = static_cast<int64_t>(size.size()) - 2;
  const Shape expected{size[0], axes, axes + 1};
  if (args.shape(0) != expected)
    return Status::invalidArgument("theta must be {}, got {}", toString(expected), toString(args.shape(0)));
  Shape shape{size[0]};
  shape.insert(shape.end(), size.begin() + 2, size.end());
  shape.push_back(axes);
  return std::vector{TensorDesc{args.input(0).dtype, shape}};
}

Status decomposeAffineGrid(const ShapeArgs& args, std::span<const TensorDesc> outputs, Decomposition& parts) {
  const bool align = args.params<AffineGridParams>().align_corners;
  const Shape& shape = outputs[0].shape;
  const Shape spatial(shape.begin() + 1, shape.end() - 1);
  const DType dtype = outputs[0].dtype, computed = dtype == DType::Float64 ? dtype : DType::Float32;
  const TensorDesc desc{computed, {elementCount(spatial), shape.back() + 1}};
  const auto cast = [&](Value value, DType to) {
    cast::CastParamsT params;
    params.to = static_cast<cast::ElementType>(to);
    return dtype == computed ? value : parts.add("Cast", {value}, packParams(params));
  };
  OPKIT_ASSIGN(Tensor places, computed == DType::Float64 ? Tensor::fromValues(desc, placesOf<double>(spatial, align))
                                                         : Tensor::fromValues(desc, placesOf<float>(spatial, align)));
  OPKIT_ASSIGN(Tensor list, Tensor::fromValues({DType::Int64, {static_cast<int64_t>(shape.size())}}, shape.toVector()));
  transpose::TransposeParamsT turned;
  turned.perm = {0, 2, 1};
  reshape::ReshapeParamsT exact;
  exact.allow_zero = true;
  const Value theta = parts.add("Transpose", {cast(parts.input(0), computed)}, packParams(turned));
  const Value product = parts.add("MatMul", {parts.constant(std::move(places)), theta});
  const Value grid = parts.add("Reshape", {product, parts.constant(std::move(list))}, packParams(exact));
  parts.setOutput(0, cast(grid, dtype));
  return Status::ok();
}

double affineGridFlops(const ShapeArgs& args, std::span<const TensorDesc> outputs) {
  return 2.0 * static_cast<double>(outputs[0].elements() * args.shape(0).back());
}

}  // namespace opkit::ops::grid_sample
