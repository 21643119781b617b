// A hash of every shader of this build; caches on disk use it to distinguish builds.
#pragma once

namespace opkit::vulkan {

extern const char* const kShaderHash;

}  // namespace opkit::vulkan
