#include "ops/conv/conv.h"

#include "engine/op/clamp.h"
#include "engine/op/op_registry.h"

namespace opkit::ops::conv {
namespace {

constexpr size_t kMaxSpatialAxes = 3;

Status checkShapes(const ConvParamsT& params, const Shape& x, const Shape& w, const Shape* bias) {
  if (x.size() < 3 || x.size() > kMaxSpatialAxes + 2)
    return Status::unsupported("the input must have 1 to {} spatial axes, got {}", kMaxSpatialAxes, toString(x));
  if (w.size() != x.size())
    return Status::invalidArgument("the weights must have the input's rank {}, got {}", x.size(), toString(w));
  const int64_t group = params.group;
  if (group < 1 || w[0] % group != 0)
    return Status::invalidArgument("group must divide the {} output channels, got {}", w[0], group);
  if (x[1] % group != 0 || x[1] / group != w[1])
    return Status::invalidArgument("with group {} the input must have {} channels for weights {}, got {}", group,
                                   w[1] * group, toString(w), x[1]);
  if (bias && *bias != Shape{w[0]})
    return Status::invalidArgument("the bias must be [{}], got {}", w[0], toString(*bias));
  const std::vector<int64_t> kernel(w.begin() + 2, w.end());
  if (!params.kernel_shape.empty() && params.kernel_shape != kernel)
    return Status::invalidArgument("kernel_shape must be {} for weights {}, got {}", toString(kernel), toString(w),
                                   toString(params.kernel_shape));
  return clampOf(params).check();
}

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  const Shape* bias = args.hasInput(2) ? &args.shape(2) : nullptr;
  for (size_t i = 1; i < args.inputs.size(); ++i)
    if (args.hasInput(i) && args.input(i).dtype != args.input(0).dtype)
      return Status::invalidArgument("inputs must have one type, got {} and {}", nameOf(args.input(0).dtype),
                                     nameOf(args.input(i).dtype));
  OPKIT_ASSIGN(const ConvPlan plan, planConv(args.params<ConvParams>(), args.shape(0), args.shape(1), bias));
  Shape shape{plan.batch, plan.groups * plan.groupOutputs};
  for (const WindowAxis& axis : plan.axes) shape.push_back(axis.output);
  return std::vector{TensorDesc{args.input(0).dtype, shape}};
}

double flops(const ShapeArgs& args, std::span<const TensorDesc> outputs) {
  const Shape& w = args.shape(1);
  return 2.0 * outputs[0].elements() * elementCount(w, 1, w.size());
}

}  // namespace

int64_t ConvPlan::inputPositions() const {
  int64_t count = 1;
  for (const WindowAxis& axis : axes) count *= axis.input;
  return count;
}

int64_t ConvPlan::outputPositions() const {
  int64_t count = 1;
  for (const WindowAxis& axis : axes) count *= axis.output;
  return count;
}

int64_t ConvPlan::kernelTaps() const {
  int64_t count = 1;
  for (const WindowAxis& axis : axes) count *= axis.kernel;
  return count;
}

Result<ConvPlan> planConv(const ConvParamsT& params, const Shape& x, const Shape& w, const Shape* bias) {
  OPKIT_TRY(checkShapes(params, x, w, bias));
  WindowSpec spec;
  spec.kernel.assign(w.begin() + 2, w.end());
  spec.strides = params.strides;
  spec.pads = params.pads;
  spec.dilations = params.dilations;
  spec.autoPad = static_cast<opkit::AutoPad>(params.auto_pad);
  OPKIT_ASSIGN(auto axes, planWindow(spec, Shape(x.begin() + 2, x.end())));
  return ConvPlan{x[0], params.group, w[1], w[0] / params.group, std::move(axes)};
}

void define(OpRegistry& registry) {
  registry.add({.type = "Conv",
                .summary = "cross-correlation over 1 to 3 spatial axes, with groups and bias",
                .params = paramsSchema<ConvParams>(kConvSchema),
                .inputs = {{"x", kFloats}, {"w", kFloats}, {"bias", kFloats, Port::Kind::Optional}},
                .outputs = {{"y"}},
                .numeric = NumericClass::Products,
                .inferShapes = shapeRule,
                .flops = flops,
                .oracle = hiding(reference, hidden)});
}

}  // namespace opkit::ops::conv
