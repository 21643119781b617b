// The check of loop limits: on a device that ends the loops of an invocation after some passes (LoopLimit), every
// kernel that accepts a node runs its loops to their end.
#pragma once

#include "engine/backend/vulkan/vulkan_runtime.h"
#include "harness/check/op_model.h"
#include "harness/check/prepared.h"

namespace opkit::harness {

/// Finds the lowest limit under which the kernels of the case accept it, and runs the case on such a device: there, and
/// where kFewPasses are allowed, the loops must make as many passes as without the limit. A device without a limit of
/// its own cannot show this. Internal names the shader that was ended early: its kernel declares to
/// vulkan::requireLoops fewer passes than it makes, or none. Up to kFreePasses need no declaration. Unsupported if no
/// shader of the case has a loop, or if the device has no limit.
Status checkLoopLimits(const PreparedCase& at, const OpRegistry& registry,
                       const std::shared_ptr<vulkan::VulkanRuntime>& runtime);

}  // namespace opkit::harness
