// MaxUnpool as parts: zeros, into which the elements are scattered as into a vector; behind them, zeros up to the
// extents that the output shall have.
#include "engine/op/decomposition.h"
#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"
#include "ops/max_unpool/max_unpool_parts.h"
#include "ops/parts.h"
#include "ops/reshape/reshape_generated.h"

namespace opkit::ops::max_unpool {
namespace {

using Value = Decomposition::Value;

/// `given`, or `fallback` per axis; `name` is for the message.
Result<std::vector<int64_t>> valuesOf(const char* name, std::vector<int64_t> given, size_t count, int64_t fallback,
                                      int64_t least) {
  if (given.empty()) given.assign(count, fallback);
  if (given.size() != count)
    return Status::invalidArgument("{} must have {} values, got {}", name, count, given.size());
  for (const int64_t value : given)
    if (value < least || value > kMaxElements)
      return Status::invalidArgument("{} must be in [{}, {}], got {}", name, least, kMaxElements, value);
  return given;
}

/// The extents that were pooled, if windows covered them wholly. The indices count in a tensor of this shape.
Result<Shape> pooledShape(const ShapeArgs& args) {
  const auto params = args.params<MaxUnpoolParams>();
  Shape shape = args.shape(0);
  if (shape.size() < 3)
    return Status::invalidArgument("the input must be [batch, channels, ...], got {}", toString(shape));
  const size_t axes = shape.size() - 2;
  if (params.kernel_shape.empty()) return Status::invalidArgument("kernel_shape must have {} values, got 0", axes);
  OPKIT_ASSIGN(const auto kernel, valuesOf("kernel_shape", params.kernel_shape, axes, 1, 1));
  OPKIT_ASSIGN(const auto strides, valuesOf("strides", params.strides, axes, 1, 1));
  OPKIT_ASSIGN(const auto pads, valuesOf("pads", params.pads, 2 * axes, 0, 0));
  for (size_t d = 0; d < axes; ++d) {
    int64_t& extent = shape[d + 2];
    extent = extent == 0 ? 0 : (extent - 1) * strides[d] + kernel[d] - pads[d] - pads[d + axes];
    if (extent < 0) return Status::invalidArgument("axis {}: pads leave {} elements", d + 2, extent);
    if (extent > kMaxElements) return Status::invalidArgument("axis {}: {} elements are too many", d + 2, extent);
  }
  OPKIT_TRY(checkShape(shape));
  return shape;
}

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  OPKIT_ASSIGN(Shape shape, pooledShape(args));
  if (args.shape(1) != args.shape(0))
    return Status::invalidArgument("indices must be {} like the input, got {}", toString(args.shape(0)),
                                   toString(args.shape(1)));
  if (args.hasInput(2)) {
    OPKIT_TRY(requireList(args, 2, "output_shape"));
    const Shape wanted = args.integers(2);
    bool fits = wanted.size() == shape.size() && wanted[0] == shape[0] && wanted[1] == shape[1];
    for (size_t d = 2; fits && d < shape.size(); ++d) fits = wanted[d] >= shape[d];
    if (!fits)
      return Status::invalidArgument("output_shape must be at least {} with its batch and channels, got {}",
                                     toString(shape), toString(wanted));
    OPKIT_TRY(checkShape(wanted));
    shape = wanted;
  }
  return std::vector{TensorDesc{args.input(0).dtype, std::move(shape)}};
}

Result<Value> reshaped(Decomposition& parts, Value x, const Shape& shape) {
  reshape::ReshapeParamsT exact;
  exact.allow_zero = true;
  OPKIT_ASSIGN(const Value list, listOf(parts, shape));
  return parts.add("Reshape", {x, list}, packParams(exact));
}

Status decompose(const ShapeArgs& args, std::span<const TensorDesc> outputs, Decomposition& parts) {
  OPKIT_ASSIGN(const Shape shape, pooledShape(args));
  const Shape& whole = outputs[0].shape;
  OPKIT_ASSIGN(Tensor zero, Tensor::onHost({args.input(0).dtype, {1}}));
  if (elementCount(shape) == 0) {  // nothing to scatter
    OPKIT_ASSIGN(const Value extents, listOf(parts, whole));
    parts.setOutput(0, parts.add("Expand", {parts.constant(std::move(zero)), extents}));
    return Status::ok();
  }
  OPKIT_ASSIGN(const Value length, listOf(parts, {elementCount(shape)}));
  OPKIT_ASSIGN(const Value x, reshaped(parts, parts.input(0), {args.input(0).elements()}));
  OPKIT_ASSIGN(const Value indices, reshaped(parts, parts.input(1), {args.input(1).elements()}));
  const Value zeros = parts.add("Expand", {parts.constant(std::move(zero)), length});
  OPKIT_ASSIGN(Value y, reshaped(parts, parts.add("ScatterElements", {zeros, indices, x}), shape));
  if (shape != whole) {
    std::vector<int64_t> pads(shape.size());
    for (size_t d = 0; d < shape.size(); ++d) pads.push_back(whole[d] - shape[d]);
    OPKIT_ASSIGN(const Value list, listOf(parts, pads));
    y = parts.add("Pad", {y, list});
  }
  parts.setOutput(0, y);
  return Status::ok();
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add({.type = "MaxUnpool",
                .summary = "zeros, and each pooled element where MaxPool's indices say it was",
                .params = paramsSchema<MaxUnpoolParams>(kMaxUnpoolSchema),
                .inputs = {{"x", kFloats},
                           {"indices", DTypeSet{DType::Int64}},
                           {"output_shape", DTypeSet{DType::Int64}, Port::Kind::Optional, true}},
                .outputs = {{"y"}},
                .inferShapes = shapeRule,
                .decompose = decompose,
                .flops = [](const ShapeArgs& args, auto) { return static_cast<double>(args.input(0).elements()); },
                .oracle = reference});
}

}  // namespace opkit::ops::max_unpool
