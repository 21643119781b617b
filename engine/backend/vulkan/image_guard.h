// The guard of images (Layout::NC4HW4): columns and rows beyond the tensor, and components beyond the last channel.
// Harnesses only (BackendConfig::guardBytes).
#pragma once

#include "engine/backend/vulkan/command_pool.h"
#include "engine/backend/vulkan/vulkan_image.h"

namespace opkit {
class Backend;
}

namespace opkit::vulkan {

/// Internal if a kernel wrote a texel beyond the tensor, or left a component beyond the last channel that is not zero.
/// REQUIRES an image that holds values.
Status checkImageGuard(Backend& backend, const std::shared_ptr<Device>& device,
                       const std::shared_ptr<CommandPool>& pool, const VulkanImage& image);

}  // namespace opkit::vulkan
