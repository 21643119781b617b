// Pooling on the CPU tap by tap: indices, and types other than f32. Without indices pool_cpu.cpp pools f32 faster.
#pragma once

#include "engine/backend/creator.h"

namespace opkit::ops::pool {

/// MaxPool of f32, f64, i8 and u8, with indices on request.
Creator scalarMaxPool();
/// AveragePool of f64.
Creator scalarAveragePool();

}  // namespace opkit::ops::pool
