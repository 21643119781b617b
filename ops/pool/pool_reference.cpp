#include <cmath>
#include <limits>

#include "ops/pool/pool.h"

namespace opkit::ops::pool {
namespace {

// ONNX storage_order 1: the offset within a plane with the last axis slowest.
int64_t columnMajor(const WindowWalk& walk, int64_t offset) {
  const int64_t height = walk.axes[1].input, width = walk.axes[2].input;
  const int64_t w = offset % width, h = offset / width % height, d = offset / width / height;
  return (w * height + h) * walk.axes[0].input + d;
}

Status maxOver(const OracleArgs& args, const PoolPlan& plan, bool columnMajorIndices) {
  const WindowWalk walk{padWindowRank(plan.axes, 3)};
  std::vector<int64_t>* indices = args.outputs.size() > 1 ? &args.output(1).integer : nullptr;
  visitElements(args.input(0), args.output(), [&](const auto& x, auto& y) {
    using T = std::remove_cvref_t<decltype(y[0])>;
    constexpr T kLowest = std::is_floating_point_v<T> ? static_cast<T>(-INFINITY) : std::numeric_limits<T>::min();
    walk.forEachOutput(0, plan.planes, [&](size_t output, int64_t plane, int64_t d, int64_t h, int64_t w) {
      T best = kLowest;
      int64_t bestOffset = -1;
      walk.forEachTap(d, h, w, [&](int64_t offset) {
        const T value = x[static_cast<size_t>(plane + offset)];
        if (bestOffset >= 0 && !(value > best) && value == value) return;  // the first of equals; NaN wins
        if (best != best) return;
        best = value;
        bestOffset = offset;
      });
      y[output] = best;
      if (indices && bestOffset >= 0)
        (*indices)[output] = plane + (columnMajorIndices ? columnMajor(walk, bestOffset) : bestOffset);
    });
  });
  return Status::ok();
}

Status averageOver(const OracleArgs& args, const PoolPlan& plan, bool countPadding) {
  const WindowWalk walk{padWindowRank(plan.axes, 3)};
  const std::vector<double>& x = args.input(0).real;
  OracleTensor& y = args.output();
  if (args.wantMagnitude) y.magnitude.assign(y.real.size(), 0.0);
  y.terms = 1;
  for (const WindowAxis& axis : walk.axes) y.terms *= axis.kernel;
  walk.forEachOutput(0, plan.planes, [&](size_t output, int64_t plane, int64_t d, int64_t h, int64_t w) {
    double sum = 0, magnitude = 0;
    walk.forEachTap(d, h, w, [&](int64_t offset) {
      const double value = x[static_cast<size_t>(plane + offset)];
      sum += value;
      magnitude += std::fabs(value);
    });
    const auto divisor = static_cast<double>(meanDivisor(walk, d, h, w, countPadding));
    y.real[output] = sum / divisor;
    if (args.wantMagnitude) y.magnitude[output] = magnitude / divisor;
  });
  return Status::ok();
}

}  // namespace

Status maxPoolReference(const OracleArgs& args) {
  const auto params = args.params<PoolParams>();
  OPKIT_ASSIGN(const PoolPlan plan, planPool(params, args.input(0).shape()));
  return maxOver(args, plan, params.column_major);
}

Status averagePoolReference(const OracleArgs& args) {
  const auto params = args.params<PoolParams>();
  OPKIT_ASSIGN(const PoolPlan plan, planPool(params, args.input(0).shape()));
  return averageOver(args, plan, params.count_include_pad);
}

Status globalMaxPoolReference(const OracleArgs& args) {
  OPKIT_ASSIGN(const PoolPlan plan, planGlobalPool(args.input(0).shape()));
  return maxOver(args, plan, false);
}

Status globalAveragePoolReference(const OracleArgs& args) {
  OPKIT_ASSIGN(const PoolPlan plan, planGlobalPool(args.input(0).shape()));
  return averageOver(args, plan, false);
}

}  // namespace opkit::ops::pool
