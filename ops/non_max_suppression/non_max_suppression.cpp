#include "ops/non_max_suppression/non_max_suppression_parts.h"

#include "engine/op/op_registry.h"

namespace opkit::ops::non_max_suppression {
namespace {

Status requireScalars(const ShapeArgs& args) {
  const char* const names[] = {"max_output_boxes_per_class", "iou_threshold", "score_threshold"};
  for (size_t i = 2; i < 5; ++i)
    if (args.hasInput(i) && args.input(i).elements() != 1)
      return Status::invalidArgument("{} must hold one element, got {}", names[i - 2], toString(args.shape(i)));
  return Status::ok();
}

/// indices [batch * classes * most, 3], of which `count` rows are used; count [1].
Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  const Shape &boxes = args.shape(0), &scores = args.shape(1);
  if (boxes.size() != 3 || boxes[2] != 4)
    return Status::invalidArgument("boxes must be [batch, boxes, 4], got {}", toString(boxes));
  if (scores.size() != 3 || scores[0] != boxes[0] || scores[2] != boxes[1])
    return Status::invalidArgument("scores must be [{}, classes, {}], got {}", boxes[0], boxes[1], toString(scores));
  OPKIT_TRY(requireScalars(args));
  const int64_t most = args.hasInput(2) ? std::clamp<int64_t>(args.integers(2)[0], 0, boxes[1]) : 0;
  return std::vector{TensorDesc{DType::Int64, {scores[0] * scores[1] * most, 3}}, TensorDesc{DType::Int64, {1}}};
}

/// An intersection takes about 16 operations; each selected box is compared with the others.
double flops(const ShapeArgs& args, std::span<const TensorDesc> outputs) {
  return 16.0 * static_cast<double>(outputs[0].shape[0]) * static_cast<double>(args.shape(0)[1]);
}

}  // namespace

void define(OpRegistry& registry) {
  constexpr DTypeSet kReal{DType::Float32};
  registry.add({.type = "NonMaxSuppression",
                .summary = "boxes of high scores that overlap no better one, and their number",
                .params = paramsSchema<NonMaxSuppressionParams>(kNonMaxSuppressionSchema),
                .inputs = {{"boxes", kReal},
                           {"scores", kReal},
                           {"max_output_boxes_per_class", DTypeSet{DType::Int64}, Port::Kind::Optional, true},
                           {"iou_threshold", kReal, Port::Kind::Optional},
                           {"score_threshold", kReal, Port::Kind::Optional}},
                .outputs = {{"indices", DTypeSet{DType::Int64}},
                            {.name = "count", .dtypes = DTypeSet{DType::Int64}, .extent = true}},
                .inferShapes = shapeRule,
                .flops = flops,
                .oracle = reference});
}

}  // namespace opkit::ops::non_max_suppression
