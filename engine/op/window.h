// Window: the spatial axes of convolution and pooling: kernel, stride, dilation, padding, rounding.
//
// Shape rules, oracles and kernels share this arithmetic, so they cannot disagree. Plain functions, thread-safe.
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

/// Walks windows over planes of three axes, as oracles and plain CPU kernels do; REQUIRES axes of padWindowRank(.., 3).
struct WindowWalk {
  std::vector<WindowAxis> axes;

  int64_t inputSize() const { return axes[0].input * axes[1].input * axes[2].input; }
  int64_t outputSize() const { return axes[0].output * axes[1].output * axes[2].output; }

  /// Calls visit(input offset within the plane) for each tap of output (d, h, w) that reads the input.
  template <class Visit>
  void forEachTap(int64_t d, int64_t h, int64_t w, Visit&& visit) const {
    const TapRange deep = axes[0].tapsInside(d), high = axes[1].tapsInside(h), wide = axes[2].tapsInside(w);
    for (int64_t i = deep.begin; i < deep.end; ++i)
      for (int64_t j = high.begin; j < high.end; ++j)
        for (int64_t k = wide.begin; k < wide.end; ++k)
          visit((axes[0].position(d, i) * axes[1].input + axes[1].position(h, j)) * axes[2].input +
                axes[2].position(w, k));
  }

  /// Calls visit(output index, plane offset in the input, d, h, w) for every output of planes [first, last).
  template <class Visit>
  void forEachOutput(int64_t first, int64_t last, Visit&& visit) const {
    auto output = static_cast<size_t>(first * outputSize());
    for (int64_t plane = first; plane < last; ++plane)
      for (int64_t d = 0; d < axes[0].output; ++d)
        for (int64_t h = 0; h < axes[1].output; ++h)
          for (int64_t w = 0; w < axes[2].output; ++w) visit(output++, plane * inputSize(), d, h, w);
  }
};

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
