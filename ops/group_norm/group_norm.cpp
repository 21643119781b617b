// GroupNormalization as an InstanceNormalization of groups of channels. With a scale per group, a group is one channel
// of x under another shape.
#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"
#include "ops/group_norm/group_norm_parts.h"
#include "ops/layer_norm/instance_norm_generated.h"
#include "ops/parts.h"

namespace opkit::ops::group_norm {
namespace {

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  const auto params = args.params<GroupNormParams>();
  const Shape& x = args.shape(0);
  OPKIT_TRY(checkGroups(x, params.num_groups, "num_groups"));
  const Shape expected{params.by_group ? params.num_groups : x[1]};
  OPKIT_TRY(requireParameter(args, 1, "scale", expected));
  OPKIT_TRY(requireParameter(args, 2, "bias", expected));
  return std::vector{args.input(0)};
}

Status decompose(const ShapeArgs& args, std::span<const TensorDesc> outputs, Decomposition& parts) {
  if (outputs[0].elements() == 0) {
    parts.setOutput(0, parts.input(0));
    return Status::ok();
  }
  const auto params = args.params<GroupNormParams>();
  const Shape& x = args.shape(0);
  const int64_t channels = params.by_group ? params.num_groups : x[1];
  const int64_t spatial = x[1] / channels * elementCount(x, 2, x.size());
  layer_norm::InstanceNormParamsT norm;
  norm.groups = params.by_group ? 0 : params.num_groups;
  norm.epsilon = params.epsilon;
  OPKIT_ASSIGN(const auto asChannels, listOf(parts, {x[0], channels, spatial}));
  OPKIT_ASSIGN(const auto asInput, listOf(parts, x));
  const auto input = parts.add("Reshape", {parts.input(0), asChannels});
  const auto y = parts.add("InstanceNormalization", {input, parts.input(1), parts.input(2)}, packParams(norm));
  parts.setOutput(0, parts.add("Reshape", {y, asInput}));
  return Status::ok();
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add({.type = "GroupNormalization",
                .summary = "groups of channels of each image brought to mean 0 and variance 1, then scaled and shifted",
                .params = paramsSchema<GroupNormParams>(kGroupNormSchema),
                .inputs = {{"x", kFloats}, {"scale", kFloats}, {"bias", kFloats}},
                .outputs = {{"y", kFloats}},
                .numeric = NumericClass::Norm,
                .inferShapes = shapeRule,
                .decompose = decompose,
                .flops = [](const ShapeArgs& args, auto) { return 7.0 * args.input(0).elements(); },
                .oracle = reference});
}

}  // namespace opkit::ops::group_norm
