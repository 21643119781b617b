#include "ops/center_crop_pad/center_crop_pad_parts.h"

#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"

namespace opkit::ops::center_crop_pad {
namespace {

/// The extents of the output.
Result<Shape> targetOf(const ShapeArgs& args) {
  const Shape& x = args.shape(0);
  OPKIT_TRY(requireList(args, 1, "shape"));
  const std::vector<int64_t> extents = args.integers(1), axes = args.params<CenterCropPadParams>().axes;
  const size_t expected = axes.empty() ? x.size() : axes.size();
  if (extents.size() != expected)
    return Status::invalidArgument("shape must list {} extents, got {}", expected, extents.size());
  Shape target = x;
  std::vector<bool> isListed(x.size());
  for (size_t i = 0; i < extents.size(); ++i) {
    OPKIT_ASSIGN(const int axis, normalizeAxis(axes.empty() ? static_cast<int64_t>(i) : axes[i], x.size()));
    const auto d = static_cast<size_t>(axis);
    if (isListed[d]) return Status::invalidArgument("axes must differ, got {} twice", axis);
    isListed[d] = true;
    target[d] = extents[i];
  }
  OPKIT_TRY(checkShape(target));
  return target;
}

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  OPKIT_ASSIGN(Shape target, targetOf(args));
  return std::vector{TensorDesc{args.input(0).dtype, std::move(target)}};
}

/// One box: what input and output share.
Result<std::vector<RegionList>> lower(const ShapeArgs& args, std::span<const TensorDesc> outputs) {
  const Shape &from = args.shape(0), &to = outputs[0].shape;
  Region box;
  box.sourceStrides = contiguousStrides(from);
  box.strides = contiguousStrides(to);
  for (size_t d = 0; d < from.size(); ++d) {
    box.size.push_back(std::min(from[d], to[d]));
    if (from[d] > to[d])
      box.sourceOffset += (from[d] - to[d]) / 2 * box.sourceStrides[d];
    else
      box.offset += (to[d] - from[d]) / 2 * box.strides[d];
  }
  return std::vector{RegionList{{box}, RegionList::Fill::Zero}};
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add({.type = "CenterCropPad",
                .summary = "the middle of a tensor, or a tensor in the middle of zeros, per axis",
                .params = paramsSchema<CenterCropPadParams>(kCenterCropPadSchema),
                .inputs = {{"x"}, {"shape", kIndexTypes, Port::Kind::Required, true}},
                .outputs = {{"y"}},
                .inferShapes = shapeRule,
                .lower = lower,
                .oracle = reference});
}

}  // namespace opkit::ops::center_crop_pad
