// Running sums over whole rows on devices that read memory by the sector (shaders/loop/loop_running_sum_rows.comp).
#pragma once

#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/loop_region.h"

namespace opkit::vulkan {

/// Records the RunningSum `loop` of `x` into `y`. False if it is not one over the rows of a whole tensor, if the
/// device's class walks rows otherwise, or if the device shares too little memory: nothing was recorded then.
Result<bool> encodeRowSums(const LoopRegion& loop, const Tensor& x, const Tensor& y, Encoder& encoder);

}  // namespace opkit::vulkan
