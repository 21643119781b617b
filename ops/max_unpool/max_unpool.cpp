// MaxUnpool as parts: zeros, into which the elements are scattered as into a vector.
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

/// The listed extents: the indices count in a tensor of this shape. Pooling may leave elements at the end unread, or
/// read beyond it, so spatial extents are free.
Result<Shape> listedShape(const ShapeArgs& args) {
  OPKIT_TRY(requireList(args, 2, "output_shape"));
  const Shape &x = args.shape(0), wanted = args.integers(2);
  if (wanted.size() != x.size() || wanted[0] != x[0] || wanted[1] != x[1])
    return Status::invalidArgument("output_shape must be [{}, {}, ...] of rank {}, got {}", x[0], x[1], x.size(),
                                   toString(wanted));
  OPKIT_TRY(checkShape(wanted));
  return wanted;
}

/// The listed extents, or those that were pooled if windows covered them wholly.
Result<Shape> outputShape(const ShapeArgs& args) {
  const auto params = args.params<MaxUnpoolParams>();
  Shape shape = args.shape(0);
  if (shape.size() < 3)
    return Status::invalidArgument("the input must be [batch, channels, ...], got {}", toString(shape));
  const size_t axes = shape.size() - 2;
  if (params.kernel_shape.empty()) return Status::invalidArgument("kernel_shape must have {} values, got 0", axes);
  OPKIT_ASSIGN(const auto kernel, valuesOf("kernel_shape", params.kernel_shape, axes, 1, 1));
  OPKIT_ASSIGN(const auto strides, valuesOf("strides", params.strides, axes, 1, 1));
  OPKIT_ASSIGN(const auto pads, valuesOf("pads", params.pads, 2 * axes, 0, 0));
  if (args.hasInput(2)) return listedShape(args);
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
  OPKIT_ASSIGN(Shape shape, outputShape(args));
  if (args.shape(1) != args.shape(0))
    return Status::invalidArgument("indices must be {} like the input, got {}", toString(args.shape(0)),
                                   toString(args.shape(1)));
  return std::vector{TensorDesc{args.input(0).dtype, std::move(shape)}};
}

Result<Value> reshaped(Decomposition& parts, Value x, const Shape& shape) {
  reshape::ReshapeParamsT exact;
  exact.allow_zero = true;
  OPKIT_ASSIGN(const Value list, listOf(parts, shape));
  return parts.add("Reshape", {x, list}, packParams(exact));
}

Status decompose(const ShapeArgs& args, std::span<const TensorDesc> outputs, Decomposition& parts) {
  const Shape& shape = outputs[0].shape;
  OPKIT_ASSIGN(Tensor zero, Tensor::onHost({args.input(0).dtype, {1}}));
  if (args.input(0).elements() == 0) {  // nothing to scatter
    OPKIT_ASSIGN(const Value extents, listOf(parts, shape));
    parts.setOutput(0, parts.add("Expand", {parts.constant(std::move(zero)), extents}));
    return Status::ok();
  }
  OPKIT_ASSIGN(const Value length, listOf(parts, {elementCount(shape)}));
  OPKIT_ASSIGN(const Value x, reshaped(parts, parts.input(0), {args.input(0).elements()}));
  OPKIT_ASSIGN(const Value indices, reshaped(parts, parts.input(1), {args.input(1).elements()}));
  const Value zeros = parts.add("Expand", {parts.constant(std::move(zero)), length});
  OPKIT_ASSIGN(const Value y, reshaped(parts, parts.add("ScatterElements", {zeros, indices, x}), shape));
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
