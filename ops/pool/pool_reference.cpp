#include <cmath>
#include <limits>

#include "ops/pool/pool.h"

namespace opkit::ops::pool {
namespace {

// The axes of a window in three dimensions, and the arithmetic of its elements.
struct Walk {
  std::vector<WindowAxis> axes;

  int64_t inputSize() const { return axes[0].input * axes[1].input * axes[2].input; }

  /// Calls visit(input offset within the plane) for each tap of output (d, h, w) that reads the input.
  template <class Visit>
  void forEachTap(int64_t d, int64_t h, int64_t w, Visit&& visit) const {
    const TapRange deep = axes[0].tapsInside(d), high = axes[1].tapsInside(h), wide = axes[2].tapsInside(w);
    for (int64_t i = deep.begin; i < deep.end; ++i)
      for (int64_t j = high.begin; j < high.end; ++j)
        for (int64_t k = wide.begin; k < wide.end; ++k)
          visit((axes[0].position(d, i) * axes[1].input + axes[1].position(h, j)) * axes[2].input +
                axes[2].position(w, k));
  }

  /// Calls visit(output index, plane offset in the input, d, h, w) for every output.
  template <class Visit>
  void forEachOutput(int64_t planes, Visit&& visit) const {
    size_t output = 0;
    for (int64_t plane = 0; plane < planes; ++plane)
      for (int64_t d = 0; d < axes[0].output; ++d)
        for (int64_t h = 0; h < axes[1].output; ++h)
          for (int64_t w = 0; w < axes[2].output; ++w) visit(output++, plane * inputSize(), d, h, w);
  }
};

// ONNX storage_order 1: the offset within a plane with the last axis slowest.
int64_t columnMajor(const Walk& walk, int64_t offset) {
  const int64_t height = walk.axes[1].input, width = walk.axes[2].input;
  const int64_t w = offset % width, h = offset / width % height, d = offset / width / height;
  return (w * height + h) * walk.axes[0].input + d;
}

Status maxOver(const OracleArgs& args, const PoolPlan& plan, bool columnMajorIndices) {
  const Walk walk{padWindowRank(plan.axes, 3)};
  std::vector<int64_t>* indices = args.outputs.size() > 1 ? &args.output(1).integer : nullptr;
  visitElements(args.input(0), args.output(), [&](const auto& x, auto& y) {
    using T = std::remove_cvref_t<decltype(y[0])>;
    constexpr T kLowest = std::is_floating_point_v<T> ? static_cast<T>(-INFINITY) : std::numeric_limits<T>::min();
    walk.forEachOutput(plan.planes, [&](size_t output, int64_t plane, int64_t d, int64_t h, int64_t w) {
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
  const Walk walk{padWindowRank(plan.axes, 3)};
  const std::vector<double>& x = args.input(0).real;
  OracleTensor& y = args.output();
  if (args.wantMagnitude) y.magnitude.assign(y.real.size(), 0.0);
  y.terms = 1;
  for (const WindowAxis& axis : walk.axes) y.terms *= axis.kernel;
  walk.forEachOutput(plan.planes, [&](size_t output, int64_t plane, int64_t d, int64_t h, int64_t w) {
    double sum = 0, magnitude = 0;
    int64_t count = 0;
    walk.forEachTap(d, h, w, [&](int64_t offset) {
      const double value = x[static_cast<size_t>(plane + offset)];
      sum += value;
      magnitude += std::fabs(value);
      ++count;
    });
    if (countPadding)
      count =
          walk.axes[0].tapsPadded(d).count() * walk.axes[1].tapsPadded(h).count() * walk.axes[2].tapsPadded(w).count();
    const auto divisor = static_cast<double>(std::max<int64_t>(count, 1));  // a window of padding alone gives 0
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
