// Window: the spatial axes of convolution and pooling: kernel, stride, dilation, padding, rounding.
//
// Shape rules and kernels share this arithmetic; oracles take the planned axes and find the taps themselves. Plain
// functions, thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/status.h"
#include "engine/tensor/shape.h"

namespace opkit {

/// The padding rule. The numbers match the AutoPad enums in the operators' schemas.
enum class AutoPad : uint8_t { NotSet = 0, SameUpper = 1, SameLower = 2, Valid = 3 };

/// "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID" (and "" for NOTSET); InvalidArgument for anything else.
Result<AutoPad> parseAutoPad(const std::string& text);
/// The inverse.
const char* nameOf(AutoPad rule);

/// The window parameters of a model. Empty vectors mean strides 1, dilations 1, pads 0.
struct WindowSpec {
  std::vector<int64_t> kernel;
  std::vector<int64_t> strides;
  std::vector<int64_t> pads;  // every begin, then every end; ignored unless autoPad is NotSet
  std::vector<int64_t> dilations;
  AutoPad autoPad = AutoPad::NotSet;
  /// Round the number of windows up; a window that would start in the end padding is dropped. Only with NotSet.
  bool ceilMode = false;
};

/// A half-open range of kernel taps or output positions.
struct TapRange {
  int64_t begin;
  int64_t end;
  int64_t count() const { return end - begin; }
};

/// One spatial axis, planned.
struct WindowAxis {
  int64_t input;
  int64_t output;
  int64_t kernel;
  int64_t stride;
  int64_t dilation;
  int64_t padBegin;
  int64_t padEnd;

  /// Input position of tap `k` of output `o`; outside [0, input) in the padding.
  int64_t position(int64_t o, int64_t k) const { return o * stride - padBegin + k * dilation; }
  /// The taps of output `o` that read the input.
  TapRange tapsInside(int64_t o) const;
  /// The taps of output `o` that read the input or its declared padding.
  TapRange tapsPadded(int64_t o) const;
  /// The outputs for which tap `k` reads the input.
  TapRange outputsInside(int64_t k) const;
};

/// Plans every spatial axis of `input`. InvalidArgument if a length does not match the number of axes, a value is out
/// of range, or the padded input is smaller than the kernel.
Result<std::vector<WindowAxis>> planWindow(const WindowSpec& spec, const Shape& input);

/// Prepends axes of extent 1 up to `rank` axes (1-D and 2-D windows become 3-D).
std::vector<WindowAxis> padWindowRank(std::vector<WindowAxis> axes, size_t rank);

/// Fills the arrays of a kernel's push constants: inputs, outputs, kernel, stride, dilation, padBegin and, if present,
/// padEnd. REQUIRES as many axes as the arrays have elements.
template <class Push>
void packWindow(const std::vector<WindowAxis>& axes, Push& push) {
  for (size_t d = 0; d < axes.size(); ++d) {
    push.inputs[d] = axes[d].input;
    push.outputs[d] = axes[d].output;
    push.kernel[d] = axes[d].kernel;
    push.stride[d] = axes[d].stride;
    push.dilation[d] = axes[d].dilation;
    push.padBegin[d] = axes[d].padBegin;
    if constexpr (requires { push.padEnd; }) push.padEnd[d] = axes[d].padEnd;
  }
}

}  // namespace opkit
