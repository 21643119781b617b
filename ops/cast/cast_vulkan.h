// Cast as a step of other operators' Vulkan kernels.
#pragma once

#include "engine/backend/vulkan/vulkan_execution.h"
#include "ops/cast/cast_parts.h"

namespace opkit::ops::cast {

/// y = x in the dtype of y, as Cast defines it. f64 where the device has it.
Status encodeCast(const Tensor& x, const Tensor& y, bool saturate, RoundMode roundMode, vulkan::Encoder& encoder);

/// The elements of a packed tensor in bytes of their own, in scratch memory: integers their value, f4e2m1 its code.
Result<const Tensor*> inBytes(const Tensor& packed, vulkan::Encoder& encoder);

}  // namespace opkit::ops::cast
