// The cards of DeformConv and DeformColumns.
#include "ops/deform_conv/deform_conv.h"

#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"
#include "ops/deform_conv/deform_conv_oracles.h"
#include "ops/parts.h"
#include "ops/reshape/reshape_generated.h"

namespace opkit::ops::deform_conv {
namespace {

using Value = Decomposition::Value;

Shape outputExtents(const DeformPlan& plan) {
  Shape extents;
  for (size_t d = kMaxAxes - plan.given; d < kMaxAxes; ++d) extents.push_back(plan.axes[d].output);
  return extents;
}

/// Input `i`, if given: `channels` values of each output.
Status checkPlaces(const ShapeArgs& args, size_t i, const char* name, const DeformPlan& plan, int64_t channels) {
  if (!args.hasInput(i)) return Status::ok();
  Shape expected{plan.batch, plan.offsetGroups * plan.taps * channels};
  for (const int64_t extent : outputExtents(plan)) expected.push_back(extent);
  if (args.shape(i) == expected) return Status::ok();
  return Status::invalidArgument("{} must be {}, got {}", name, toString(expected), toString(args.shape(i)));
}

Result<DeformPlan> checkedPlan(const ShapeArgs& args, const std::vector<int64_t>& kernel, size_t offset, size_t mask) {
  for (size_t i = 1; i < args.inputs.size(); ++i) OPKIT_TRY(requireSameType(args, i, fmt::format("input {}", i), 0));
  OPKIT_ASSIGN(DeformPlan plan, planDeform(args.params<DeformConvParams>(), args.shape(0), kernel));
  OPKIT_TRY(checkPlaces(args, offset, "offset", plan, static_cast<int64_t>(plan.given)));
  OPKIT_TRY(checkPlaces(args, mask, "mask", plan, 1));
  return plan;
}

std::vector<int64_t> kernelOf(const Shape& w) {
  return w.size() < 2 ? std::vector<int64_t>() : std::vector<int64_t>(w.begin() + 2, w.end());
}

Result<std::vector<TensorDesc>> convRule(const ShapeArgs& args) {
  const auto params = args.params<DeformConvParams>();
  const Shape &x = args.shape(0), &w = args.shape(1);
  const std::vector<int64_t> kernel = kernelOf(w);
  if (!params.kernel_shape.empty() && params.kernel_shape != kernel)
    return Status::invalidArgument("kernel_shape must be {} for weights {}, got {}", toString(kernel), toString(w),
                                   toString(params.kernel_shape));
  OPKIT_ASSIGN(const DeformPlan plan, checkedPlan(args, kernel, 2, 4));
  if (params.group < 1 || w[0] % params.group != 0 || x[1] != params.group * w[1])
    return Status::invalidArgument("with group {} the input must have {} channels for weights {}, got {}", params.group,
                                   w[1] * params.group, toString(w), x[1]);
  if (args.hasInput(3) && args.shape(3) != Shape{w[0]})
    return Status::invalidArgument("the bias must be [{}], got {}", w[0], toString(args.shape(3)));
  Shape shape{plan.batch, w[0]};
  for (const int64_t extent : outputExtents(plan)) shape.push_back(extent);
  OPKIT_TRY(checkShape(shape));
  return std::vector{TensorDesc{args.input(0).dtype, shape}};
}

Result<std::vector<TensorDesc>> columnsRule(const ShapeArgs& args) {
  OPKIT_ASSIGN(const DeformPlan plan, checkedPlan(args, args.params<DeformConvParams>().kernel_shape, 1, 2));
  const Shape shape{plan.batch, plan.channels * plan.taps, plan.positions};
  OPKIT_TRY(checkShape(shape));
  return std::vector{TensorDesc{args.input(0).dtype, shape}};
}

Result<Value> reshaped(Decomposition& parts, Value x, const Shape& shape) {
  reshape::ReshapeParamsT exact;
  exact.allow_zero = true;
  OPKIT_ASSIGN(const Value list, listOf(parts, shape));
  return parts.add("Reshape", {x, list}, packParams(exact));
}

}  // namespace

Result<DeformPlan> planDeform(const DeformConvParamsT& params, const Shape& x, const std::vector<int64_t>& kernel) {
  if (x.size() < 3 || x.size() > kMaxAxes + 2)
    return Status::unsupported("the input must have 1 to {} spatial axes, got {}", kMaxAxes, toString(x));
  if (kernel.size() != x.size() - 2)
    return Status::invalidArgument("the kernel must have {} axes for input {}, got {}", x.size() - 2, toString(x),
                                   toString(kernel));
  OPKIT_TRY(checkGroups(x, params.offset_group, "offset_group"));
  const WindowSpec spec{
      .kernel = kernel, .strides = params.strides, .pads = params.pads, .dilations = params.dilations};
  OPKIT_ASSIGN(auto axes, planWindow(spec, Shape(x.begin() + 2, x.end())));
  DeformPlan plan{.batch = x[0],
                  .channels = x[1],
                  .offsetGroups = params.offset_group,
                  .given = axes.size(),
                  .axes = padWindowRank(std::move(axes), kMaxAxes)};
  for (const WindowAxis& axis : plan.axes) {
    plan.taps *= axis.kernel;
    plan.positions *= axis.output;
  }
  return plan;
}

/// Halves are widened first and rounded once, at the end.
Status decompose(const ShapeArgs& args, std::span<const TensorDesc> outputs, Decomposition& parts) {
  auto params = args.params<DeformConvParams>();
  const Shape& w = args.shape(1);
  const DType dtype = args.input(0).dtype, computed = widened(dtype);
  const auto wide = [&](size_t i) {
    return args.hasInput(i) ? castTo(parts, parts.input(i), dtype, computed) : Decomposition::kAbsent;
  };
  params.kernel_shape = kernelOf(w);
  OPKIT_ASSIGN(const DeformPlan plan, planDeform(params, args.shape(0), params.kernel_shape));
  Value columns = parts.add("DeformColumns", {wide(0), wide(2), wide(4)}, packParams(params));
  const int64_t groups = params.group, depth = w[1] * plan.taps;
  OPKIT_ASSIGN(columns, reshaped(parts, columns, {plan.batch, groups, depth, plan.positions}));
  OPKIT_ASSIGN(const Value weights, reshaped(parts, wide(1), {groups, w[0] / groups, depth}));
  OPKIT_ASSIGN(Value y, reshaped(parts, parts.add("MatMul", {weights, columns}), outputs[0].shape));
  if (args.hasInput(3)) {
    Shape perChannel(plan.given + 1, 1);
    perChannel[0] = w[0];
    OPKIT_ASSIGN(const Value bias, reshaped(parts, wide(3), perChannel));
    y = parts.add("Add", {y, bias});
  }
  parts.setOutput(0, castTo(parts, y, computed, dtype));
  return Status::ok();
}

void define(OpRegistry& registry) {
  constexpr DTypeSet kComputed{DType::Float32, DType::Float64};
  registry.add({.type = "DeformConv",
                .summary = "convolution whose taps are moved by offsets and scaled by a mask",
                .params = paramsSchema<DeformConvParams>(kDeformConvSchema),
                .inputs = {{"x", kFloats},
                           {"w", kFloats},
                           {"offset", kFloats},
                           {"bias", kFloats, Port::Kind::Optional},
                           {"mask", kFloats, Port::Kind::Optional}},
                .outputs = {{"y", kFloats}},
                .numeric = NumericClass::Products,
                .inferShapes = convRule,
                .decompose = decompose,
                .flops =
                    [](const ShapeArgs& args, std::span<const TensorDesc> outputs) {
                      const Shape& w = args.shape(1);
                      return 2.0 * static_cast<double>(outputs[0].elements()) *
                             static_cast<double>(elementCount(w, 1, w.size()));
                    },
                .oracle = deformConvReference});
  registry.add({.type = "DeformColumns",
                .summary = "the samples that the outputs of a DeformConv read, as columns",
                .params = paramsSchema<DeformConvParams>(kDeformConvSchema),
                .inputs = {{"x", kComputed}, {"offset", kComputed}, {"mask", kComputed, Port::Kind::Optional}},
                .outputs = {{"y", kComputed}},
                .numeric = NumericClass::Sum,
                .inferShapes = columnsRule,
                .flops =
                    [](const ShapeArgs& args, std::span<const TensorDesc> outputs) {
                      return static_cast<double>(2 << (args.shape(0).size() - 2)) *
                             static_cast<double>(outputs[0].elements());
                    },
                .oracle = deformColumnsReference});
}

}  // namespace opkit::ops::deform_conv
