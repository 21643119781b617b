// LpPool, with kernels of its own, and GlobalLpPool, made of reductions.
#include <cmath>

#include "ops/parts.h"
#include "ops/pool/pool.h"

namespace opkit::ops::pool {
namespace {

using Value = Decomposition::Value;

Status checkPower(float p) {
  if (std::isfinite(p) && p > 0) return Status::ok();
  return Status::invalidArgument("p must be above 0 and finite, got {}", p);
}

/// largest * (sum (|x| / largest)^p)^(1 / p): no power overflows. Where the largest is 0 or infinite, it is the norm.
Result<Value> norm(Decomposition& parts, Value x, DType dtype, double p, const std::vector<int64_t>& axes) {
  OPKIT_ASSIGN(const Value zero, scalarOf(parts, dtype, 0));
  OPKIT_ASSIGN(const Value one, scalarOf(parts, dtype, 1));
  OPKIT_ASSIGN(const Value power, scalarOf(parts, dtype, p));
  OPKIT_ASSIGN(const Value root, scalarOf(parts, dtype, 1 / p));
  OPKIT_ASSIGN(const Value infinity, scalarOf(parts, dtype, INFINITY));
  const Value size = parts.add("Abs", {x});
  const Value largest = reduced(parts, "ReduceMax", size, axes, true);
  const Value isNorm = parts.add("Or", {parts.add("Equal", {largest, zero}), parts.add("Equal", {largest, infinity})});
  const Value divisor = parts.add("Where", {isNorm, one, largest});
  const Value powers = parts.add("Pow", {parts.add("Div", {size, divisor}), power});
  const Value roots = parts.add("Pow", {reduced(parts, "ReduceSum", powers, axes, true), root});
  return parts.add("Where", {isNorm, largest, parts.add("Mul", {roots, divisor})});
}

}  // namespace

Result<std::vector<TensorDesc>> normShapeRule(const ShapeArgs& args) {
  const auto params = args.params<PoolParams>();
  OPKIT_TRY(checkPower(params.p));
  OPKIT_ASSIGN(Shape shape, poolShape(params, args.shape(0)));
  return std::vector{TensorDesc{args.input(0).dtype, std::move(shape)}};
}

Result<std::vector<TensorDesc>> globalNormShapeRule(const ShapeArgs& args) {
  OPKIT_TRY(checkPower(args.params<GlobalLpPoolParams>().p));
  return globalShapeRule(args);
}

double normFlops(const ShapeArgs& args, std::span<const TensorDesc> outputs) {
  const auto params = args.params<PoolParams>();
  return 2.0 * static_cast<double>(outputs[0].elements() * elementCount(params.kernel_shape));
}

Status decomposeGlobalNorm(const ShapeArgs& args, std::span<const TensorDesc>, Decomposition& parts) {
  const float p = args.params<GlobalLpPoolParams>().p;
  std::vector<int64_t> axes;
  for (size_t d = 2; d < args.shape(0).size(); ++d) axes.push_back(static_cast<int64_t>(d));
  const Value x = parts.input(0);
  if (axes.empty()) {
    parts.setOutput(0, parts.add("Abs", {x}));
  } else if (p == 1 || p == 2) {
    parts.setOutput(0, reduced(parts, p == 1 ? "ReduceL1" : "ReduceL2", x, axes, true));
  } else {
    const DType given = args.input(0).dtype, dtype = widened(given);
    OPKIT_ASSIGN(const Value y, norm(parts, castTo(parts, x, given, dtype), dtype, static_cast<double>(p), axes));
    parts.setOutput(0, castTo(parts, y, dtype, given));
  }
  return Status::ok();
}

}  // namespace opkit::ops::pool
