// HannWindow, HammingWindow and BlackmanWindow: computed at resize, because their length is the value of an input.
#include <cmath>
#include <numbers>

#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"
#include "ops/signal_window/signal_window_oracles.h"
#include "ops/signal_window/signal_window_parts.h"

namespace opkit::ops::signal_window {
namespace {

constexpr DTypeSet kTypes = kNumbers | DTypeSet(DType::BFloat16);

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  const auto params = args.params<WindowParams>();
  if (!isValidDType(params.dtype) || !kTypes.contains(static_cast<DType>(params.dtype)))
    return Status::invalidArgument(
        "dtype must be one of {}, got {}", kTypes.toString(),
        isValidDType(params.dtype) ? nameOf(static_cast<DType>(params.dtype)) : std::to_string(params.dtype));
  OPKIT_TRY(requireScalar(args, 0, "size"));
  const int64_t size = args.integers(0)[0];
  if (size < 0 || size > kMaxElements)
    return Status::invalidArgument("size must be in [0, {}], got {}", kMaxElements, size);
  return std::vector{TensorDesc{static_cast<DType>(params.dtype), {size}}};
}

/// The squared sine of half the angle of each point, counted from the nearer end: nothing cancels, and both sides are
/// alike. A window of one point is its peak.
template <class Window>
Status compute(const OracleArgs& args, const Window& window) {
  OracleTensor& y = args.output();
  const int64_t count = y.elements(), intervals = args.params<WindowParams>().periodic ? count : count - 1;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t fromEnd = std::min(i, intervals - i);
    const double share = intervals == 0 ? 0.5 : static_cast<double>(fromEnd) / static_cast<double>(intervals);
    const double sine = 2 * fromEnd == intervals ? 1 : std::sin(std::numbers::pi * share);
    const double value = window(sine * sine);
    if (y.isReal())
      y.real[static_cast<size_t>(i)] = value;
    else
      y.integer[static_cast<size_t>(i)] = static_cast<int64_t>(value);
  }
  return Status::ok();
}

double hann(double s) { return s; }
double hamming(double s) { return (4 + 42 * s) / 46; }
double blackman(double s) { return s * (0.36 + 0.64 * s); }

OpDef card(const char* type, const char* summary, double (*window)(double), OracleFn oracle) {
  return {.type = type,
          .summary = summary,
          .params = paramsSchema<WindowParams>(kSignalWindowSchema),
          .inputs = {{"size", kIndexTypes, Port::Kind::Required, true}},
          .outputs = {{"y", kTypes}},
          .numeric = NumericClass::Transcendental,
          .inferShapes = shapeRule,
          .oracle = std::move(oracle),
          .fold = [window](const OracleArgs& args) { return compute(args, window); }};
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add(card("HannWindow", "a raised cosine of `size` points", hann, hannReference));
  registry.add(card("HammingWindow", "a raised cosine on a pedestal", hamming, hammingReference));
  registry.add(card("BlackmanWindow", "a window of two cosines", blackman, blackmanReference));
}

}  // namespace opkit::ops::signal_window
