#include <algorithm>

#include "engine/op/op_registry.h"
#include "ops/pad/pad_parts.h"

namespace opkit::ops::pad {
namespace {

constexpr size_t kMaxRegions = 65536;  // of one Pad; more regions would be slower than a separate kernel

struct Padding {
  int64_t before = 0;  // negative crops
  int64_t after = 0;
};

/// A run of output positions along one axis that read source positions start, start + step, ...
struct Run {
  int64_t position;
  int64_t start;
  int64_t step;
  int64_t count;
};

Result<std::vector<Padding>> paddingOf(const ShapeArgs& args) {
  const size_t rank = args.shape(0).size();
  std::vector<int64_t> axes;
  if (args.hasInput(3)) {
    axes = args.integers(3);
  } else {
    for (size_t d = 0; d < rank; ++d) axes.push_back(static_cast<int64_t>(d));
  }
  const std::vector<int64_t> pads = args.integers(1);
  if (pads.size() != 2 * axes.size())
    return Status::invalidArgument("pads must list {} values, two per axis, got {}", 2 * axes.size(), pads.size());
  std::vector<Padding> paddings(rank);
  for (size_t i = 0; i < axes.size(); ++i) {
    OPKIT_ASSIGN(const int axis, normalizeAxis(axes[i], rank));
    for (const int64_t pad : {pads[i], pads[i + axes.size()]})
      if (pad > kMaxElements || pad < -kMaxElements)
        return Status::invalidArgument("pads must be in [{}, {}], got {}", -kMaxElements, kMaxElements, pad);
    paddings[static_cast<size_t>(axis)] = {pads[i], pads[i + axes.size()]};
  }
  return paddings;
}

/// Elements to crop before a tensor is repeated, so that only those that are left come again.
Padding croppedFirst(Mode mode, Padding padding) {
  if (mode != Mode::Wrap) return {};
  return {std::max<int64_t>(0, -padding.before), std::max<int64_t>(0, -padding.after)};
}

Status checkAxis(Mode mode, int64_t extent, Padding padding, size_t axis) {
  const int64_t padded = extent + padding.before + padding.after;
  if (padded < 0) return Status::invalidArgument("axis {}: pads crop more than its extent {}", axis, extent);
  const Padding crop = croppedFirst(mode, padding);
  const int64_t left = extent - crop.before - crop.after;
  if (mode != Mode::Constant && left <= 0 && padded > 0)
    return Status::invalidArgument("axis {}: mode {} needs an element to repeat, {} of {} are left", axis,
                                   EnumNameMode(mode), std::max<int64_t>(left, 0), extent);
  return Status::ok();
}

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  OPKIT_ASSIGN(const std::vector<Padding> paddings, paddingOf(args));
  const Mode mode = args.params<PadParams>().mode;
  if (args.hasInput(2)) {
    if (args.input(2).dtype != args.input(0).dtype)
      return Status::invalidArgument("value must be {} like x, got {}", nameOf(args.input(0).dtype),
                                     nameOf(args.input(2).dtype));
    if (args.input(2).elements() != 1)
      return Status::invalidArgument("value must hold one element, got {}", toString(args.shape(2)));
  }
  TensorDesc output = args.input(0);
  for (size_t d = 0; d < paddings.size(); ++d) {
    OPKIT_TRY(checkAxis(mode, output.shape[d], paddings[d], d));
    output.shape[d] += paddings[d].before + paddings[d].after;
  }
  OPKIT_TRY(checkShape(output.shape));
  return std::vector{output};
}

/// The longest run that begins at output position `at` (counted from the first unpadded element) and has at most
/// `limit` elements; start is -1 for the fill.
Run runAt(Mode mode, int64_t at, int64_t extent, int64_t limit) {
  const auto run = [&](int64_t start, int64_t step, int64_t count) {
    return Run{at, start, step, std::min(count, limit)};
  };
  if (at >= 0 && at < extent) return run(at, 1, extent - at);
  const int64_t outside = at < 0 ? -at : limit;  // elements until the middle, or until the end
  if (mode == Mode::Constant) return run(-1, 0, outside);
  if (mode == Mode::Edge) return run(at < 0 ? 0 : extent - 1, 0, outside);
  if (mode == Mode::Wrap) {
    const int64_t phase = ((at % extent) + extent) % extent;
    return run(phase, 1, extent - phase);
  }
  if (extent == 1) return run(0, 0, outside);
  const int64_t period = 2 * (extent - 1);
  const int64_t phase = ((at % period) + period) % period;
  if (phase < extent - 1) return run(phase, 1, extent - 1 - phase);  // towards the last element
  return run(period - phase, -1, period - phase);                    // and back towards the first
}

/// Cuts one output axis into runs of constant step.
Result<std::vector<Run>> runsOf(Mode mode, Padding padding, int64_t extent, int64_t padded) {
  std::vector<Run> runs;
  const Padding crop = croppedFirst(mode, padding);
  const int64_t left = extent - crop.before - crop.after;
  for (int64_t position = 0; position < padded;) {
    Run run = runAt(mode, position - padding.before - crop.before, left, padded - position);
    run.position = position;
    run.start += crop.before;
    position += run.count;
    if (run.start >= 0) runs.push_back(run);
    if (runs.size() > kMaxRegions)
      return Status::unsupported("an axis of {} padded to {} repeats more than {} times", extent, padded, kMaxRegions);
  }
  return runs;
}

/// Appends the axis: every region so far is repeated for each of its runs.
void appendAxis(std::vector<Region>& regions, const std::vector<Run>& runs, int64_t sourceStride, int64_t stride) {
  std::vector<Region> product;
  for (const Region& region : regions) {
    for (const Run& run : runs) {
      Region& added = product.emplace_back(region);
      added.sourceOffset += run.start * sourceStride;
      added.offset += run.position * stride;
      added.size.push_back(run.count);
      added.sourceStrides.push_back(run.step * sourceStride);
      added.strides.push_back(stride);
    }
  }
  regions = std::move(product);
}

Result<std::vector<RegionList>> lower(const ShapeArgs& args, std::span<const TensorDesc> outputs) {
  OPKIT_ASSIGN(const std::vector<Padding> paddings, paddingOf(args));
  const Mode mode = args.params<PadParams>().mode;
  const DimVector sourceStrides = contiguousStrides(args.shape(0));
  const DimVector strides = contiguousStrides(outputs[0].shape);
  RegionList list{{Region{}}};
  for (size_t d = 0; d < paddings.size(); ++d) {
    OPKIT_ASSIGN(const auto runs, runsOf(mode, paddings[d], args.shape(0)[d], outputs[0].shape[d]));
    if (runs.size() * list.regions.size() > kMaxRegions)
      return Status::unsupported("the padding needs more than {} copies", kMaxRegions);
    appendAxis(list.regions, runs, sourceStrides[d], strides[d]);
  }
  if (mode == Mode::Constant) {
    list.fill = args.hasInput(2) ? RegionList::Fill::Input : RegionList::Fill::Zero;
    list.fillInput = args.hasInput(2) ? 2 : -1;
  }
  return std::vector{list};
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add({.type = "Pad",
                .summary = "adds elements around a tensor: a value, mirrored, the edge, or periodic",
                .params = paramsSchema<PadParams>(kPadSchema),
                .inputs = {{"x"},
                           {"pads", kIndexTypes, Port::Kind::Required, true},
                           {"value", kAnyDType, Port::Kind::Optional},
                           {"axes", kIndexTypes, Port::Kind::Optional, true}},
                .outputs = {{"y"}},
                .inferShapes = shapeRule,
                .lower = lower,
                .oracle = reference});
}

}  // namespace opkit::ops::pad
