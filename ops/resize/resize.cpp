// Resize: scales, sizes and regions become positions along each axis; Resample reads there.
#include "ops/resize/resize.h"

#include <cmath>

#include "engine/op/decomposition.h"
#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"
#include "ops/resize/resize_parts.h"

namespace opkit::ops::resize {
namespace {

constexpr size_t kRoi = 1, kScales = 2, kSizes = 3;
constexpr DTypeSet kScaleTypes{DType::Float32};

/// One listed axis.
struct Axis {
  size_t d = 0;
  int64_t inputs = 0;
  int64_t outputs = 0;
  double scale = 1;
  std::optional<double> wanted = std::nullopt;  // outputs before rounding; by default inputs times scale
  double start = 0, end = 1;                    // of the region, in units of the axis
};

/// Whether the optional list is there; ONNX-11 writes an absent one as an empty list.
bool isGiven(const ShapeArgs& args, size_t i) { return args.hasInput(i) && args.input(i).elements() > 0; }

Status requireCount(const char* name, size_t found, size_t expected) {
  if (found == expected) return Status::ok();
  return Status::invalidArgument("{} must list {} values, got {}", name, expected, found);
}

Result<std::vector<Axis>> listedAxes(const ResizeParamsT& params, const Shape& x) {
  std::vector<Axis> axes;
  std::vector<bool> seen(x.size(), false);
  for (const int64_t listed : params.axes) {
    OPKIT_ASSIGN(const int axis, normalizeAxis(listed, x.size()));
    const auto d = static_cast<size_t>(axis);
    if (seen[d]) return Status::invalidArgument("axis {} is listed twice", listed);
    seen[d] = true;
    axes.push_back({.d = d, .inputs = x[d]});
  }
  if (params.axes.empty())
    for (size_t d = 0; d < x.size(); ++d) axes.push_back({.d = d, .inputs = x[d]});
  return axes;
}

Status readRegion(const ShapeArgs& args, std::vector<Axis>& axes) {
  if (!isGiven(args, kRoi)) return Status::invalidArgument("coordinate_mode TfCropAndResize needs the input roi");
  const std::vector<double> roi = args.reals(kRoi);
  OPKIT_TRY(requireCount("roi", roi.size(), 2 * axes.size()));
  for (size_t k = 0; k < axes.size(); ++k) {
    axes[k].start = roi[k];
    axes[k].end = roi[k + axes.size()];
    if (!(std::fabs(axes[k].start) < kMaxElements && std::fabs(axes[k].end) < kMaxElements))
      return Status::invalidArgument("roi must be finite, got {} and {}", axes[k].start, axes[k].end);
  }
  return Status::ok();
}

/// In float, as ONNX's shape inference does: 10 * 0.7f is 7 there, and below 7 in double.
Status applyScales(const ShapeArgs& args, std::vector<Axis>& axes) {
  const std::vector<double> scales = args.reals(kScales);
  OPKIT_TRY(requireCount("scales", scales.size(), axes.size()));
  for (size_t k = 0; k < axes.size(); ++k) {
    Axis& axis = axes[k];
    if (!(scales[k] > 0 && scales[k] <= static_cast<double>(kMaxElements)))
      return Status::invalidArgument("scales must be in (0, {}], got {}", kMaxElements, scales[k]);
    axis.scale = scales[k];
    const float share = static_cast<float>(axis.end) - static_cast<float>(axis.start);
    const float outputs = std::floor(static_cast<float>(axis.inputs) * share * static_cast<float>(axis.scale));
    if (!(outputs <= static_cast<float>(kMaxElements)))
      return Status::invalidArgument("axis {} of {} would have {} elements", axis.d, axis.inputs, outputs);
    axis.outputs = std::max<int64_t>(static_cast<int64_t>(outputs), 0);
  }
  return Status::ok();
}

Status applySizes(const ShapeArgs& args, AspectPolicy policy, std::vector<Axis>& axes) {
  const std::vector<int64_t> sizes = args.integers(kSizes);
  OPKIT_TRY(requireCount("sizes", sizes.size(), axes.size()));
  double common = -1;
  for (size_t k = 0; k < axes.size(); ++k) {
    Axis& axis = axes[k];
    if (sizes[k] < 0 || sizes[k] > kMaxElements)
      return Status::invalidArgument("sizes must be in [0, {}], got {}", kMaxElements, sizes[k]);
    if (axis.inputs == 0 && sizes[k] > 0)
      return Status::invalidArgument("axis {} of extent 0 cannot be resized to {}", axis.d, sizes[k]);
    axis.outputs = sizes[k];
    axis.wanted = static_cast<double>(sizes[k]);
    axis.scale = axis.inputs == 0 ? 1 : static_cast<double>(sizes[k]) / static_cast<double>(axis.inputs);
    if (axis.inputs == 0) continue;
    const bool replaces = policy == AspectPolicy::NotLarger ? axis.scale < common : axis.scale > common;
    if (common < 0 || replaces) common = axis.scale;
  }
  if (policy == AspectPolicy::Stretch || common < 0) return Status::ok();
  for (Axis& axis : axes) {
    axis.scale = common;
    axis.wanted.reset();
    axis.outputs = static_cast<int64_t>(std::floor(common * static_cast<double>(axis.inputs) + 0.5));
  }
  return Status::ok();
}

Result<std::vector<Axis>> resizedAxes(const ShapeArgs& args) {
  const auto params = args.params<ResizeParams>();
  for (const auto& [i, name] : {std::pair{kRoi, "roi"}, {kScales, "scales"}, {kSizes, "sizes"}})
    OPKIT_TRY(requireList(args, i, name));
  OPKIT_ASSIGN(std::vector<Axis> axes, listedAxes(params, args.shape(0)));
  if (isGiven(args, kScales) && isGiven(args, kSizes))
    return Status::invalidArgument("one of scales and sizes must be given, got both");
  if (params.coordinate_mode == CoordinateMode::TfCropAndResize) OPKIT_TRY(readRegion(args, axes));
  if (isGiven(args, kScales))
    OPKIT_TRY(applyScales(args, axes));
  else if (isGiven(args, kSizes))
    OPKIT_TRY(applySizes(args, params.aspect_policy, axes));
  else if (!axes.empty())
    return Status::invalidArgument("one of scales and sizes must be given, got neither");
  for (const Axis& axis : axes)
    if (axis.inputs == 0 && axis.outputs > 0)
      return Status::invalidArgument("axis {} of extent 0 cannot be resized to {}", axis.d, axis.outputs);
  return axes;
}

Status checkType(const ShapeArgs& args) {
  const ResizeMode mode = args.params<ResizeParams>().mode;
  const DType dtype = args.input(0).dtype;
  if (mode == ResizeMode::Nearest || isFloat(dtype)) return Status::ok();
  if (dtype != DType::Bool && sizeOf(dtype) < sizeof(int64_t)) return Status::ok();
  return Status::unsupported("mode {} takes floats and integers of up to 32 bits, got {}", EnumNameResizeMode(mode),
                             nameOf(dtype));
}

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  OPKIT_TRY(checkType(args));
  OPKIT_ASSIGN(const std::vector<Axis> axes, resizedAxes(args));
  TensorDesc output = args.input(0);
  for (const Axis& axis : axes) output.shape[axis.d] = axis.outputs;
  return std::vector{output};
}

/// Where output o lies: (o + shift) * multiplier / divisor + offset - origin.
struct Position {
  double shift, multiplier, divisor, offset, origin;
};

Position evenly(double first, double distance, double steps) { return {0, distance, steps, first, 0}; }

/// Real is the type in which Resample computes positions.
template <class Real>
Position positionOf(CoordinateMode mode, const Axis& axis) {
  const auto inputs = static_cast<Real>(axis.inputs), outputs = static_cast<Real>(axis.outputs);
  const auto scale = static_cast<Real>(axis.scale);
  const Real wanted = axis.wanted ? static_cast<Real>(*axis.wanted) : inputs * scale;
  switch (mode) {
    case CoordinateMode::HalfPixel: return {0.5, 1, scale, 0, 0.5};
    case CoordinateMode::HalfPixelSymmetric: return {0.5, 1, scale, inputs / 2 * (1 - outputs / (scale * inputs)), 0.5};
    case CoordinateMode::PytorchHalfPixel: return axis.outputs > 1 ? Position{0.5, 1, scale, 0, 0.5} : evenly(0, 0, 1);
    case CoordinateMode::AlignCorners: return wanted == 1 ? evenly(0, 0, 1) : evenly(0, inputs - 1, wanted - 1);
    case CoordinateMode::Asymmetric: return {0, 1, scale, 0, 0};
    case CoordinateMode::TfHalfPixelForNn: return {0.5, 1, scale, 0, 0};
    case CoordinateMode::TfCropAndResize: break;
  }
  const auto start = static_cast<Real>(axis.start), end = static_cast<Real>(axis.end);
  if (axis.outputs <= 1) return evenly(Real(0.5) * (start + end) * (inputs - 1), 0, 1);
  return evenly(start * (inputs - 1), (end - start) * (inputs - 1), outputs - 1);
}

Rounding roundingOf(NearestMode mode, const Axis& axis) {
  switch (mode) {
    case NearestMode::RoundPreferFloor: return Rounding::HalfDown;
    case NearestMode::RoundPreferCeil: return Rounding::HalfUp;
    case NearestMode::Floor: return Rounding::Floor;
    case NearestMode::Ceil: return Rounding::Ceil;
    case NearestMode::FloorUpCeilDown: break;
  }
  return axis.scale < 1 ? Rounding::Ceil : Rounding::Floor;
}

Status decompose(const ShapeArgs& args, std::span<const TensorDesc>, Decomposition& parts) {
  const auto params = args.params<ResizeParams>();
  OPKIT_ASSIGN(const std::vector<Axis> axes, resizedAxes(args));
  ResampleParamsT made;
  made.mode = static_cast<ResampleMode>(params.mode);
  made.cubic_coeff_a = params.cubic_coeff_a;
  made.exclude_outside = params.exclude_outside;
  made.extrapolate = params.coordinate_mode == CoordinateMode::TfCropAndResize;
  made.extrapolation_value = params.extrapolation_value;
  for (const Axis& axis : axes) {
    const auto positionIn = params.mode == ResizeMode::Nearest ? positionOf<float> : positionOf<double>;
    const Position position = axis.outputs > 0 ? positionIn(params.coordinate_mode, axis) : evenly(0, 0, 1);
    made.axes.push_back(static_cast<int64_t>(axis.d));
    made.outputs.push_back(axis.outputs);
    made.shifts.push_back(position.shift);
    made.multipliers.push_back(position.multiplier);
    made.divisors.push_back(position.divisor);
    made.offsets.push_back(position.offset);
    made.origins.push_back(position.origin);
    made.stretches.push_back(params.antialias ? std::max(1.0, 1 / axis.scale) : 1);
    made.roundings.push_back(roundingOf(params.nearest_mode, axis));
  }
  parts.setOutput(0, parts.add("Resample", {parts.input(0)}, packParams(made)));
  return Status::ok();
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add({.type = "Resize",
                .summary = "an image of other extents: the nearest element, or linear or cubic interpolation",
                .params = paramsSchema<ResizeParams>(kResizeSchema),
                .inputs = {{"x"},
                           {"roi", kFloats, Port::Kind::Optional, true},
                           {"scales", kScaleTypes, Port::Kind::Optional, true},
                           {"sizes", kIndexTypes, Port::Kind::Optional, true}},
                .outputs = {{"y"}},
                .numeric = NumericClass::Sum,
                .inferShapes = shapeRule,
                .decompose = decompose,
                .oracle = resizeReference});
  registry.add({.type = "Resample",
                .summary = "listed axes read at given positions: the nearest element, or a weighted sum of neighbours",
                .params = paramsSchema<ResampleParams>(kResampleSchema),
                .inputs = {{"x"}},
                .outputs = {{"y"}},
                .numeric = NumericClass::Sum,
                .inferShapes = resampleRule,
                .flops = resampleFlops,
                .oracle = resampleReference});
}

}  // namespace opkit::ops::resize
