#include "ops/roi_align/roi_align.h"

#include <cmath>

#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"

namespace opkit::ops::roi_align {
namespace {

Status checkParams(const RoiAlignParamsT& params) {
  if (params.output_height < 1 || params.output_width < 1)
    return Status::invalidArgument("output_height and output_width must be positive, got {} and {}",
                                   params.output_height, params.output_width);
  if (params.sampling_ratio < 0 || params.sampling_ratio > kMostSamples)
    return Status::invalidArgument("sampling_ratio must be in [0, {}], got {}", kMostSamples, params.sampling_ratio);
  return Status::ok();
}

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  const auto params = args.params<RoiAlignParams>();
  const Shape &x = args.shape(0), &rois = args.shape(1);
  OPKIT_TRY(checkParams(params));
  if (x.size() != 4) return Status::invalidArgument("x must be [batch, channels, height, width], got {}", toString(x));
  if (rois.size() != 2 || rois[1] != 4) return Status::invalidArgument("rois must be [n, 4], got {}", toString(rois));
  OPKIT_TRY(requireSameType(args, 1, "rois", 0));
  if (args.shape(2) != Shape{rois[0]})
    return Status::invalidArgument("batch_indices must be {}, got {}", toString(Shape{rois[0]}),
                                   toString(args.shape(2)));
  const Shape shape{rois[0], x[1], params.output_height, params.output_width};
  OPKIT_TRY(checkShape(shape));
  if (x[2] * x[3] == 0 && elementCount(shape) > 0)
    return Status::invalidArgument("the images must have elements, got {}", toString(x));
  return std::vector{TensorDesc{args.input(0).dtype, shape}};
}

/// Of an adaptive grid, as if regions were whole images.
double flops(const ShapeArgs& args, std::span<const TensorDesc> outputs) {
  const auto params = args.params<RoiAlignParams>();
  const auto samples = [&](int64_t extent, int64_t bins) {
    return params.sampling_ratio > 0 ? params.sampling_ratio : (extent + bins - 1) / bins;
  };
  return 8.0 * static_cast<double>(outputs[0].elements() * samples(args.shape(0)[2], params.output_height) *
                                   samples(args.shape(0)[3], params.output_width));
}

}  // namespace

RoiPlan planRoi(const RoiAlignParamsT& params, const Shape& x, const Shape& rois) {
  return {x[0], x[1], x[2], x[3], rois[0], params.output_height, params.output_width};
}

Status badImage(int64_t batches, int64_t found) {
  return Status::invalidArgument("RoiAlign: batch_indices must be in [0, {}), got {}", batches, found);
}

void define(OpRegistry& registry) {
  registry.add({.type = "RoiAlign",
                .summary = "regions of images cut into bins; of each bin the mean or maximum of interpolated samples",
                .params = paramsSchema<RoiAlignParams>(kRoiAlignSchema),
                .inputs = {{"x", kFloats}, {"rois", kFloats}, {"batch_indices", DTypeSet{DType::Int64}}},
                .outputs = {{"y"}},
                .numeric = NumericClass::Sum,
                .inferShapes = shapeRule,
                .flops = flops,
                .oracle = reference});
}

}  // namespace opkit::ops::roi_align
