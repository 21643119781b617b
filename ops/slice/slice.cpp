#include <algorithm>
#include <limits>
#include <numeric>

#include "engine/op/op_registry.h"
#include "ops/slice/slice_parts.h"

namespace opkit::ops::slice {
namespace {

struct Range {
  int64_t start = 0;
  int64_t step = 1;
  int64_t count = 0;
};

/// One axis of the slice after ONNX's clamping: an end beyond either side means "to the end".
Range rangeOf(int64_t start, int64_t end, int64_t step, int64_t extent) {
  const auto clampTo = [&](int64_t position, int64_t low, int64_t high) {
    if (position < 0) position += extent;  // cannot overflow: extent <= kMaxElements
    return std::clamp(position, low, high);
  };
  Range range{0, step, 0};
  if (step > 0) {
    range.start = clampTo(start, 0, extent);
    const int64_t stop = clampTo(end, 0, extent);
    if (stop > range.start) range.count = (stop - range.start - 1) / step + 1;
  } else if (extent > 0) {
    range.start = clampTo(start, 0, extent - 1);
    const int64_t stop = clampTo(end, -1, extent - 1);
    // Dividing by the step itself (not its negation) keeps INT64_MIN defined.
    if (stop < range.start) range.count = (stop - range.start + 1) / step + 1;
  }
  return range;
}

/// The values of optional input i, or `fallback` repeated.
Result<std::vector<int64_t>> valuesOf(const ShapeArgs& args, size_t i, const char* name,
                                      std::vector<int64_t> fallback) {
  if (!args.hasInput(i)) return fallback;
  std::vector<int64_t> values = args.integers(i);
  if (values.size() != fallback.size())
    return Status::invalidArgument("{} must list {} values like starts, got {}", name, fallback.size(), values.size());
  return values;
}

Result<std::vector<Range>> rangesOf(const ShapeArgs& args) {
  const Shape& from = args.shape(0);
  std::vector<Range> ranges;
  for (const int64_t extent : from) ranges.push_back({0, 1, extent});
  const std::vector<int64_t> starts = args.integers(1);
  std::vector<int64_t> leading(starts.size());
  std::iota(leading.begin(), leading.end(), int64_t{0});
  OPKIT_ASSIGN(const auto ends, valuesOf(args, 2, "ends", leading));
  OPKIT_ASSIGN(const auto axes, valuesOf(args, 3, "axes", leading));
  OPKIT_ASSIGN(const auto steps, valuesOf(args, 4, "steps", std::vector<int64_t>(starts.size(), 1)));
  std::vector<bool> seen(from.size(), false);
  for (size_t i = 0; i < starts.size(); ++i) {
    OPKIT_ASSIGN(const int normalized, normalizeAxis(axes[i], from.size()));
    const auto axis = static_cast<size_t>(normalized);
    if (seen[axis]) return Status::invalidArgument("axis {} is listed twice", axes[i]);
    if (steps[i] == 0) return Status::invalidArgument("steps must not be 0 (axis {})", axes[i]);
    seen[axis] = true;
    ranges[axis] = rangeOf(starts[i], ends[i], steps[i], from[axis]);
  }
  return ranges;
}

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  OPKIT_ASSIGN(const std::vector<Range> ranges, rangesOf(args));
  TensorDesc output{args.input(0).dtype, {}};
  for (const Range& range : ranges) output.shape.push_back(range.count);
  return std::vector{output};
}

Result<std::vector<RegionList>> lower(const ShapeArgs& args, std::span<const TensorDesc> outputs) {
  OPKIT_ASSIGN(const std::vector<Range> ranges, rangesOf(args));
  const DimVector strides = contiguousStrides(args.shape(0));
  Region region{0, 0, 0, outputs[0].shape, {}, contiguousStrides(outputs[0].shape)};
  for (size_t d = 0; d < ranges.size(); ++d) {
    region.sourceOffset += ranges[d].count > 0 ? ranges[d].start * strides[d] : 0;
    region.sourceStrides.push_back(ranges[d].count > 1 ? ranges[d].step * strides[d] : 0);
  }
  return std::vector{RegionList{{region}}};
}

}  // namespace

void define(OpRegistry& registry) {
  const auto port = [](const char* name, Port::Kind kind) { return Port{name, kIndexTypes, kind, true}; };
  registry.add({.type = "Slice",
                .summary = "takes every step-th element between start and end along listed axes",
                .inputs = {{"x", kMovedDTypes},
                           port("starts", Port::Kind::Required),
                           port("ends", Port::Kind::Required),
                           port("axes", Port::Kind::Optional),
                           port("steps", Port::Kind::Optional)},
                .outputs = {{"y", kMovedDTypes}},
                .inferShapes = shapeRule,
                .lower = lower,
                .oracle = reference});
}

}  // namespace opkit::ops::slice
