#include <cmath>
#include <limits>

#include "engine/op/oracle_windows.h"
#include "ops/pool/pool.h"

namespace opkit::ops::pool {
namespace {

/// ONNX storage_order 1: the number of an element of a plane whose last axis is the slowest.
int64_t columnMajor(const std::vector<WindowAxis>& axes, size_t element) {
  Shape plane, turned;
  for (const WindowAxis& axis : axes) plane.push_back(axis.input);
  auto rest = static_cast<int64_t>(element);
  Coordinates at;  // last axis first
  for (size_t d = axes.size(); d-- > 0; rest /= plane[d]) {
    at.push_back(rest % plane[d]);
    turned.push_back(plane[d]);
  }
  return static_cast<int64_t>(elementAt(turned, at));
}

/// The value of a window of padding alone: -infinity, or the least integer of the stored type.
template <class T>
T leastOf(DType dtype) {
  T least{};
  visitDType(dtype, [&](auto tag) {
    using Stored = decltype(tag);
    if constexpr (std::is_floating_point_v<T>)
      least = static_cast<T>(-INFINITY);
    else if constexpr (std::is_integral_v<Stored>)
      least = static_cast<T>(std::numeric_limits<Stored>::lowest());
  });
  return least;
}

Status maxOver(const OracleArgs& args, const PoolPlan& plan, bool columnMajorIndices) {
  visitElements(args.input(0), args.output(), [&](const auto& x, auto& y) {
    using T = std::remove_cvref_t<decltype(y[0])>;
    const T least = leastOf<T>(args.output().desc.dtype);
    forEachWindow(plan.planes, plan.axes, [&](size_t i, size_t plane, const OracleWindow& window) {
      y[i] = least;
      if (window.elements.empty()) return;
      // The first NaN, else the first of the largest.
      const auto value = [&](size_t element) { return x[plane + element]; };
      auto best = std::ranges::find_if(window.elements, [&](size_t e) { return value(e) != value(e); });
      if (best == window.elements.end()) best = std::ranges::max_element(window.elements, {}, value);
      y[i] = value(*best);
      if (args.outputs.size() > 1)
        args.output(1).integer[i] = static_cast<int64_t>(plane) +
                                    (columnMajorIndices ? columnMajor(plan.axes, *best) : static_cast<int64_t>(*best));
    });
  });
  return Status::ok();
}

Status averageOver(const OracleArgs& args, const PoolPlan& plan, bool countPadding) {
  const std::vector<double>& x = args.input(0).real;
  OracleTensor& y = args.output();
  if (args.wantMagnitude) y.magnitude.assign(y.real.size(), 0.0);
  y.terms = 1;
  for (const WindowAxis& axis : plan.axes) y.terms *= axis.kernel;
  forEachWindow(plan.planes, plan.axes, [&](size_t i, size_t plane, const OracleWindow& window) {
    double sum = 0, magnitude = 0;
    for (const size_t element : window.elements) {
      sum += x[plane + element];
      magnitude += std::fabs(x[plane + element]);
    }
    const auto inside = static_cast<int64_t>(window.elements.size());
    const auto divisor = static_cast<double>(std::max<int64_t>(countPadding ? window.taps : inside, 1));
    y.real[i] = sum / divisor;
    if (args.wantMagnitude) y.magnitude[i] = magnitude / divisor;
  });
  return Status::ok();
}

/// In long double, relative to the largest element: the power of an element may exceed any type where the norm does
/// not.
Status normOver(const OracleArgs& args, const PoolPlan& plan, float power) {
  const std::vector<double>& x = args.input(0).real;
  OracleTensor& y = args.output();
  const bool isRooted = power != 1 && power != 2;  // by a power whose exponent is rounded
  if (args.wantMagnitude) y.magnitude.assign(y.real.size(), 0.0);
  y.terms = 1;
  for (const WindowAxis& axis : plan.axes) y.terms *= axis.kernel;
  forEachWindow(plan.planes, plan.axes, [&](size_t i, size_t plane, const OracleWindow& window) {
    long double largest = 0, sum = 0;
    for (const size_t element : window.elements)
      largest = std::max(largest, std::abs(static_cast<long double>(x[plane + element])));
    const long double unit = largest > 0 && std::isfinite(largest) ? largest : 1;
    for (const size_t element : window.elements)
      sum += powl(std::abs(static_cast<long double>(x[plane + element])) / unit, static_cast<long double>(power));
    y.real[i] = static_cast<double>(unit * powl(sum, 1 / static_cast<long double>(power)));
    if (!args.wantMagnitude) return;
    y.magnitude[i] = y.real[i];
    if (isRooted && y.real[i] > 0) y.magnitude[i] *= 4 + std::fabs(std::log(y.real[i]));
  });
  return Status::ok();
}

}  // namespace

Status lpPoolReference(const OracleArgs& args) {
  const auto params = args.params<PoolParams>();
  OPKIT_ASSIGN(const PoolPlan plan, planPool(params, args.input(0).shape()));
  return normOver(args, plan, params.p);
}

Status globalLpPoolReference(const OracleArgs& args) {
  OPKIT_ASSIGN(const PoolPlan plan, planGlobalPool(args.input(0).shape()));
  return normOver(args, plan, args.params<GlobalLpPoolParams>().p);
}

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
