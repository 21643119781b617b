#include "ops/pool/pool_means.h"

#include <cmath>
#include <limits>

namespace opkit::ops::pool {
namespace {

bool areFinite(const float* y, int64_t count) {
  int found = 0;
  for (int64_t i = 0; i < count; ++i) found |= !(std::fabs(y[i]) <= std::numeric_limits<float>::max());
  return found == 0;
}

}  // namespace

int64_t meanDivisor(const WindowWalk& walk, int64_t d, int64_t h, int64_t w, bool countPadding) {
  const auto taps = [countPadding](const WindowAxis& axis, int64_t o) {
    return countPadding ? axis.tapsPadded(o).count() : axis.tapsInside(o).count();
  };
  return std::max<int64_t>(taps(walk.axes[0], d) * taps(walk.axes[1], h) * taps(walk.axes[2], w), 1);
}

void repairMeans(const WindowWalk& walk, int64_t first, int64_t last, bool countPadding, const float* x, float* y) {
  const int64_t outputs = walk.axes[0].output * walk.axes[1].output * walk.axes[2].output;
  if (areFinite(y + first * outputs, (last - first) * outputs)) return;
  walk.forEachOutput(first, last, [&](size_t output, int64_t plane, int64_t d, int64_t h, int64_t w) {
    if (std::isfinite(y[output])) return;
    double sum = 0;
    walk.forEachTap(d, h, w, [&](int64_t offset) { sum += x[plane + offset]; });
    y[output] = static_cast<float>(sum / static_cast<double>(meanDivisor(walk, d, h, w, countPadding)));
  });
}

}  // namespace opkit::ops::pool
