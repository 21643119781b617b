// The windows of convolution and pooling, for oracles alone: every tap is looked at by itself, where kernels compute
// the range of taps on the input. The planned axes (engine/op/window.h) are taken as they are. Pure functions,
// thread-safe.
#pragma once

#include "engine/op/oracle_elements.h"
#include "engine/op/window.h"

namespace opkit {

/// Where tap `tap` of output `output` reads along an axis; in [-padBegin, input + padEnd) if it lies on the input or on
/// its declared padding.
inline int64_t tapPosition(const WindowAxis& axis, int64_t output, int64_t tap) {
  return tap * axis.dilation + output * axis.stride - axis.padBegin;
}

/// The window of one output of a plane.
struct OracleWindow {
  std::vector<size_t> elements;  // of the plane, in the order of the taps
  int64_t taps = 0;              // on the input or on its declared padding
};

/// The window of the output with coordinates `output`, one per axis.
inline OracleWindow windowOf(const std::vector<WindowAxis>& axes, std::span<const int64_t> output) {
  Shape kernel, plane;
  for (const WindowAxis& axis : axes) {
    kernel.push_back(axis.kernel);
    plane.push_back(axis.input);
  }
  OracleWindow window;
  forEachCoordinates(kernel, [&](size_t, Coordinates& at) {
    bool isInside = true, isPadded = true;
    for (size_t d = 0; d < axes.size(); ++d) {
      at[d] = tapPosition(axes[d], output[d], at[d]);
      isInside = isInside && at[d] >= 0 && at[d] < axes[d].input;
      isPadded = isPadded && at[d] < axes[d].input + axes[d].padEnd;
    }
    if (isInside) window.elements.push_back(elementAt(plane, at));
    window.taps += isPadded;
  });
  return window;
}

/// Calls body(i, plane, window) for each output i of `planes` planes; `plane` is the number of its first input element.
template <class Body>
void forEachWindow(int64_t planes, const std::vector<WindowAxis>& axes, Body&& body) {
  Shape outputs{planes};
  int64_t planeElements = 1;
  for (const WindowAxis& axis : axes) {
    outputs.push_back(axis.output);
    planeElements *= axis.input;
  }
  forEachCoordinates(outputs, [&](size_t i, const Coordinates& at) {
    body(i, static_cast<size_t>(at[0] * planeElements), windowOf(axes, std::span(at).subspan(1)));
  });
}

}  // namespace opkit
