#include "ops/pool/pool.h"

#include <cmath>

#include "engine/op/op_registry.h"
#include "ops/pool/global_lp_pool_schema.h"
#include "ops/pool/pool_schema.h"

namespace opkit::ops::pool {
namespace {

constexpr size_t kMaxSpatialAxes = 3;
constexpr DTypeSet kMaxPoolTypes = kFloats | DTypeSet{DType::Int8, DType::UInt8};

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  OPKIT_ASSIGN(Shape shape, poolShape(args.params<PoolParams>(), args.shape(0)));
  return std::vector{TensorDesc{args.input(0).dtype, shape}, TensorDesc{DType::Int64, shape}};
}

double flops(const ShapeArgs& args, std::span<const TensorDesc> outputs) {
  const auto params = args.params<PoolParams>();
  return static_cast<double>(outputs[0].elements() * elementCount(params.kernel_shape));
}

double globalFlops(const ShapeArgs& args, std::span<const TensorDesc>) {
  return static_cast<double>(args.input(0).elements());
}

Status checkPads(const WindowAxis& axis) {
  const int64_t extent = axis.dilation * (axis.kernel - 1) + 1;
  if (std::max(axis.padBegin, axis.padEnd) >= extent)
    return Status::invalidArgument("pads must be smaller than the {} elements a kernel covers, got {} and {}", extent,
                                   axis.padBegin, axis.padEnd);
  return Status::ok();
}

}  // namespace

Result<PoolPlan> planPool(const PoolParamsT& params, const Shape& x) {
  if (x.size() < 3 || x.size() > kMaxSpatialAxes + 2)
    return Status::unsupported("the input must have 1 to {} spatial axes, got {}", kMaxSpatialAxes, toString(x));
  WindowSpec spec;
  spec.kernel = params.kernel_shape;
  spec.strides = params.strides;
  spec.pads = params.pads;
  spec.dilations = params.dilations;
  spec.autoPad = static_cast<opkit::AutoPad>(params.auto_pad);
  spec.ceilMode = params.ceil_mode;
  OPKIT_ASSIGN(auto axes, planWindow(spec, Shape(x.begin() + 2, x.end())));
  for (const WindowAxis& axis : axes) OPKIT_TRY(checkPads(axis));
  return PoolPlan{x[0] * x[1], std::move(axes)};
}

Result<PoolPlan> planGlobalPool(const Shape& x) {
  if (x.size() < 2) return Status::invalidArgument("the input must have batch and channel axes, got {}", toString(x));
  const int64_t positions = elementCount(x, 2, x.size());
  if (positions == 0) return Status::invalidArgument("the spatial extents must be positive, got {}", toString(x));
  return PoolPlan{x[0] * x[1], {WindowAxis{positions, 1, positions, 1, 1, 0, 0}}};
}

Result<Shape> poolShape(const PoolParamsT& params, const Shape& x) {
  OPKIT_ASSIGN(const PoolPlan plan, planPool(params, x));
  Shape shape{x[0], x[1]};
  for (const WindowAxis& axis : plan.axes) shape.push_back(axis.output);
  return shape;
}

Result<std::vector<TensorDesc>> globalShapeRule(const ShapeArgs& args) {
  OPKIT_TRY(planGlobalPool(args.shape(0)).error());
  Shape shape(args.shape(0).size(), 1);
  std::copy_n(args.shape(0).begin(), 2, shape.begin());
  return std::vector{TensorDesc{args.input(0).dtype, shape}};
}

void define(OpRegistry& registry) {
  registry.add({.type = "MaxPool",
                .summary = "the largest element of each window, and on request where it was",
                .params = paramsSchema<PoolParams>(kPoolSchema),
                .inputs = {{"x", kMaxPoolTypes}},
                .outputs = {{"y"}, {"indices", kIndexTypes, Port::Kind::Optional}},
                .numeric = NumericClass::Exact,
                .inferShapes = shapeRule,
                .flops = flops,
                .oracle = hiding(maxPoolReference, hidden)});
  registry.add({.type = "AveragePool",
                .summary = "the mean of each window",
                .params = paramsSchema<PoolParams>(kPoolSchema),
                .inputs = {{"x", kFloats}},
                .outputs = {{"y"}},
                .numeric = NumericClass::Sum,
                .inferShapes = shapeRule,
                .flops = flops,
                .oracle = hiding(averagePoolReference, hidden)});
  registry.add({.type = "GlobalMaxPool",
                .summary = "the largest element of each channel",
                .inputs = {{"x", kFloats}},
                .outputs = {{"y"}},
                .numeric = NumericClass::Exact,
                .inferShapes = globalShapeRule,
                .flops = globalFlops,
                .oracle = globalMaxPoolReference});
  registry.add({.type = "GlobalAveragePool",
                .summary = "the mean of each channel",
                .inputs = {{"x", kFloats}},
                .outputs = {{"y"}},
                .numeric = NumericClass::Sum,
                .inferShapes = globalShapeRule,
                .flops = globalFlops,
                .oracle = globalAveragePoolReference});
  registry.add({.type = "LpPool",
                .summary = "the p-norm of each window",
                .params = paramsSchema<PoolParams>(kPoolSchema),
                .inputs = {{"x", kFloats}},
                .outputs = {{"y"}},
                .numeric = NumericClass::Sum,
                .inferShapes = normShapeRule,
                .flops = normFlops,
                .oracle = hiding(lpPoolReference, hidden)});
  registry.add({.type = "GlobalLpPool",
                .summary = "the p-norm of each channel",
                .params = paramsSchema<GlobalLpPoolParams>(kGlobalLpPoolSchema),
                .inputs = {{"x", kFloats}},
                .outputs = {{"y"}},
                .numeric = NumericClass::Sum,
                .inferShapes = globalNormShapeRule,
                .decompose = decomposeGlobalNorm,
                .flops = globalFlops,
                .oracle = globalLpPoolReference});
}

}  // namespace opkit::ops::pool
