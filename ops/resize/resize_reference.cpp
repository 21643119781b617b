#include <cmath>

#include "engine/op/oracle_elements.h"
#include "ops/resize/resize.h"

namespace opkit::ops::resize {
namespace {

/// One axis of either operator, once positions are known.
struct Reading {
  ResampleMode mode;
  bool excludesOutside;
  double a;  // of cubic
  bool extrapolates;
  double extrapolationValue;
};

/// Positions of the outputs along an axis, and how they are read.
struct AxisReading {
  std::vector<double> positions;
  double stretch = 1;
  Rounding rounding = Rounding::Floor;
};

/// Input element of a position, and its share of the sum.
using Share = std::pair<int64_t, double>;

double nearest(double position, Rounding rounding) {
  const double below = std::floor(position), part = position - below;
  const bool up = rounding == Rounding::Ceil       ? part > 0
                  : rounding == Rounding::HalfDown ? part > 0.5
                  : rounding == Rounding::HalfUp   ? part >= 0.5
                                                   : false;
  return up ? below + 1 : below;
}

/// The formulas of the ONNX page: a hat, or the two pieces of cubic convolution, whose terms cancel.
double filter(const Reading& reading, double distance) {
  const long double x = std::fabs(static_cast<long double>(distance)), a = static_cast<long double>(reading.a);
  if (reading.mode == ResampleMode::Linear) return static_cast<double>(x < 1 ? 1 - x : 0);
  const long double square = x * x, cube = square * x;
  if (x <= 1) return static_cast<double>((a + 2) * cube - (a + 3) * square + 1);
  if (x < 2) return static_cast<double>(a * cube - 5 * a * square + 8 * a * x - 4 * a);
  return 0;
}

/// Empty if the position is extrapolated.
std::vector<Share> sharesAt(const Reading& reading, const AxisReading& axis, double position, int64_t extent) {
  const auto last = static_cast<double>(extent - 1);
  if (reading.extrapolates && (position < 0 || position > last)) return {};
  const auto inside = [&](double at) { return static_cast<int64_t>(std::min(std::max(at, 0.0), last)); };
  if (reading.mode == ResampleMode::Nearest) return {{inside(nearest(position, axis.rounding)), 1}};
  std::vector<Share> shares;
  double sum = 0;
  const double around = std::ceil(2 * axis.stretch) + 1;
  for (double at = std::floor(position) - around; at <= std::floor(position) + around; ++at) {
    if (reading.excludesOutside && (at < 0 || at > last)) continue;
    const double share = filter(reading, (at - position) / axis.stretch);
    if (share == 0) continue;
    shares.emplace_back(inside(at), share);
    sum += share;
  }
  if (shares.empty()) return {{inside(nearest(position, Rounding::HalfDown)), 1}};
  if (reading.excludesOutside || axis.stretch > 1)
    for (Share& share : shares) share.second /= sum;
  return shares;
}

struct Sums {
  double value = 0, magnitude = 0;
};

/// The sum over the shares of the axes from `d` on. `at` holds the coordinates chosen before.
Sums sumFrom(const OracleTensor& x, const std::vector<std::vector<Share>>& shares, Coordinates& at, size_t d) {
  if (d == shares.size()) {
    const size_t element = elementAt(x.shape(), at);
    const double value = x.isReal() ? x.real[element] : static_cast<double>(x.integer[element]);
    return {value, std::fabs(value)};
  }
  Sums sums;
  for (const auto& [position, share] : shares[d]) {
    at[d] = position;
    const Sums inner = sumFrom(x, shares, at, d + 1);
    sums.value += share * inner.value;
    sums.magnitude += std::fabs(share) * inner.magnitude;
  }
  return sums;
}

/// A sum of integers as an integer: the whole number that it touches, else toward zero, and never out of range.
int64_t wholeOf(double value, DType dtype) {
  const double whole = std::nearbyint(value);
  const double cut = std::fabs(value - whole) < kWholeSlack ? whole : std::trunc(value);
  return visitDType(dtype, [&](auto tag) -> int64_t {
    using T = decltype(tag);
    if constexpr (std::is_integral_v<T>) {
      const auto low = static_cast<double>(std::numeric_limits<T>::min());
      const auto high = static_cast<double>(std::numeric_limits<T>::max());
      return cut <= low    ? static_cast<int64_t>(std::numeric_limits<T>::min())
             : cut >= high ? static_cast<int64_t>(std::numeric_limits<T>::max())
                           : static_cast<int64_t>(cut);
    }
    return 0;
  });
}

void store(const Reading& reading, const Sums& sums, int64_t terms, OracleTensor& y, size_t i) {
  if (!y.isReal()) {
    y.integer[i] = wholeOf(sums.value, y.desc.dtype);
    return;
  }
  y.real[i] = sums.value;
  y.terms = std::max(y.terms, terms);
  if (!y.magnitude.empty()) y.magnitude[i] = reading.mode == ResampleMode::Nearest ? 0 : sums.magnitude;
}

/// `axes` has an entry for every axis of the input.
Status read(const OracleArgs& args, const Reading& reading, const std::vector<AxisReading>& axes) {
  const OracleTensor& x = args.input(0);
  OracleTensor& y = args.output();
  if (args.wantMagnitude && y.isReal()) y.magnitude.assign(y.real.size(), 0.0);
  // Bool counts as 0 and 1.
  const double outside =
      y.desc.dtype == DType::Bool ? (reading.extrapolationValue != 0 ? 1 : 0) : reading.extrapolationValue;
  std::vector<std::vector<std::vector<Share>>> all(axes.size());
  for (size_t d = 0; d < axes.size(); ++d)
    for (const double position : axes[d].positions)
      all[d].push_back(sharesAt(reading, axes[d], position, x.shape()[d]));
  forEachCoordinates(y.shape(), [&](size_t i, const Coordinates& at) {
    std::vector<std::vector<Share>> shares;
    int64_t terms = 1;
    for (size_t d = 0; d < at.size(); ++d) {
      shares.push_back(all[d][static_cast<size_t>(at[d])]);
      terms *= static_cast<int64_t>(shares.back().size());
    }
    if (terms == 0) return store(reading, {outside, std::fabs(outside)}, 1, y, i);
    Coordinates from = at;
    if (reading.mode == ResampleMode::Nearest) {
      for (size_t d = 0; d < at.size(); ++d) from[d] = shares[d][0].first;
      return copyElement(x, from, y, i);
    }
    store(reading, sumFrom(x, shares, from, 0), terms, y, i);
  });
  return Status::ok();
}

std::vector<AxisReading> untouched(const Shape& shape) {
  std::vector<AxisReading> axes(shape.size());
  for (size_t d = 0; d < shape.size(); ++d)
    for (int64_t o = 0; o < shape[d]; ++o) axes[d].positions.push_back(static_cast<double>(o));
  return axes;
}

/// The coordinate transformations as the ONNX page writes them, rounded to Real at each step.
template <class Real>
Real original(CoordinateMode mode, Real x, Real inputs, Real outputs, Real scale, bool isSized, Real start, Real end) {
  const Real wanted = isSized ? outputs : scale * inputs, half = Real(0.5);
  switch (mode) {
    case CoordinateMode::HalfPixel: return (x + half) / scale - half;
    case CoordinateMode::HalfPixelSymmetric: {
      const Real adjustment = outputs / (scale * inputs), center = inputs / 2;
      return center * (1 - adjustment) + (x + half) / scale - half;
    }
    case CoordinateMode::PytorchHalfPixel: return outputs > 1 ? (x + half) / scale - half : 0;
    case CoordinateMode::AlignCorners: return wanted == 1 ? 0 : x * (inputs - 1) / (wanted - 1);
    case CoordinateMode::Asymmetric: return x / scale;
    case CoordinateMode::TfHalfPixelForNn: return (x + half) / scale;
    case CoordinateMode::TfCropAndResize: break;
  }
  if (outputs <= 1) return half * (start + end) * (inputs - 1);
  const Real reach = (inputs - 1) * (end - start);
  return start * (inputs - 1) + x * reach / (outputs - 1);
}

/// The scale of each listed axis: given, or that of the sizes.
std::vector<double> scalesOf(const OracleArgs& args, const ResizeParamsT& params, const std::vector<size_t>& axes) {
  if (args.hasInput(2) && !args.input(2).real.empty()) return args.input(2).real;
  std::vector<double> scales, finite;
  for (size_t k = 0; k < axes.size(); ++k) {
    const auto extent = static_cast<double>(args.input(0).shape()[axes[k]]);
    scales.push_back(static_cast<double>(args.input(3).integer[k]) / extent);
    if (extent > 0) finite.push_back(scales.back());
  }
  if (finite.empty() || params.aspect_policy == AspectPolicy::Stretch) return scales;
  const auto [least, most] = std::ranges::minmax(finite);
  return std::vector<double>(axes.size(), params.aspect_policy == AspectPolicy::NotLarger ? least : most);
}

}  // namespace

Status resampleReference(const OracleArgs& args) {
  const auto params = args.params<ResampleParams>();
  const Shape& shape = args.input(0).shape();
  std::vector<AxisReading> axes = untouched(shape);
  for (size_t k = 0; k < params.axes.size(); ++k) {
    AxisReading& axis = axes[axisFromFront(params.axes[k], shape.size())];
    axis = {{}, params.stretches[k], params.roundings[k]};
    const auto place = [&]<class Real>(Real o) {
      const Real moved = static_cast<Real>(params.shifts[k]) + o;
      const Real scaled = moved * static_cast<Real>(params.multipliers[k]) / static_cast<Real>(params.divisors[k]);
      return static_cast<double>(scaled + static_cast<Real>(params.offsets[k]) - static_cast<Real>(params.origins[k]));
    };
    for (int64_t o = 0; o < params.outputs[k]; ++o)
      axis.positions.push_back(params.mode == ResampleMode::Nearest ? place(static_cast<float>(o))
                                                                    : place(static_cast<double>(o)));
  }
  return read(args,
              {params.mode, params.exclude_outside, static_cast<double>(params.cubic_coeff_a), params.extrapolate,
               static_cast<double>(params.extrapolation_value)},
              axes);
}

Status resizeReference(const OracleArgs& args) {
  const auto params = args.params<ResizeParams>();
  const Shape &from = args.input(0).shape(), &to = args.output().shape();
  std::vector<size_t> listed;
  for (const int64_t axis : params.axes) listed.push_back(axisFromFront(axis, from.size()));
  if (listed.empty())
    for (size_t d = 0; d < from.size(); ++d) listed.push_back(d);
  const std::vector<double> scales = scalesOf(args, params, listed);
  const bool hasScales = args.hasInput(2) && !args.input(2).real.empty();
  const bool isSized = !hasScales && params.aspect_policy == AspectPolicy::Stretch;
  const bool crops = params.coordinate_mode == CoordinateMode::TfCropAndResize;
  std::vector<AxisReading> axes = untouched(from);
  for (size_t k = 0; k < listed.size(); ++k) {
    const size_t d = listed[k];
    const double start = crops ? args.input(1).real[k] : 0, end = crops ? args.input(1).real[k + listed.size()] : 1;
    const NearestMode rounds = params.nearest_mode;
    axes[d] = {{},
               params.antialias && scales[k] < 1 ? 1 / scales[k] : 1,
               rounds == NearestMode::RoundPreferFloor  ? Rounding::HalfDown
               : rounds == NearestMode::RoundPreferCeil ? Rounding::HalfUp
               : rounds == NearestMode::Ceil || (rounds == NearestMode::FloorUpCeilDown && scales[k] < 1)
                   ? Rounding::Ceil
                   : Rounding::Floor};
    const auto place = [&]<class Real>(Real o) {
      return static_cast<double>(original<Real>(params.coordinate_mode, o, static_cast<Real>(from[d]),
                                                static_cast<Real>(to[d]), static_cast<Real>(scales[k]), isSized,
                                                static_cast<Real>(start), static_cast<Real>(end)));
    };
    for (int64_t o = 0; o < to[d]; ++o)
      axes[d].positions.push_back(params.mode == ResizeMode::Nearest ? place(static_cast<float>(o))
                                                                     : place(static_cast<double>(o)));
  }
  return read(args,
              {static_cast<ResampleMode>(params.mode), params.exclude_outside,
               static_cast<double>(params.cubic_coeff_a), crops, static_cast<double>(params.extrapolation_value)},
              axes);
}

}  // namespace opkit::ops::resize
