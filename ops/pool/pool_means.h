// Means of windows, for the CPU kernels of AveragePool.
#pragma once

#include "engine/op/window_walk.h"

namespace opkit::ops::pool {

/// The divisor of the mean of output (d, h, w); 1 for a window of padding alone, whose mean is 0.
int64_t meanDivisor(const WindowWalk& walk, int64_t d, int64_t h, int64_t w, bool countPadding);
/// Recomputes in double those means of planes [first, last) that are not finite: the float sum may have overflowed
/// although the mean does not. `x` and `y` are whole tensors.
void repairMeans(const WindowWalk& walk, int64_t first, int64_t last, bool countPadding, const float* x, float* y);

}  // namespace opkit::ops::pool
