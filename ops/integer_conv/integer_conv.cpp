#include "ops/integer_conv/integer_conv.h"

#include "engine/op/clamp.h"
#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"

namespace opkit::ops::integer_conv {
namespace {

using integer_matmul::Lines;
using integer_matmul::Roles;
using integer_matmul::rolesOf;

constexpr DTypeSet kBytes{DType::Int8, DType::UInt8};
constexpr DTypeSet kFloat{DType::Float32};

Result<std::vector<TensorDesc>> rule(const ShapeArgs& args, const Roles& roles) {
  for (const auto& [zeroPoint, operand, name] :
       {std::tuple{roles.aZeroPoint, roles.a, "w_zero_point"}, std::tuple{roles.bZeroPoint, roles.b, "x_zero_point"}})
    OPKIT_TRY(requireSameType(args, static_cast<size_t>(zeroPoint), name, static_cast<size_t>(operand)));
  OPKIT_TRY(integer_matmul::checkQuantized(args, roles));
  std::vector<const Shape*> shapes;
  for (size_t i = 0; i < args.inputs.size(); ++i) shapes.push_back(args.hasInput(i) ? &args.shape(i) : nullptr);
  OPKIT_ASSIGN(const IntegerConvPlan plan, planIntegerConv(args.params<conv::ConvParams>(), roles, shapes));
  Shape shape{plan.conv.batch, plan.conv.groups * plan.conv.groupOutputs};
  for (const WindowAxis& axis : plan.conv.axes) shape.push_back(axis.output);
  const DType dtype = roles.isQuantized() ? args.input(static_cast<size_t>(roles.yZeroPoint)).dtype : DType::Int32;
  return std::vector{TensorDesc{dtype, shape}};
}

/// Values of output channels: one, or one each.
Result<Lines> planChannels(const Shape* values, int64_t channels, std::string_view name) {
  if (!values || elementCount(*values) == 1) return Lines{};
  if (*values == Shape{channels}) return Lines{0, 1};
  return Status::invalidArgument("{} must be a scalar or [{}], got {}", name, channels, toString(*values));
}

Status requireOne(const Shape* values, std::string_view name) {
  if (!values || elementCount(*values) == 1) return Status::ok();
  return Status::invalidArgument("{} must be a scalar, got {}", name, toString(*values));
}

FlopsFn flopsOf(const Roles& roles) {
  return [&roles](const ShapeArgs& args, std::span<const TensorDesc> outputs) {
    const Shape& w = args.shape(static_cast<size_t>(roles.a));
    return 2.0 * static_cast<double>(outputs[0].elements()) * static_cast<double>(elementCount(w, 1, w.size()));
  };
}

}  // namespace

Result<IntegerConvPlan> planIntegerConv(const conv::ConvParamsT& params, const Roles& roles,
                                        std::span<const Shape* const> shapes) {
  const auto shapeOf = [&](int i) {
    return i >= 0 && static_cast<size_t>(i) < shapes.size() ? shapes[static_cast<size_t>(i)] : nullptr;
  };
  const Shape &x = *shapeOf(roles.b), &w = *shapeOf(roles.a);
  if (clampOf(params).isActive()) return Status::unsupported("a clamp needs floating inputs");
  IntegerConvPlan plan;
  OPKIT_ASSIGN(plan.conv, conv::planConv(params, x, w, shapeOf(roles.bias)));
  OPKIT_TRY(requireOne(shapeOf(roles.bZeroPoint), "x_zero_point"));
  OPKIT_TRY(requireOne(shapeOf(roles.bScale), "x_scale"));
  OPKIT_ASSIGN(plan.wZeroPoint, planChannels(shapeOf(roles.aZeroPoint), w[0], "w_zero_point"));
  OPKIT_ASSIGN(plan.wScale, planChannels(shapeOf(roles.aScale), w[0], "w_scale"));
  return plan;
}

void define(OpRegistry& registry) {
  const auto ruleOf = [](std::string_view type) {
    return [&roles = rolesOf(type)](const ShapeArgs& args) { return rule(args, roles); };
  };
  registry.add({.type = "ConvInteger",
                .summary = "convolution of 8-bit integers less their zero points, in 32 bits",
                .params = paramsSchema<conv::ConvParams>(kConvSchema),
                .inputs = {{"x", kBytes},
                           {"w", kBytes},
                           {"x_zero_point", kBytes, Port::Kind::Optional},
                           {"w_zero_point", kBytes, Port::Kind::Optional}},
                .outputs = {{"y", DTypeSet(DType::Int32)}},
                .numeric = NumericClass::Exact,
                .inferShapes = ruleOf("ConvInteger"),
                .flops = flopsOf(rolesOf("ConvInteger")),
                .oracle = reference});
  registry.add({.type = "QLinearConv",
                .summary = "convolution of quantised operands with a bias, quantised",
                .params = paramsSchema<conv::ConvParams>(kConvSchema),
                .inputs = {{"x", kBytes},
                           {"x_scale", kFloat},
                           {"x_zero_point", kBytes},
                           {"w", kBytes},
                           {"w_scale", kFloat},
                           {"w_zero_point", kBytes},
                           {"y_scale", kFloat},
                           {"y_zero_point", kBytes},
                           {"bias", DTypeSet(DType::Int32), Port::Kind::Optional}},
                .outputs = {{"y", kBytes}},
                .numeric = NumericClass::Exact,
                .inferShapes = ruleOf("QLinearConv"),
                .flops = flopsOf(rolesOf("QLinearConv")),
                .oracle = reference});
}

}  // namespace opkit::ops::integer_conv
