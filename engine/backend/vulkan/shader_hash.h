// A hash of every shader of this build, by which caches on disk tell builds apart.
#pragma once

namespace opkit::vulkan {

extern const char* const kShaderHash;

}  // namespace opkit::vulkan
