#include "ops/layer_norm/layer_norm.h"

#include <algorithm>

#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"
#include "ops/layer_norm/instance_norm_schema.h"
#include "ops/layer_norm/layer_norm_schema.h"
#include "ops/parts.h"

namespace opkit::ops::layer_norm {
namespace {

using Value = Decomposition::Value;

Status checkAffine(const ShapeArgs& args, const Shape& expected) {
  OPKIT_TRY(requireParameter(args, 1, "scale", expected));
  return requireParameter(args, 2, "bias", expected);
}

/// Scale and bias, if given, broadcast to x.
Status checkBroadcast(const ShapeArgs& args, size_t i, std::string_view name) {
  OPKIT_TRY(requireSameType(args, i, name, 0));
  return args.hasInput(i) ? requireBroadcast(args.shape(i), args.shape(0), name) : Status::ok();
}

Result<std::vector<TensorDesc>> layerShapeRule(const ShapeArgs& args) {
  const Shape& x = args.shape(0);
  OPKIT_ASSIGN(const int axis, normalizeAxis(args.params<LayerNormParams>().axis, x.size()));
  OPKIT_TRY(checkBroadcast(args, 1, "scale"));
  OPKIT_TRY(checkBroadcast(args, 2, "bias"));
  Shape statistics(x.begin(), x.begin() + axis);
  statistics.resize(x.size(), 1);
  // Statistics are kept in at least f32 (ONNX stash_type 1).
  const DType dtype = args.input(0).dtype == DType::Float64 ? DType::Float64 : DType::Float32;
  return std::vector{args.input(0), TensorDesc{dtype, statistics}, TensorDesc{dtype, statistics}};
}

Result<std::vector<TensorDesc>> instanceShapeRule(const ShapeArgs& args) {
  const Shape& x = args.shape(0);
  if (x.size() < 2) return Status::invalidArgument("the input must have rank 2 or more, got {}", toString(x));
  const int64_t groups = args.params<InstanceNormParams>().groups;
  if (groups != 0) OPKIT_TRY(checkGroups(x, groups, "groups"));
  OPKIT_TRY(checkAffine(args, {x[1]}));
  return std::vector{args.input(0)};
}

Result<Value> onesLike(Decomposition& parts, const TensorDesc& desc) {
  OPKIT_ASSIGN(Tensor ones, Tensor::onHost(desc));
  OracleTensor values(desc);
  std::ranges::fill(values.real, 1.0);
  values.toTensor(ones);
  return parts.constant(std::move(ones));
}

/// `parameter`, of shape `given`, as one value per position of a row.
Result<Value> perPosition(Decomposition& parts, Value parameter, Shape given, const Shape& row) {
  if (given.size() > row.size()) {
    given.erase(given.begin(), given.end() - static_cast<ptrdiff_t>(row.size()));
    OPKIT_ASSIGN(parameter, reshaped(parts, parameter, given));
  }
  if (given == row) return parameter;
  OPKIT_ASSIGN(const Value shape, listOf(parts, row));
  return parts.add("Expand", {parameter, shape});
}

/// Whether every row has the same parameters: along the axes before a row, the extents are 1.
bool isSameInRows(const Shape& parameter, size_t rowRank) {
  const size_t before = parameter.size() - std::min(parameter.size(), rowRank);
  return elementCount(parameter, 0, before) == 1;
}

/// Kernels take a scale and a bias of the shape of a row. What repeats within rows is expanded to it; what differs
/// between rows is applied to the rows that a norm without parameters made, of halves in f32, so that one rounding is
/// left.
Status layerToKernelForm(const ShapeArgs& args, std::span<const TensorDesc> outputs, Decomposition& parts) {
  const auto params = args.params<LayerNormParams>();
  const Shape& x = args.shape(0);
  const Shape row(x.begin() + *normalizeAxis(params.axis, x.size()), x.end());
  const bool hasBias = args.hasInput(2);
  if (args.shape(1) == row && (!hasBias || args.shape(2) == row)) return Status::ok();
  const bool scalesRows = isSameInRows(args.shape(1), row.size());
  const bool shiftsRows = scalesRows && hasBias && isSameInRows(args.shape(2), row.size());
  const bool isDone = scalesRows && (shiftsRows || !hasBias);
  const DType given = args.input(0).dtype, dtype = isDone ? given : widened(given);
  const auto inputAs = [&](size_t i) { return castTo(parts, parts.input(i), given, dtype); };
  std::vector<Value> inputs{inputAs(0)};
  OPKIT_ASSIGN(inputs.emplace_back(),
               scalesRows ? perPosition(parts, inputAs(1), args.shape(1), row) : onesLike(parts, {dtype, row}));
  if (shiftsRows) {
    OPKIT_ASSIGN(inputs.emplace_back(), perPosition(parts, inputAs(2), args.shape(2), row));
  }
  const std::vector<Value> made =
      parts.add("LayerNormalization", std::move(inputs), packParams(params), outputs.size());
  for (size_t i = 0; i < made.size(); ++i) parts.setOutput(i, made[i]);
  Value y = made[0];
  if (!scalesRows) y = parts.add("Mul", {y, inputAs(1)});
  if (hasBias && !shiftsRows) y = parts.add("Add", {y, inputAs(2)});
  parts.setOutput(0, castTo(parts, y, dtype, given));
  return Status::ok();
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
       .toKernelForm = layerToKernelForm,
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
