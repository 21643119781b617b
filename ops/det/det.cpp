#include "engine/op/op_registry.h"
#include "ops/det/det_parts.h"

namespace opkit::ops::det {
namespace {

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  const Shape& x = args.shape(0);
  if (x.size() < 2 || x[x.size() - 2] != x.back())
    return Status::invalidArgument("the input must be [..., n, n], got {}", toString(x));
  return std::vector{TensorDesc{args.input(0).dtype, Shape(x.begin(), x.end() - 2)}};
}

double flops(const ShapeArgs& args, std::span<const TensorDesc> outputs) {
  const auto n = static_cast<double>(args.shape(0).back());
  return 2.0 / 3.0 * n * n * n * static_cast<double>(outputs[0].elements());
}

}  // namespace

/// Class Norm: its bound has the form that elimination needs (det_reference.cpp).
void define(OpRegistry& registry) {
  registry.add({.type = "Det",
                .summary = "determinants of square matrices",
                .inputs = {{"x", kFloats}},
                .outputs = {{"y", kFloats}},
                .numeric = NumericClass::Norm,
                .inferShapes = shapeRule,
                .flops = flops,
                .oracle = reference});
}

}  // namespace opkit::ops::det
