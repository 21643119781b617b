#include "engine/op/window.h"

#include <algorithm>

namespace opkit {
namespace {

// Larger values cannot describe a tensor that fits anywhere, and products of two stay in range.
constexpr int64_t kMaxWindowValue = int64_t{1} << 31;

int64_t ceilDivide(int64_t a, int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }

Status checkValues(const char* name, const std::vector<int64_t>& values, size_t count, int64_t least) {
  if (!values.empty() && values.size() != count)
    return Status::invalidArgument("{} must have {} values, got {}", name, count, values.size());
  for (const int64_t value : values)
    if (value < least || value >= kMaxWindowValue)
      return Status::invalidArgument("{} must be in [{}, {}), got {}", name, least, kMaxWindowValue, value);
  return Status::ok();
}

Status checkSpec(const WindowSpec& spec, size_t rank) {
  if (spec.kernel.size() != rank)
    return Status::invalidArgument("kernel_shape must have {} values, got {}", rank, spec.kernel.size());
  OPKIT_TRY(checkValues("kernel_shape", spec.kernel, rank, 1));
  OPKIT_TRY(checkValues("strides", spec.strides, rank, 1));
  OPKIT_TRY(checkValues("dilations", spec.dilations, rank, 1));
  return checkValues("pads", spec.pads, 2 * rank, 0);
}

// The taps k in [0, kernel) with low <= start + k*dilation < high.
TapRange tapsBetween(int64_t start, int64_t dilation, int64_t kernel, int64_t low, int64_t high) {
  const int64_t begin = std::clamp<int64_t>(ceilDivide(low - start, dilation), 0, kernel);
  const int64_t end = std::clamp<int64_t>(ceilDivide(high - start, dilation), begin, kernel);
  return {begin, end};
}

void padToSame(WindowAxis& axis, bool upper) {
  const int64_t extent = axis.dilation * (axis.kernel - 1) + 1;
  axis.output = ceilDivide(axis.input, axis.stride);
  const int64_t total = std::max<int64_t>(0, (axis.output - 1) * axis.stride + extent - axis.input);
  axis.padBegin = upper ? total / 2 : total - total / 2;
  axis.padEnd = total - axis.padBegin;
}

Status countWindows(WindowAxis& axis, bool ceilMode) {
  const int64_t extent = axis.dilation * (axis.kernel - 1) + 1;
  const int64_t room = axis.input + axis.padBegin + axis.padEnd - extent;
  if (room < 0)
    return Status::invalidArgument("the kernel covers {} elements, but the padded input has {}", extent, room + extent);
  axis.output = (ceilMode ? ceilDivide(room, axis.stride) : room / axis.stride) + 1;
  if (ceilMode && (axis.output - 1) * axis.stride >= axis.input + axis.padBegin) --axis.output;
  return Status::ok();
}

}  // namespace

Result<AutoPad> parseAutoPad(const std::string& text) {
  if (text.empty() || text == "NOTSET") return AutoPad::NotSet;
  if (text == "SAME_UPPER") return AutoPad::SameUpper;
  if (text == "SAME_LOWER") return AutoPad::SameLower;
  if (text == "VALID") return AutoPad::Valid;
  return Status::invalidArgument("auto_pad must be NOTSET, SAME_UPPER, SAME_LOWER or VALID, got '{}'", text);
}

const char* nameOf(AutoPad rule) {
  switch (rule) {
    case AutoPad::NotSet: return "NOTSET";
    case AutoPad::SameUpper: return "SAME_UPPER";
    case AutoPad::SameLower: return "SAME_LOWER";
    case AutoPad::Valid: return "VALID";
  }
  return "NOTSET";
}

TapRange WindowAxis::tapsInside(int64_t o) const { return tapsBetween(position(o, 0), dilation, kernel, 0, input); }

TapRange WindowAxis::tapsPadded(int64_t o) const {
  return tapsBetween(position(o, 0), dilation, kernel, -padBegin, input + padEnd);
}

TapRange WindowAxis::outputsInside(int64_t k) const { return tapsBetween(position(0, k), stride, output, 0, input); }

Result<std::vector<WindowAxis>> planWindow(const WindowSpec& spec, const Shape& input) {
  const size_t rank = input.size();
  OPKIT_TRY(checkSpec(spec, rank));
  std::vector<WindowAxis> axes(rank);
  for (size_t d = 0; d < rank; ++d) {
    WindowAxis& axis = axes[d];
    axis.input = input[d];
    axis.kernel = spec.kernel[d];
    axis.stride = spec.strides.empty() ? 1 : spec.strides[d];
    axis.dilation = spec.dilations.empty() ? 1 : spec.dilations[d];
    const bool explicitPads = spec.autoPad == AutoPad::NotSet && !spec.pads.empty();
    axis.padBegin = explicitPads ? spec.pads[d] : 0;
    axis.padEnd = explicitPads ? spec.pads[rank + d] : 0;
    if (spec.autoPad == AutoPad::SameUpper || spec.autoPad == AutoPad::SameLower)
      padToSame(axis, spec.autoPad == AutoPad::SameUpper);
    else
      OPKIT_TRY(countWindows(axis, spec.ceilMode && spec.autoPad == AutoPad::NotSet)
                    .withContext(fmt::format("spatial axis {}", d)));
  }
  return axes;
}

std::vector<WindowAxis> padWindowRank(std::vector<WindowAxis> axes, size_t rank) {
  while (axes.size() < rank) axes.insert(axes.begin(), WindowAxis{1, 1, 1, 1, 1, 0, 0});
  return axes;
}

}  // namespace opkit
