// The Scatter of loop regions on the host, for HostLoop. Sequential: later iterations meet what earlier ones wrote.
#pragma once

#include "engine/backend/execution.h"
#include "engine/op/loop_region.h"
#include "engine/op/loops.h"

namespace opkit {

/// Unsupported for what is left to the oracle: sums and products of f16, which round once, and arithmetic on bool.
Status checkHostScatter(const LoopRegion& loop, DType dtype, const std::string& type);

/// `outer` holds the steps of the target, the operand and the indices, `box` the strides of the target and the operand.
/// InvalidArgument when an index is out of range; its iteration writes nothing.
Status scatterOnHost(const LoopRegion& loop, const Loops& outer, const Loops& box, TensorList inputs,
                     const Tensor& output, const std::string& type);

}  // namespace opkit
