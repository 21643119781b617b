// The shape rule of Resample.
#include <cmath>

#include "ops/resize/resize.h"

namespace opkit::ops::resize {
namespace {

constexpr double kFarthest = 0x1p52;  // positions beyond it are not told apart

Status checkLists(const ResampleParamsT& params) {
  const size_t count = params.axes.size();
  const std::pair<const char*, size_t> lists[] = {
      {"outputs", params.outputs.size()},     {"shifts", params.shifts.size()},
      {"divisors", params.divisors.size()},   {"multipliers", params.multipliers.size()},
      {"offsets", params.offsets.size()},     {"origins", params.origins.size()},
      {"stretches", params.stretches.size()}, {"roundings", params.roundings.size()}};
  for (const auto& [name, size] : lists)
    if (size != count) return Status::invalidArgument("{} must list {} values like axes, got {}", name, count, size);
  return Status::ok();
}

bool isUsual(double value) { return std::fabs(value) < kFarthest; }  // false for NaN

Status checkAxis(const ResampleParamsT& params, size_t k, int64_t extent) {
  const double divisor = params.divisors[k], stretch = params.stretches[k];
  if (!(std::fabs(divisor) > 1 / kFarthest && isUsual(divisor)))
    return Status::invalidArgument("divisors must be finite and not 0, got {}", divisor);
  for (const double value : {params.shifts[k], params.multipliers[k], params.offsets[k], params.origins[k]})
    if (!isUsual(value)) return Status::invalidArgument("positions must be below 2^52, got {}", value);
  if (!(stretch >= 1 && stretch <= static_cast<double>(kMaxElements)))
    return Status::invalidArgument("stretches must be in [1, {}], got {}", kMaxElements, stretch);
  if (params.outputs[k] < 0) return Status::invalidArgument("outputs must not be negative, got {}", params.outputs[k]);
  if (extent == 0 && params.outputs[k] > 0)
    return Status::invalidArgument("an axis of extent 0 cannot be resized to {}", params.outputs[k]);
  return Status::ok();
}

Status checkType(ResampleMode mode, DType dtype) {
  const bool sums = isFloat(dtype) || (dtype != DType::Bool && sizeOf(dtype) < sizeof(int64_t));
  if (mode == ResampleMode::Nearest || sums) return Status::ok();
  return Status::unsupported("mode {} takes floats and integers of up to 32 bits, got {}", EnumNameResampleMode(mode),
                             nameOf(dtype));
}

}  // namespace

Result<std::vector<TensorDesc>> resampleRule(const ShapeArgs& args) {
  const auto params = args.params<ResampleParams>();
  OPKIT_TRY(checkLists(params));
  OPKIT_TRY(checkType(params.mode, args.input(0).dtype));
  if (!std::isfinite(params.extrapolation_value) || !std::isfinite(params.cubic_coeff_a))
    return Status::invalidArgument("extrapolation_value and cubic_coeff_a must be finite, got {} and {}",
                                   params.extrapolation_value, params.cubic_coeff_a);
  TensorDesc output = args.input(0);
  std::vector<bool> seen(output.shape.size(), false);
  for (size_t k = 0; k < params.axes.size(); ++k) {
    OPKIT_ASSIGN(const int axis, normalizeAxis(params.axes[k], output.shape.size()));
    const auto d = static_cast<size_t>(axis);
    if (seen[d]) return Status::invalidArgument("axis {} is listed twice", params.axes[k]);
    seen[d] = true;
    OPKIT_TRY(checkAxis(params, k, output.shape[d]));
    output.shape[d] = params.outputs[k];
  }
  return std::vector{output};
}

/// A product and a sum per tap, if each output took its taps one by one.
double resampleFlops(const ShapeArgs& args, std::span<const TensorDesc> outputs) {
  const auto params = args.params<ResampleParams>();
  if (params.mode == ResampleMode::Nearest) return 0;
  double taps = 1;
  for (const double stretch : params.stretches)
    taps *= std::ceil(stretch * (params.mode == ResampleMode::Cubic ? 4 : 2));
  return 2 * taps * static_cast<double>(outputs[0].elements());
}

}  // namespace opkit::ops::resize
