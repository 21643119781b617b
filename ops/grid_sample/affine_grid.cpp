// AffineGrid: the product of the matrix of each image with evenly spaced places, a table made at resize. Places are
// columns, which are many, and become rows at the end.
#include "engine/op/decomposition.h"
#include "engine/op/shape_rules.h"
#include "ops/grid_sample/grid_sample.h"
#include "ops/parts.h"

namespace opkit::ops::grid_sample {
namespace {

using Value = Decomposition::Value;

/// Element i of an axis, between -1 and 1; the middle of an axis of one.
double placeOf(int64_t i, int64_t extent, bool alignCorners) {
  const auto at = static_cast<double>(2 * i), count = static_cast<double>(extent);
  if (alignCorners) return extent == 1 ? 0 : (at - (count - 1)) / (count - 1);
  return (at + 1 - count) / count;  // a difference of quotients would cancel in the middle
}

/// [axes + 1, places]: the coordinates of each place, innermost axis first, and 1.
template <class T>
std::vector<T> placesOf(const Shape& spatial, bool alignCorners) {
  const auto count = static_cast<size_t>(elementCount(spatial));
  std::vector<T> places(count * (spatial.size() + 1), 1);
  for (size_t i = 0; i < count; ++i) {
    auto rest = static_cast<int64_t>(i);
    size_t next = i;
    for (size_t d = spatial.size(); d-- > 0; rest /= spatial[d], next += count)
      places[next] = static_cast<T>(placeOf(rest % spatial[d], spatial[d], alignCorners));
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
  const int64_t count = elementCount(spatial), axes = shape.back();
  const TensorDesc desc{computed, {axes + 1, count}};
  OPKIT_ASSIGN(Tensor places, computed == DType::Float64 ? Tensor::fromValues(desc, placesOf<double>(spatial, align))
                                                         : Tensor::fromValues(desc, placesOf<float>(spatial, align)));
  OPKIT_ASSIGN(const Value theta,
               reshaped(parts, castTo(parts, parts.input(0), dtype, computed), {shape[0] * axes, axes + 1}));
  const Value product = parts.add("MatMul", {theta, parts.constant(std::move(places))});
  OPKIT_ASSIGN(const Value rows, reshaped(parts, product, {shape[0], axes, count}));
  OPKIT_ASSIGN(const Value grid, reshaped(parts, transposed(parts, rows, {0, 2, 1}), shape));
  parts.setOutput(0, castTo(parts, grid, computed, dtype));
  return Status::ok();
}

double affineGridFlops(const ShapeArgs& args, std::span<const TensorDesc> outputs) {
  return 2.0 * static_cast<double>(outputs[0].elements() * args.shape(0).back());
}

}  // namespace opkit::ops::grid_sample
