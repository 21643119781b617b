// WindowWalk: the loops of plain CPU kernels over the windows of planes. Oracles walk by oracle_windows.h instead. A
// value; thread-safe.
#pragma once

#include "engine/op/window.h"

namespace opkit {

/// Walks windows over planes of three axes, as plain CPU kernels do; REQUIRES axes of padWindowRank(.., 3).
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

}  // namespace opkit
