// Capability mask: a device that pretends to lack what it has, so that one machine can ask whether kernels would run
// on a small GPU.
#pragma once

#include "engine/backend/vulkan/physical_device.h"

namespace opkit::vulkan {

/// Applies "no-fp16,subgroup=4,shared=16k,workgroup=128" to what was read from a driver. Features are fp16, fp64,
/// int8, int16, int64, storage8 and storage16; limits (with k and m for KiB and MiB) are subgroup (invocations), shared
/// (bytes of work group memory), workgroup (invocations), groups (along each axis), buffer (bytes of one storage
/// buffer), texels (of one texel buffer), image (texels along each axis) and loops (iterations of one invocation). A
/// limit is only ever lowered. InvalidArgument names the item and lists what is known.
Status applyMask(const std::string& mask, PhysicalDevice& device);

/// One mask per thing that can be taken away, each so low that some case of some operator notices.
std::vector<std::string> singleMasks();

}  // namespace opkit::vulkan
