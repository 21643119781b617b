// Vectors of random numbers in f32: the fast part of the CPU's kernels.
#pragma once

#include <cstdint>

#include "ops/random/fill.h"

namespace opkit::ops::random {

/// Writes `count` numbers from number 4 * firstBlock of the stream on. Thread-safe.
using FillRun = void (*)(const Fill& fill, int64_t firstBlock, int64_t count, float* y);

/// The loop for uniform or normal numbers on this processor.
FillRun fillRunOf(bool isNormal);

}  // namespace opkit::ops::random
