#include "ops/variadic/variadic.h"
#include "engine/op/op_registry.h"

namespace opkit::ops::variadic {
namespace {

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  TensorDesc output = args.input(0);
  for (size_t i = 1; i < args.inputs.size(); ++i) {
    if (!args.hasInput(i)) return Status::invalidArgument("input {} is absent", i);
    if (args.input(i).dtype != output.dtype)
      return Status::invalidArgument("inputs must be of one type, got {} and {}", nameOf(output.dtype),
                                     nameOf(args.input(i).dtype));
    OPKIT_ASSIGN(output.shape, broadcastShapes(output.shape, args.shape(i)));
  }
  return std::vector{output};
}

double flops(const ShapeArgs& args, std::span<const TensorDesc> outputs) {
  return static_cast<double>(args.inputs.size()) * static_cast<double>(outputs[0].elements());
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add({.type = "Sum",
                .summary = "the sum of any number of tensors, broadcast",
                .inputs = {{"x", kFloats}, {"more", kFloats, Port::Kind::Variadic}},
                .outputs = {{"y", kFloats}},
                .numeric = NumericClass::Sum,
                .inferShapes = shapeRule,
                .flops = flops,
                .oracle = sumReference});
  registry.add({.type = "Mean",
                .summary = "the mean of any number of tensors, broadcast",
                .inputs = {{"x", kFloats}, {"more", kFloats, Port::Kind::Variadic}},
                .outputs = {{"y", kFloats}},
                .numeric = NumericClass::Sum,
                .inferShapes = shapeRule,
                .flops = flops,
                .oracle = meanReference});
}

}  // namespace opkit::ops::variadic
