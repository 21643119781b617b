// DynamicQuantizeLinear as parts: the least and the greatest element, the scale and zero point of that range, and
// QuantizeLinear.
#include "engine/op/op_registry.h"
#include "ops/dynamic_quantize/dynamic_quantize_parts.h"
#include "ops/dynamic_quantize/range.h"
#include "ops/parts.h"

namespace opkit::ops::dynamic_quantize {
namespace {

constexpr DTypeSet kFloat{DType::Float32};
constexpr DTypeSet kByte{DType::UInt8};

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  return std::vector{TensorDesc{DType::UInt8, args.shape(0)}, TensorDesc{DType::Float32, {}},
                     TensorDesc{DType::UInt8, {}}};
}

Status decompose(const ShapeArgs&, std::span<const TensorDesc>, Decomposition& parts) {
  const auto x = parts.input(0);
  const auto least = reduced(parts, "ReduceMin", x, {}, false), greatest = reduced(parts, "ReduceMax", x, {}, false);
  const auto made = parts.add("QuantizationRange", {least, greatest}, {}, 2);
  parts.setOutput(0, parts.add("QuantizeLinear", {x, made[0], made[1]}));
  parts.setOutput(1, made[0]);
  parts.setOutput(2, made[1]);
  return Status::ok();
}

Result<std::vector<TensorDesc>> rangeRule(const ShapeArgs& args) {
  for (size_t i = 0; i < 2; ++i)
    if (!args.shape(i).empty())
      return Status::invalidArgument("the ends of the range must be scalars, got {}", toString(args.shape(i)));
  return std::vector{TensorDesc{DType::Float32, {}}, TensorDesc{DType::UInt8, {}}};
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add({.type = "DynamicQuantizeLinear",
                .summary = "x in 8 bits, with a scale and a zero point that fit its least and its greatest element",
                .inputs = {{"x", kFloat}},
                .outputs = {{"y", kByte}, {"scale", kFloat}, {"zero_point", kByte}},
                .numeric = NumericClass::OneRounding,
                .inferShapes = shapeRule,
                .decompose = decompose,
                .oracle = reference});
  registry.add({.type = "QuantizationRange",
                .summary = "the scale and the zero point by which 8 bits hold a range of numbers, and 0",
                .inputs = {{"least", kFloat}, {"greatest", kFloat}},
                .outputs = {{"scale", kFloat}, {"zero_point", kByte}},
                .numeric = NumericClass::OneRounding,
                .inferShapes = rangeRule,
                .oracle = rangeReference});
}

}  // namespace opkit::ops::dynamic_quantize
