// Capability mask: hides features and lowers limits of a device, so that one machine can show whether kernels would run
// on a small GPU.
#pragma once

#include "engine/backend/vulkan/physical_device.h"

namespace opkit::vulkan {

/// Applies "no-fp16,subgroup=4,shared=16k,workgroup=128" to the properties that a driver reports. Features are fp16,
/// fp64, int8, int16, int64, storage8, storage16, byte-dots (products of four bytes as one instruction) and
/// image-robustness; limits (with k and m for KiB and MiB) are subgroup (invocations), shared (bytes of work group
/// memory), workgroup (invocations), groups (along each axis), buffer (bytes of one storage buffer), texels (of one
/// texel buffer), image (texels along each axis) and loops (iterations of one invocation). A limit is only ever
/// lowered. InvalidArgument names the item and lists the known ones.
Status applyMask(const std::string& mask, PhysicalDevice& device);

/// One mask per feature or limit, each low enough to affect some case of some operator.
std::vector<std::string> singleMasks();

}  // namespace opkit::vulkan
