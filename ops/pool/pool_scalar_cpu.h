// Pooling on the CPU without vectors: three spatial axes, indices, and types other than f32. For windows of one and two
// axes of f32, pool_cpu.cpp is faster.
#pragma once

#include "engine/backend/creator.h"

namespace opkit::ops::pool {

/// MaxPool of f32, f64, i8 and u8, with indices on request.
Creator scalarMaxPool();
/// AveragePool of f32 and f64; sums in double.
Creator scalarAveragePool();

}  // namespace opkit::ops::pool
