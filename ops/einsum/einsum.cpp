#include "ops/einsum/einsum.h"

#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"
#include "ops/parts.h"

namespace opkit::ops::einsum {
namespace {

Result<Equation> equationOf(const ShapeArgs& args) {
  std::vector<Shape> shapes;
  for (size_t i = 0; i < args.inputs.size(); ++i) shapes.push_back(args.shape(i));
  return readEquation(args.params<EinsumParams>().equation, shapes);
}

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  for (size_t i = 1; i < args.inputs.size(); ++i) OPKIT_TRY(requireSameType(args, i, fmt::format("input {}", i), 0));
  OPKIT_ASSIGN(const Equation equation, equationOf(args));
  return std::vector{TensorDesc{args.input(0).dtype, equation.shapeOf(equation.output)}};
}

/// Multiplications and additions of the plainest walk, over all labels at once.
double flops(const ShapeArgs& args, std::span<const TensorDesc>) {
  const Result<Equation> equation = equationOf(args);
  double points = 1;
  if (equation)
    for (const auto& [label, extent] : equation->extents) points *= static_cast<double>(extent);
  return points * static_cast<double>(args.inputs.size());
}

Status decompose(const ShapeArgs& args, std::span<const TensorDesc> outputs, Decomposition& parts) {
  OPKIT_ASSIGN(const Equation equation, equationOf(args));
  for (const auto& [label, extent] : equation.extents) {
    if (extent != 0) continue;
    OPKIT_ASSIGN(Tensor zeros, Tensor::onHost(outputs[0]));  // a sum of nothing
    std::ranges::fill(zeros.bytes(), std::byte{0});
    parts.setOutput(0, parts.add("Identity", {parts.constant(std::move(zeros))}));
    return Status::ok();
  }
  return contract(equation, args, parts);
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add({.type = "Einsum",
                .summary = "sums of products of elements whose axes an equation names",
                .params = paramsSchema<EinsumParams>(kEinsumSchema),
                .inputs = {{"x", kNumbers, Port::Kind::Variadic}},
                .outputs = {{"y", kNumbers}},
                .numeric = NumericClass::Products,
                .inferShapes = shapeRule,
                .decompose = decompose,
                .flops = flops,
                .oracle = reference});
}

}  // namespace opkit::ops::einsum
