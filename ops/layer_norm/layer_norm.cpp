#include "ops/layer_norm/layer_norm.h"

#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"
#include "ops/layer_norm/instance_norm_schema.h"
#include "ops/layer_norm/layer_norm_schema.h"

namespace opkit::ops::layer_norm {
namespace {

Status checkAffine(const ShapeArgs& args, const Shape& expected) {
  OPKIT_TRY(requireParameter(args, 1, "scale", expected));
  return requireParameter(args, 2, "bias", expected);
}

Result<std::vector<TensorDesc>> layerShapeRule(const ShapeArgs& args) {
  const Shape& x = args.shape(0);
  OPKIT_ASSIGN(const int axis, normalizeAxis(args.params<LayerNormParams>().axis, x.size()));
  OPKIT_TRY(checkAffine(args, Shape(x.begin() + axis, x.end())));
  Shape statistics(x.begin(), x.begin() + axis);
  statistics.resize(x.size(), 1);
  // Statistics are kept in at least f32 (ONNX stash_type 1).
  const DType dtype = args.input(0).dtype == DType::Float64 ? DType::Float64 : DType::Float32;
  return std::vector{args.input(0), TensorDesc{dtype, statistics}, TensorDesc{dtype, statistics}};
}

Result<std::vector<TensorDesc>> instanceShapeRule(const ShapeArgs& args) {
  const Shape& x = args.shape(0);
  if (x.size() < 3) return Status::invalidArgument("the input must have rank 3 or more, got {}", toString(x));
  const int64_t groups = args.params<InstanceNormParams>().groups;
  if (groups != 0) OPKIT_TRY(checkGroups(x, groups, "groups"));
  OPKIT_TRY(checkAffine(args, {x[1]}));
  return std::vector{args.input(0)};
}

double flops(const ShapeArgs& args, std::span<const TensorDesc>) { return 7.0 * args.input(0).elements(); }

}  // namespace

NormRows layerRows(const LayerNormParamsT& params, const Shape& x) {
  const auto axis = static_cast<size_t>(*normalizeAxis(params.axis, x.size()));
  return {elementCount(x, 0, axis), elementCount(x, axis, x.size()), 0, params.epsilon, 1, params.centred};
}

NormRows instanceRows(const InstanceNormParamsT& params, const Shape& x) {
  const int64_t rowChannels = params.groups > 0 ? x[1] / params.groups : 1;
  const int64_t rows = x[0] * (params.groups > 0 ? params.groups : x[1]);
  return {rows, rowChannels * elementCount(x, 2, x.size()), x[1], params.epsilon, rowChannels};
}

void define(OpRegistry& registry) {
  registry.add(
      {.type = "LayerNormalization",
       .summary = "rows brought to mean 0 and variance 1, then scaled and shifted by position",
       .params = paramsSchema<LayerNormParams>(kLayerNormSchema),
       .inputs = {{"x", kFloats}, {"scale", kFloats}, {"bias", kFloats, Port::Kind::Optional}},
       .outputs = {{"y"}, {"mean", kFloats, Port::Kind::Optional}, {"inv_std_dev", kFloats, Port::Kind::Optional}},
       .numeric = NumericClass::Norm,
       .inferShapes = layerShapeRule,
       .flops = flops,
       .oracle = layerNormReference});
  registry.add({.type = "InstanceNormalization",
                .summary = "each channel of each image brought to mean 0 and variance 1, then scaled and shifted",
                .params = paramsSchema<InstanceNormParams>(kInstanceNormSchema),
                .inputs = {{"x", kFloats}, {"scale", kFloats}, {"bias", kFloats}},
                .outputs = {{"y"}},
                .numeric = NumericClass::Norm,
                .inferShapes = instanceShapeRule,
                .flops = flops,
                .oracle = instanceNormReference});
}

}  // namespace opkit::ops::layer_norm
