#include "ops/max_roi_pool/max_roi_pool.h"

#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"

namespace opkit::ops::max_roi_pool {
namespace {

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  const auto params = args.params<MaxRoiPoolParams>();
  const Shape &x = args.shape(0), &rois = args.shape(1), &bins = params.pooled_shape;
  if (bins.size() != 2) return Status::invalidArgument("pooled_shape must have 2 values, got {}", bins.size());
  if (bins[0] < 1 || bins[1] < 1)
    return Status::invalidArgument("pooled_shape must be positive, got {}", toString(bins));
  if (x.size() != 4) return Status::invalidArgument("x must be [batch, channels, height, width], got {}", toString(x));
  if (rois.size() != 2 || rois[1] != 5) return Status::invalidArgument("rois must be [n, 5], got {}", toString(rois));
  OPKIT_TRY(requireSameType(args, 1, "rois", 0));
  const Shape shape{rois[0], x[1], bins[0], bins[1]};
  OPKIT_TRY(checkShape(shape));
  return std::vector{TensorDesc{args.input(0).dtype, shape}};
}

/// As if regions were whole images.
double flops(const ShapeArgs& args, std::span<const TensorDesc> outputs) {
  const Shape& x = args.shape(0);
  return static_cast<double>(outputs[0].shape[0] * x[1] * x[2] * x[3]);
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add({.type = "MaxRoiPool",
                .summary = "regions of images cut into bins, the largest element of each",
                .params = paramsSchema<MaxRoiPoolParams>(kMaxRoiPoolSchema),
                .inputs = {{"x", kFloats}, {"rois", kFloats}},
                .outputs = {{"y"}},
                .numeric = NumericClass::Exact,
                .inferShapes = shapeRule,
                .flops = flops,
                .oracle = reference});
}

}  // namespace opkit::ops::max_roi_pool
