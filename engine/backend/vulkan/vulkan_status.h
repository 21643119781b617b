// VkResult to Status, for messages and for the right code (OutOfMemory, DeviceLost).
#pragma once

#include <volk.h>

#include "engine/base/status.h"

namespace opkit::vulkan {

/// OK for VK_SUCCESS; else "vulkan: <what>: VK_ERROR_...".
Status toStatus(VkResult result, const char* what);

}  // namespace opkit::vulkan

/// Returns from the enclosing function when a Vulkan call fails; `what` describes the attempted action.
#define OPKIT_VK(call, what) OPKIT_TRY(::opkit::vulkan::toStatus((call), (what)))
