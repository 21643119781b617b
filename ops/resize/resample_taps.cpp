// The table of Resample: the input positions that each output position reads, and their weights.
#include <algorithm>
#include <cmath>

#include "ops/resize/resample_plan.h"

namespace opkit::ops::resize {
namespace {

/// One axis of the parameters.
struct Axis {
  double shift, multiplier, divisor, offset, origin, stretch;
  Rounding rounding;
  int64_t inputs, outputs;

  /// Each step in Real: Nearest takes float, as ONNX Runtime does. Output 1 of a scale of 1/3 lies at 3 there, and at
  /// 2.9999999 in double.
  template <class Real>
  double position(int64_t o) const {
    const auto in = [](double value) { return static_cast<Real>(value); };
    const Real scaled = (static_cast<Real>(o) + in(shift)) * in(multiplier) / in(divisor);
    return static_cast<double>(scaled + in(offset)-in(origin));
  }
  double last() const { return static_cast<double>(inputs - 1); }
};

/// The taps of one output while they are collected, by ascending position.
class Collector {
 public:
  Collector(int64_t extent, bool excludesOutside) : extent_(extent), excludesOutside_(excludesOutside) {}

  void add(int64_t at, double weight) {
    if (excludesOutside_ && (at < 0 || at >= extent_)) return;
    at = std::clamp<int64_t>(at, 0, extent_ - 1);
    if (!taps_.empty() && taps_.back().at == at)
      taps_.back().weight += weight;
    else
      taps_.push_back({at, weight});
  }
  /// Without taps of weight 0. `scaled` makes the sum of the weights 1.
  std::vector<Tap> take(bool scaled) {
    std::erase_if(taps_, [](const Tap& tap) { return tap.weight == 0; });
    double sum = 0;
    for (const Tap& tap : taps_) sum += tap.weight;
    if (scaled && sum != 0)
      for (Tap& tap : taps_) tap.weight /= sum;
    return std::move(taps_);
  }

 private:
  int64_t extent_;
  bool excludesOutside_;
  std::vector<Tap> taps_;
};

int64_t rounded(double position, Rounding rounding) {
  switch (rounding) {
    case Rounding::Floor: return static_cast<int64_t>(std::floor(position));
    case Rounding::Ceil: return static_cast<int64_t>(std::ceil(position));
    case Rounding::HalfDown: return static_cast<int64_t>(std::ceil(position - 0.5));
    case Rounding::HalfUp: return static_cast<int64_t>(std::floor(position + 0.5));
  }
  return 0;
}

double triangle(double distance) { return std::max(0.0, 1 - std::fabs(distance)); }

/// Cubic convolution (Keys, 1981, equation 4). As products of its zeros: sums of powers would cancel.
double cubic(double distance, double a) {
  const double x = std::fabs(distance);
  if (x < 1) return (1 - x) * (1 + x - (a + 2) * x * x);
  return x < 2 ? a * (x - 1) * (2 - x) * (2 - x) : 0;
}

std::vector<Tap> tapsAt(const ResampleParamsT& params, const Axis& axis, double position) {
  if (params.extrapolate && !(position >= 0 && position <= axis.last())) return {{kOutside, 0}};
  // Beyond the reach of every filter all positions are alike.
  const double reach = 2 * axis.stretch + 2;
  position = std::clamp(position, -reach, axis.last() + reach);
  if (params.mode == ResampleMode::Nearest)
    return {{std::clamp<int64_t>(rounded(position, axis.rounding), 0, axis.inputs - 1), 1}};
  const bool isCubic = params.mode == ResampleMode::Cubic;
  Collector collector(axis.inputs, params.exclude_outside);
  const double width = (isCubic ? 2 : 1) * axis.stretch;
  for (auto at = static_cast<int64_t>(std::ceil(position - width)); static_cast<double>(at) <= position + width; ++at) {
    const double distance = (static_cast<double>(at) - position) / axis.stretch;
    collector.add(at, isCubic ? cubic(distance, static_cast<double>(params.cubic_coeff_a)) : triangle(distance));
  }
  std::vector<Tap> taps = collector.take(params.exclude_outside || axis.stretch > 1);
  if (taps.empty()) taps.push_back({std::clamp<int64_t>(rounded(position, Rounding::HalfDown), 0, axis.inputs - 1), 1});
  return taps;
}

/// An output with fewer taps reads its last one several times, with equal shares of its weight: a tap of weight 0 would
/// turn infinity into NaN.
void appendTo(std::vector<Tap>& list, const std::vector<Tap>& taps, int64_t count) {
  const auto copies = count - static_cast<int64_t>(taps.size()) + 1;
  list.insert(list.end(), taps.begin(), taps.end() - 1);
  const Tap last{taps.back().at, taps.back().weight / static_cast<double>(copies)};
  list.insert(list.end(), static_cast<size_t>(copies), last);
}

Taps tapsOf(const ResampleParamsT& params, const Axis& axis) {
  Taps table{.inputs = axis.inputs, .outputs = axis.outputs, .count = 1, .list = {}};
  std::vector<std::vector<Tap>> all;
  for (int64_t o = 0; o < axis.outputs; ++o) {
    const bool isNearest = params.mode == ResampleMode::Nearest;
    all.push_back(tapsAt(params, axis, isNearest ? axis.position<float>(o) : axis.position<double>(o)));
    table.count = std::max(table.count, static_cast<int64_t>(all.back().size()));
  }
  for (const std::vector<Tap>& taps : all) appendTo(table.list, taps, table.count);
  return table;
}

Taps identity(int64_t extent) {
  Taps table{.inputs = extent, .outputs = extent, .count = 1, .list = {}};
  for (int64_t o = 0; o < extent; ++o) table.list.push_back({o, 1});
  return table;
}

}  // namespace

bool isIdentity(const Taps& axis) {
  if (axis.inputs != axis.outputs || axis.count != 1) return false;
  for (int64_t o = 0; o < axis.outputs; ++o)
    if (axis.of(o)[0].at != o || axis.of(o)[0].weight != 1) return false;
  return true;
}

int64_t ResamplePlan::outputs() const {
  int64_t count = outer * inner;
  for (const Taps& axis : axes) count *= axis.outputs;
  return count;
}

ResamplePlan planResample(const ResampleParamsT& params, const Shape& input) {
  std::vector<Taps> tables(input.size());
  std::vector<bool> changed(input.size(), false);
  for (size_t k = 0; k < params.axes.size(); ++k) {
    const auto d = static_cast<size_t>(*normalizeAxis(params.axes[k], input.size()));
    tables[d] =
        tapsOf(params, {params.shifts[k], params.multipliers[k], params.divisors[k], params.offsets[k],
                        params.origins[k], params.stretches[k], params.roundings[k], input[d], params.outputs[k]});
    changed[d] = !isIdentity(tables[d]);
  }
  ResamplePlan plan;
  int64_t kept = 1;  // elements of the axes that stay, since the last that changes
  for (size_t d = 0; d < input.size(); ++d) {
    if (!changed[d]) {
      kept *= input[d];
      continue;
    }
    if (plan.axes.empty())
      plan.outer = kept;
    else if (kept != 1)
      plan.axes.push_back(identity(kept));
    plan.axes.push_back(std::move(tables[d]));
    kept = 1;
  }
  plan.inner = kept;
  return plan;
}

}  // namespace opkit::ops::resize
