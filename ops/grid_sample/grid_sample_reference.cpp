#include <cmath>

#include "engine/op/oracle_elements.h"
#include "ops/grid_sample/grid_sample.h"

namespace opkit::ops::grid_sample {
namespace {

/// Input element along an axis and its weight; none where the element counts as 0.
using Share = std::pair<int64_t, double>;

/// Mirrored at both borders until it lies between them.
template <class P>
P mirrored(P at, P low, P high) {
  const P range = high - low;
  if (range <= 0) return low;
  const bool below = at < low;
  if (!below && at <= high) return at;
  const P away = below ? low - at : at - high;
  const P times = std::floor(away / range), rest = away - times * range;
  const bool returns = std::fmod(times, P{2}) == 1;
  return below != returns ? low + rest : high - rest;
}

/// The place along an axis in elements. It is defined in the precision of the grid, so that nearest elements and
/// weights do not depend on roundings.
template <class P>
P placeOf(const GridSampleParamsT& params, P coordinate, int64_t extent) {
  const P count = static_cast<P>(extent), low = params.align_corners ? P{0} : P{-0.5}, last = count - 1;
  const P high = params.align_corners ? last : count - P{0.5};
  P at = 0;
  if (params.align_corners) {
    at = (coordinate + 1) / 2 * last;
  } else {
    const P doubled = (coordinate + 1) * count;
    at = (doubled - 1) / 2;
  }
  if (params.mode == GridMode::Nearest) at = std::rint(at);
  if (params.padding == GridPadding::Border && (at < low || at > high)) at = at < low ? 0 : last;
  if (params.padding == GridPadding::Reflection) at = mirrored(at, low, high);
  return at > -3 ? std::min(at, count + 2) : P{-3};  // all of them read nothing
}

/// An element that may lie outside.
std::optional<int64_t> elementOf(const GridSampleParamsT& params, int64_t at, int64_t extent) {
  if (at >= 0 && at < extent) return at;
  if (params.padding == GridPadding::Zeros) return std::nullopt;
  if (params.padding == GridPadding::Border) return at < 0 ? 0 : extent - 1;
  if (params.align_corners && extent == 1) return 0;
  const int64_t period = params.align_corners ? 2 * (extent - 1) : 2 * extent;
  int64_t phase = ((at % period) + period) % period;  // the mirror image repeats
  if (phase >= extent) phase = period - phase - (params.align_corners ? 0 : 1);
  return phase;
}

double cubic(double distance) {
  const long double a = -0.75L, x = std::fabs(static_cast<long double>(distance));
  if (x <= 1) return static_cast<double>((a + 2) * x * x * x - (a + 3) * x * x + 1);
  return static_cast<double>(a * x * x * x - 5 * a * x * x + 8 * a * x - 4 * a);
}

std::vector<Share> sharesOf(const GridSampleParamsT& params, double at, int64_t extent) {
  std::vector<Share> shares;
  const auto add = [&](double position, double weight) {
    const auto element = elementOf(params, static_cast<int64_t>(position), extent);
    if (element && weight != 0) shares.emplace_back(*element, weight);
  };
  const double below = std::floor(at);
  if (params.mode == GridMode::Nearest) {
    add(std::rint(at), 1);
  } else if (params.mode == GridMode::Linear) {
    add(below, 1 - (at - below));
    add(below + 1, at - below);
  } else {
    for (double position = below - 1; position <= below + 2; ++position) add(position, cubic(at - position));
  }
  return shares;
}

/// The sum, and the sum of magnitudes, over the shares of the axes from `d` on.
std::pair<double, double> sumFrom(const OracleTensor& x, const std::vector<std::vector<Share>>& shares, Coordinates& at,
                                  size_t d) {
  if (d == shares.size()) {
    const double value = x.real[elementAt(x.shape(), at)];
    return {value, std::fabs(value)};
  }
  double value = 0, magnitude = 0;
  for (const auto& [element, weight] : shares[d]) {
    at[d + 2] = element;
    const auto [inner, innerMagnitude] = sumFrom(x, shares, at, d + 1);
    value += weight * inner;
    magnitude += std::fabs(weight) * innerMagnitude;
  }
  return {value, magnitude};
}

}  // namespace

Status gridSampleReference(const OracleArgs& args) {
  const auto params = args.params<GridSampleParams>();
  const OracleTensor &x = args.input(0), &grid = args.input(1);
  OracleTensor& y = args.output();
  const size_t axes = x.shape().size() - 2;
  if (args.wantMagnitude) y.magnitude.assign(y.real.size(), 0.0);
  y.terms = params.mode == GridMode::Nearest ? 1 : 1 << (axes * (params.mode == GridMode::Linear ? 1 : 2));
  forEachCoordinates(y.shape(), [&](size_t i, const Coordinates& at) {
    Coordinates place{at[0]};
    place.insert(place.end(), at.begin() + 2, at.end());
    place.push_back(0);
    std::vector<std::vector<Share>> shares;
    for (size_t d = 0; d < axes; ++d) {
      place.back() = static_cast<int64_t>(axes - 1 - d);  // the innermost axis comes first
      const double coordinate = grid.real[elementAt(grid.shape(), place)];
      const int64_t extent = x.shape()[d + 2];
      const double position = grid.desc.dtype == DType::Float64
                                  ? placeOf(params, coordinate, extent)
                                  : static_cast<double>(placeOf(params, static_cast<float>(coordinate), extent));
      shares.push_back(sharesOf(params, position, extent));
    }
    Coordinates from = at;
    from.resize(axes + 2);
    const auto [value, magnitude] = sumFrom(x, shares, from, 0);
    y.real[i] = value;
    if (args.wantMagnitude) y.magnitude[i] = params.mode == GridMode::Nearest ? 0 : magnitude;
  });
  return Status::ok();
}

Status affineGridReference(const OracleArgs& args) {
  const bool align = args.params<AffineGridParams>().align_corners;
  const OracleTensor& theta = args.input(0);
  OracleTensor& y = args.output();
  const Shape& shape = y.shape();
  const size_t axes = shape.size() - 2;
  if (args.wantMagnitude) y.magnitude.assign(y.real.size(), 0.0);
  y.terms = static_cast<int64_t>(axes) + 2;  // the places are rounded too
  forEachCoordinates(shape, [&](size_t i, const Coordinates& at) {
    double sum = 0, magnitude = 0;
    for (size_t k = 0; k <= axes; ++k) {
      double place = 1;
      if (k < axes) {
        const auto extent = static_cast<long double>(shape[axes - k]), index = static_cast<long double>(at[axes - k]);
        const long double step = align ? 2 / (extent - 1) : 2 / extent;
        const long double along = (align ? -1 : -1 + step / 2) + index * step;
        place = align && extent == 1 ? 0 : static_cast<double>(along);
      }
      const double term = theta.real[elementAt(theta.shape(), {at[0], at.back(), static_cast<int64_t>(k)})] * place;
      sum += term;
      magnitude += std::fabs(term);
    }
    y.real[i] = sum;
    if (args.wantMagnitude) y.magnitude[i] = magnitude;
  });
  return Status::ok();
}

}  // namespace opkit::ops::grid_sample
