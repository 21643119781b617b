#include "ops/quantized_binary/quantized_binary.h"

#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"

namespace opkit::ops::quantized_binary {
namespace {

constexpr DTypeSet kBytes{DType::Int8, DType::UInt8}, kScales{DType::Float32};

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  OPKIT_TRY(requireSameType(args, kAZeroPoint, "a_zero_point", kA));
  OPKIT_TRY(requireSameType(args, kBZeroPoint, "b_zero_point", kB));
  for (const auto& [i, name] : {std::pair{kAScale, "a_scale"},
                                {kAZeroPoint, "a_zero_point"},
                                {kBScale, "b_scale"},
                                {kBZeroPoint, "b_zero_point"},
                                {kYScale, "y_scale"},
                                {kYZeroPoint, "y_zero_point"}})
    OPKIT_TRY(requireScalar(args, i, name));
  OPKIT_ASSIGN(Shape shape, broadcastShapes(args.shape(kA), args.shape(kB)));
  return std::vector{TensorDesc{args.input(kYZeroPoint).dtype, std::move(shape)}};
}

}  // namespace

Loops loopsOf(const Shape& a, const Shape& b) {
  const Result<Shape> shape = broadcastShapes(a, b);
  OPKIT_CHECK(shape.has_value());
  return loopsOver(*shape, {a, b});
}

uint32_t functionOf(std::string_view type) { return type == "QLinearAdd" ? 0 : 1; }

void define(OpRegistry& registry) {
  for (const auto& [type, summary, oracle] :
       {std::tuple{"QLinearAdd", "the sum of quantised operands, quantised", &addReference},
        std::tuple{"QLinearMul", "the product of quantised operands, quantised", &multiplyReference}})
    registry.add({.type = type,
                  .summary = summary,
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
                  .inferShapes = shapeRule,
                  .oracle = oracle});
}

}  // namespace opkit::ops::quantized_binary
