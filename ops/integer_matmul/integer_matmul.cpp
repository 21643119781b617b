#include "ops/integer_matmul/integer_matmul.h"

#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"

namespace opkit::ops::integer_matmul {
namespace {

constexpr DTypeSet kBytes{DType::Int8, DType::UInt8};
constexpr DTypeSet kScales{DType::Float32, DType::Float16, DType::BFloat16};

Status checkZeroPoint(const ShapeArgs& args, int zeroPoint, int operand, std::string_view name) {
  return requireSameType(args, static_cast<size_t>(zeroPoint), name, static_cast<size_t>(operand));
}

Result<std::vector<TensorDesc>> rule(const ShapeArgs& args, const Roles& roles) {
  OPKIT_TRY(checkZeroPoint(args, roles.aZeroPoint, roles.a, "a_zero_point"));
  OPKIT_TRY(checkZeroPoint(args, roles.bZeroPoint, roles.b, "b_zero_point"));
  OPKIT_TRY(checkQuantized(args, roles));
  std::vector<const Shape*> shapes;
  for (size_t i = 0; i < args.inputs.size(); ++i) shapes.push_back(args.hasInput(i) ? &args.shape(i) : nullptr);
  OPKIT_ASSIGN(const IntegerPlan plan, planIntegers(roles, shapes));
  const DType dtype = roles.isQuantized() ? args.input(static_cast<size_t>(roles.yZeroPoint)).dtype : DType::Int32;
  return std::vector{TensorDesc{dtype, plan.product.output}};
}

double flops(const ShapeArgs& args, std::span<const TensorDesc> outputs) {
  return 2.0 * static_cast<double>(outputs[0].elements()) * static_cast<double>(args.shape(0).back());
}

}  // namespace

const Roles& rolesOf(std::string_view type) {
  static constexpr Roles kMatMul{.a = 0, .b = 1, .aZeroPoint = 2, .bZeroPoint = 3};
  static constexpr Roles kQuantizedMatMul{
      .a = 0, .b = 3, .aZeroPoint = 2, .bZeroPoint = 5, .aScale = 1, .bScale = 4, .yScale = 6, .yZeroPoint = 7};
  // The weights have the rows.
  static constexpr Roles kConv{.a = 1, .b = 0, .aZeroPoint = 3, .bZeroPoint = 2};
  static constexpr Roles kQuantizedConv{.a = 3,
                                        .b = 0,
                                        .aZeroPoint = 5,
                                        .bZeroPoint = 2,
                                        .aScale = 4,
                                        .bScale = 1,
                                        .yScale = 6,
                                        .yZeroPoint = 7,
                                        .bias = 8};
  if (type == "MatMulInteger") return kMatMul;
  if (type == "QLinearMatMul") return kQuantizedMatMul;
  OPKIT_CHECK(type == "ConvInteger" || type == "QLinearConv");
  return type == "ConvInteger" ? kConv : kQuantizedConv;
}

Result<Lines> planLines(const Shape& values, const Shape& operand, bool isRows, std::string_view name) {
  if (elementCount(values) == 1) return Lines{};
  const size_t rank = operand.size();
  Shape expected = operand;  // one value per line of each matrix
  if (rank >= 2) {
    const int64_t lines = operand[isRows ? rank - 2 : rank - 1];
    if (values == Shape{lines}) return Lines{0, 1};
    expected[isRows ? rank - 1 : rank - 2] = 1;
    if (values == expected) return Lines{lines, 1};
    return Status::invalidArgument("{} must be a scalar, [{}] or {} for the operand {}, got {}", name, lines,
                                   toString(expected), toString(operand), toString(values));
  }
  return Status::invalidArgument("{} must be a scalar for the operand {}, got {}", name, toString(operand),
                                 toString(values));
}

Result<IntegerPlan> planIntegers(const Roles& roles, std::span<const Shape* const> shapes) {
  const auto shapeOf = [&](int i) {
    return i >= 0 && static_cast<size_t>(i) < shapes.size() ? shapes[static_cast<size_t>(i)] : nullptr;
  };
  const Shape &a = *shapeOf(roles.a), &b = *shapeOf(roles.b);
  IntegerPlan plan;
  OPKIT_ASSIGN(plan.product, matmul::planMatMul(a, b));
  const auto fill = [&](int input, bool isRows, std::string_view name, Lines& lines) -> Status {
    if (!shapeOf(input)) return Status::ok();
    OPKIT_ASSIGN(lines, planLines(*shapeOf(input), isRows ? a : b, isRows, name));
    return Status::ok();
  };
  OPKIT_TRY(fill(roles.aZeroPoint, true, "a_zero_point", plan.aZeroPoint));
  OPKIT_TRY(fill(roles.bZeroPoint, false, "b_zero_point", plan.bZeroPoint));
  OPKIT_TRY(fill(roles.aScale, true, "a_scale", plan.aScale));
  OPKIT_TRY(fill(roles.bScale, false, "b_scale", plan.bScale));
  return plan;
}

std::vector<const Shape*> shapesOf(TensorList inputs) {
  std::vector<const Shape*> shapes;
  for (const Tensor* input : inputs) shapes.push_back(input ? &input->desc.shape : nullptr);
  return shapes;
}

Status checkQuantized(const ShapeArgs& args, const Roles& roles) {
  if (!roles.isQuantized()) return Status::ok();
  const auto yScale = static_cast<size_t>(roles.yScale), yZeroPoint = static_cast<size_t>(roles.yZeroPoint);
  for (const int scale : {roles.aScale, roles.bScale})
    OPKIT_TRY(requireSameType(args, static_cast<size_t>(scale), "a scale", yScale));
  for (const auto& [i, name] : {std::pair{yScale, "y_scale"}, std::pair{yZeroPoint, "y_zero_point"}})
    OPKIT_TRY(requireScalar(args, i, name));
  return Status::ok();
}

void define(OpRegistry& registry) {
  const auto ruleOf = [](std::string_view type) {
    return [&roles = rolesOf(type)](const ShapeArgs& args) { return rule(args, roles); };
  };
  registry.add({.type = "MatMulInteger",
                .summary = "matrix product of 8-bit integers less their zero points, in 32 bits",
                .inputs = {{"a", kBytes},
                           {"b", kBytes},
                           {"a_zero_point", kBytes, Port::Kind::Optional},
                           {"b_zero_point", kBytes, Port::Kind::Optional}},
                .outputs = {{"y", DTypeSet(DType::Int32)}},
                .numeric = NumericClass::Exact,
                .inferShapes = ruleOf("MatMulInteger"),
                .flops = flops,
                .oracle = reference});
  registry.add({.type = "QLinearMatMul",
                .summary = "matrix product of quantised operands, quantised",
                .inputs = {{"a", kBytes},
                           {"a_scale", kScales},
                           {"a_zero_point", kBytes},
                           {"b", kBytes},
                           {"b_scale", kScales},
                           {"b_zero_point", kBytes},
                           {"y_scale", kScales},
                           {"y_zero_point", kBytes}},
                .outputs = {{"y", kBytes}},
                .numeric = NumericClass::Exact,
                .inferShapes = ruleOf("QLinearMatMul"),
                .flops = flops,
                .oracle = reference});
}

}  // namespace opkit::ops::integer_matmul
