// Probes of the processor: the rates that no kernel can exceed. Plain loops, compiled apart with all optimisations;
// they share no code with the kernels.
#pragma once

#include <cstddef>

#include "engine/tools/device_peaks.h"

namespace opkit::harness {

/// The best of several runs on `threads` threads at once: f32 multiply-adds in registers, and copies and sums of arrays
/// of growing size. Takes about a second.
DevicePeaks probeRoof(size_t threads);

}  // namespace opkit::harness
