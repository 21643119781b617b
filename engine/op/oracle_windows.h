// The windows of convolution and pooling, for oracles alone: every tap is looked at by itself, where kernels compute
// the range of taps on the input. The planned axes (engine/op/window.h) are taken as they are. Pure functions,
// thread-safe.
#pragma once

#include "engine/op/hidden.h"
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

/// The positions along an axis that some window reads.
inline std::vector<bool> positionsRead(const WindowAxis& axis) {
  std::vector<bool> read(static_cast<size_t>(axis.input));
  for (int64_t output = 0; output < axis.output; ++output)
    for (int64_t tap = 0; tap < axis.kernel; ++tap) {
      const int64_t at = tapPosition(axis, output, tap);
      if (at >= 0 && at < axis.input) read[static_cast<size_t>(at)] = true;
    }
  return read;
}

/// The elements of input 0, whose last axes are those of the windows, that no window reads: between windows whose
/// stride is longer than they are, and behind the last one.
inline HiddenElements hiddenBetweenWindows(const OracleArgs& args, const std::vector<WindowAxis>& axes) {
  HiddenElements hidden(args.inputs.size());
  std::vector<std::vector<bool>> read;
  for (const WindowAxis& axis : axes) read.push_back(positionsRead(axis));
  const Shape& shape = args.input(0).shape();
  hidden[0].resize(static_cast<size_t>(elementCount(shape)));
  forEachCoordinates(shape, [&](size_t i, const Coordinates& at) {
    for (size_t d = 0; d < read.size(); ++d)
      if (!read[d][static_cast<size_t>(at[shape.size() - read.size() + d])]) hidden[0][i] = true;
  });
  return hidden;
}

}  // namespace opkit
